package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/cli"
	"anodyne.example/anodyne/internal/config"
	"anodyne.example/anodyne/internal/server"
)

func runServe(ctx context.Context, e cli.Env, args []string) error {
	var cfg config.Config
	fs := cli.Flags(e, "serve", "serve [flags]\n\nServes the API, the portal and the documentation. Creates the database if it does not exist, and migrates it to\nthis version. Ends on SIGINT or SIGTERM, after running requests have finished.")
	cfg.Serve(fs)
	printConfig := fs.Bool("print-config", false, "print the effective configuration, without secrets, and exit")
	if _, err := cli.Parse(e, fs, args, 0); err != nil {
		return err
	}
	cfg.Finish()
	if *printConfig {
		return config.Print(e.Stdout, fs)
	}
	if err := cfg.Validate(); err != nil {
		return err
	}
	log := cfg.Logger(e.Stderr)
	cfg.LogOutput = e.Stderr
	return serve(ctx, e, cfg, log, func(s *server.Server) error {
		log.Info("serving", "url", s.URL(), "admin", s.AdminURL(), "engine", s.Store().Engine(), "version", version)
		if cfg.TLSCert == "" && !cfg.Dev && !strings.HasPrefix(cfg.Listen, "127.") && !strings.HasPrefix(cfg.Listen, "localhost:") {
			log.Warn("serving without TLS beyond this machine; give --tls-cert and --tls-key, or use a TLS proxy")
		}
		if cfg.AdminListen != "" && !cfg.AdminIsLocal() && cfg.TLSCert == "" {
			log.Warn("the admin token is sent without TLS; give --tls-cert and --tls-key, or keep --admin-listen on loopback or a private network")
		}
		return offerFirstLink(ctx, e, s.FirstLink, log)
	})
}

// offerFirstLink prints how to create the first administrator, as long as
// there is none. The link gives control over the installation, so it is only
// printed to a terminal: output to a pipe or file ends up in a log.
func offerFirstLink(ctx context.Context, e cli.Env, first func(context.Context) (*server.FirstLink, error), log *slog.Logger) error {
	link, err := makeFirstLink(ctx, first, log)
	if err != nil || link == nil {
		return err
	}
	if cli.IsTerminal(e.Stdout) {
		_, err = fmt.Fprintf(e.Stdout, "\nThe portal has no members yet. Use this link within 24 hours to create the first administrator; it works once:\n\n  %s\n\n", link.URL)
		return err
	}
	path, err := link.Keep()
	if err != nil {
		log.Error("could not write the link for creating the first administrator; use: anodyne user create", "error", err)
		return nil
	}
	log.Info("the portal has no members yet; open the link in this file within 24 hours to create the first administrator", "file", path)
	return nil
}

// makeFirstLink creates the link and retries until it succeeds. The server is
// already serving, and a short database outage must not stop it.
func makeFirstLink(ctx context.Context, first func(context.Context) (*server.FirstLink, error), log *slog.Logger) (*server.FirstLink, error) {
	for wait := time.Second; ; wait = min(2*wait, time.Minute) {
		link, err := first(ctx)
		if err == nil {
			return link, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		log.Warn("could not check for members or create the link for the first one; trying again", "in", wait, "error", err)
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// serve starts a server, calls ready, and stops the server when the context
// ends.
func serve(ctx context.Context, e cli.Env, cfg config.Config, log *slog.Logger, ready func(*server.Server) error) error {
	defer boundGarbage(e, spareBytes)()
	cfg.Version = version
	s, err := server.Start(ctx, cfg, log)
	if err != nil && errors.Is(err, ctx.Err()) {
		return nil // stopped while waiting for its database
	}
	if err != nil {
		return err
	}
	err = ready(s)
	if err == nil {
		<-ctx.Done()
	}
	if errors.Is(err, ctx.Err()) {
		err = nil // stopped during startup, which is a normal stop
	}
	if stopErr := s.Stop(); stopErr != nil {
		return fmt.Errorf("stop: %w", stopErr)
	}
	return err
}
