package bench

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"anodyne.example/anodyne/internal/config"
	"anodyne.example/anodyne/internal/server"
)

// TestMain lets the test binary be the program that Run starts: the server
// and the floor.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != "serve" && os.Args[1] != FloorCommand {
		os.Exit(m.Run())
	}
	// Never cancelled: a baseline server ends by itself when its input is
	// closed, and the SIGTERM that follows must not look like a failure.
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var err error
	if os.Args[1] == "serve" {
		err = serve(ctx, os.Args[2:])
	} else {
		err = ServeFloor(ctx, os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serve is the part of "anodyne serve" that a measurement needs.
func serve(ctx context.Context, args []string) error {
	var cfg config.Config
	fs := flag.NewFlagSet("serve", flag.ContinueOnError)
	cfg.Serve(fs)
	if err := errors.Join(fs.Parse(args), config.FromEnvironment(fs, os.LookupEnv)); err != nil {
		return err
	}
	cfg.Finish()
	log := cfg.Logger(os.Stderr)
	s, err := server.Start(ctx, cfg, log)
	if err != nil {
		return err
	}
	log.Info("serving", "url", s.URL(), "admin", s.AdminURL())
	<-ctx.Done()
	return s.Stop()
}

// program is the test binary.
func program(tb testing.TB) string {
	tb.Helper()
	path, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	return path
}
