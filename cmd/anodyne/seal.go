package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/cli"
	"anodyne.example/anodyne/internal/config"
	"anodyne.example/anodyne/internal/store/journal"
)

func runSeal(ctx context.Context, e cli.Env, args []string) error {
	return cli.Dispatch(ctx, e, "seal", args, sealCommands())
}

func sealCommands() []cli.Command {
	return []cli.Command{
		{Name: "accept", Summary: "accept audit logs that differ from the record of the nodes, after an intended restore", Run: sealAccept},
	}
}

func sealAccept(ctx context.Context, e cli.Env, args []string) error {
	var cfg config.Config
	fs := cli.Flags(e, "seal accept", "seal accept --reason TEXT [flags]\n\n"+
		"Accepts the audit logs as they are in the database, although they differ from the record of the nodes: for example,\n"+
		"after an older copy of the database was restored on purpose. First find out why they differ: anodyne check shows where.\n"+
		"The acceptance is signed with the audit key, recorded in each log, and applied by every running node within seconds.")
	cfg.Store(fs)
	a := journal.Accepting{Action: audit.SealAccept}
	fs.StringVar(&a.Reason, "reason", "", "reason `text` for the audit log (required)")
	org := fs.String("organization", "", "`name` of the organisation whose log is accepted (default: all)")
	fs.BoolVar(&a.Reseal, "reseal", false, "reseal a log from its start if it does not match its own seal")
	if _, err := cli.Parse(e, fs, args, 0); err != nil {
		return err
	}
	if a.Reason = strings.TrimSpace(a.Reason); a.Reason == "" {
		return errors.New("--reason: explain why the logs are correct; the reason is stored in them")
	}
	if *org != "" {
		a.Organizations = []string{*org}
	}
	cfg.Finish()
	sc, err := cfg.Opening(slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	s, err := openExisting(ctx, sc)
	if err != nil {
		return err
	}
	heads, err := s.System().AcceptSeals(ctx, a)
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	for _, h := range heads {
		if h.Org == 0 {
			fmt.Fprintf(e.Stdout, "accepted that the log of %s is missing\n", h.Name)
			continue
		}
		fmt.Fprintf(e.Stdout, "accepted the log of %s up to entry %d\n", h.Name, h.Pos)
	}
	return nil
}
