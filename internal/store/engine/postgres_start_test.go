package engine_test

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/storetest/pgcluster"
)

// firstLine is a log that calls a function with its first line.
type firstLine struct {
	slog.Handler
	once sync.Once
	call func(message string)
}

func (f *firstLine) Handle(_ context.Context, r slog.Record) error {
	f.once.Do(func() { f.call(r.Message) })
	return nil
}

func (f *firstLine) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// logging returns the configuration with a log that calls call.
func logging(cfg store.Config, call func(message string)) store.Config {
	cfg.Log = slog.New(&firstLine{Handler: slog.DiscardHandler, call: call})
	return cfg
}

// The store waits for a PostgreSQL that is not available yet, but not for one
// that rejects it.
func TestWaitForPostgres(t *testing.T) {
	t.Parallel()
	cluster := pgcluster.Start(t)
	cfg := storetest.Node(t, store.Config{Database: cluster.DSN(), Wait: time.Hour})
	silent := func(message string) { t.Errorf("it waits: %s", message) }

	for name, change := range map[string]func(*url.URL){
		"wrong password":   func(u *url.URL) { u.User = url.UserPassword("postgres", "wrong") },
		"unknown database": func(u *url.URL) { u.Path = "/nowhere" },
		"no TLS there":     func(u *url.URL) { u.RawQuery = "sslmode=require" },
	} {
		u, err := url.Parse(cluster.DSN())
		if err != nil {
			t.Fatal(err)
		}
		change(u)
		wrong := logging(cfg, silent)
		wrong.Database = u.String()
		if _, err := store.Migrate(t.Context(), wrong); err == nil {
			t.Errorf("%s: no error", name)
		}
	}

	cluster.Stop()
	hasty := logging(cfg, silent)
	hasty.Wait = 0
	if _, err := store.Migrate(t.Context(), hasty); !fault.Is(err, fault.Unavailable) {
		t.Errorf("without waiting: %v", err)
	}
	impatient := logging(cfg, func(string) {})
	impatient.Wait = time.Millisecond
	if _, err := store.Migrate(t.Context(), impatient); err == nil || !strings.Contains(err.Error(), "--database-wait") || strings.Contains(err.Error(), "password") {
		t.Errorf("after waiting: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := store.Migrate(ctx, logging(cfg, func(string) { cancel() })); !errors.Is(err, context.Canceled) {
		t.Errorf("told to stop: %v", err)
	}
	if _, err := store.Migrate(t.Context(), logging(cfg, func(string) { cluster.Restart() })); err != nil {
		t.Errorf("PostgreSQL came, and: %v", err)
	}
}
