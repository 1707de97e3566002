package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/cli"
	"anodyne.example/anodyne/internal/config"
	"anodyne.example/anodyne/internal/server"
)

// A server that is stopped right after its start stops as it would later.
func TestStopRightAfterTheStartIsNoFailure(t *testing.T) {
	e := cli.Env{Stdout: io.Discard, Stderr: io.Discard, Lookup: func(string) (string, bool) { return "", false }}
	cfg := config.Config{Database: "sqlite:" + filepath.Join(t.TempDir(), "anodyne.db"), Listen: "127.0.0.1:0", ShutdownTimeout: time.Minute, CohortMemory: 1 << 20, ReportRetention: time.Hour}
	cfg.Finish()
	log := slog.New(slog.DiscardHandler)

	ctx, stop := context.WithCancel(context.Background())
	if err := serve(ctx, e, cfg, log, func(s *server.Server) error {
		stop()
		return offerFirstLink(ctx, e, s.FirstLink, log)
	}); err != nil {
		t.Errorf("a stop is told as %v", err)
	}
	broken := errors.New("broken")
	if err := serve(context.Background(), e, cfg, log, func(*server.Server) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("a failure is told as %v", err)
	}
}
