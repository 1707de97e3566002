package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/cli"
	"anodyne.example/anodyne/internal/config"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/journal"
)

func runCheck(ctx context.Context, e cli.Env, args []string) error {
	var cfg config.Config
	fs := cli.Flags(e, "check", "check [flags]\n\nChecks the integrity of the database: the file itself (SQLite), the counters, every journal, its seal\nand this data directory's record of it, and that every patient's series, counts and alert state match the records.\nCan run while a server runs.")
	cfg.Store(fs)
	var expect config.List
	fs.Var(&expect, "expect-head", "`heads` that the journals must still contain, as ORGANIZATION:POSITION:HEX from \"audit seal\" log lines, separated by commas")
	repair := fs.Bool("repair", false, "rebuild series, counts and alert states that do not match the records, raise alerts that were missed, and re-derive medications that older nodes derived")
	if _, err := cli.Parse(e, fs, args, 0); err != nil {
		return err
	}
	heads, err := parseHeads(expect)
	if err != nil {
		return err
	}
	s, err := openStore(ctx, cfg)
	if err != nil {
		return err
	}
	if !s.System().Witnessed() {
		fmt.Fprintf(e.Stderr, "note: the data directory has no record of sealed heads, so seals are compared only with the database itself; give the directory of a node with --data-dir\n")
	}
	problems, err := check(ctx, e, s.System(), heads, *repair)
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	for _, p := range problems {
		fmt.Fprintln(e.Stdout, "problem:", p)
	}
	if len(problems) > 0 {
		return fmt.Errorf("%d problems found", len(problems))
	}
	fmt.Fprintln(e.Stdout, "ok")
	return nil
}

func check(ctx context.Context, e cli.Env, s store.System, heads map[string]journal.SealedHead, repair bool) ([]string, error) {
	problems, err := s.CheckTables(ctx)
	if err != nil {
		return nil, err
	}
	show := cli.Bar(e.Stderr)
	seals, err := s.VerifySeals(ctx, heads, func(org string, at, of journal.Pos) { show("journal of "+org, int64(at), int64(of)) })
	if err != nil {
		return nil, err
	}
	derived, rederived, err := s.CheckDerived(ctx, repair, func(org string, at, of int64) { show("medications of "+org, at, of) })
	if rederived > 0 {
		fmt.Fprintf(e.Stdout, "repaired: derived values of the medications of %d patients\n", rederived)
	}
	if err != nil {
		return nil, err
	}
	series, repaired, err := s.CheckSeries(ctx, repair, func(org string, at, of int64) { show("series of "+org, at, of) })
	if repaired.Years > 0 {
		fmt.Fprintf(e.Stdout, "repaired: %d patient-years of series\n", repaired.Years)
	}
	if repaired.Standings > 0 {
		fmt.Fprintf(e.Stdout, "repaired: alert state of %d patients\n", repaired.Standings)
	}
	if err != nil {
		return nil, err
	}
	counts, counted, err := s.CheckCounts(ctx, repair, func(org string, at, of int64) { show("records of "+org, at, of) })
	if counted > 0 {
		fmt.Fprintf(e.Stdout, "repaired: record counts of %d patients\n", counted)
	}
	return slices.Concat(problems, seals, derived, series, counts), err
}

// parseHeads parses the values of --expect-head.
func parseHeads(list []string) (map[string]journal.SealedHead, error) {
	heads := map[string]journal.SealedHead{}
	for _, text := range list {
		parts := strings.Split(text, ":")
		if len(parts) != 3 {
			return nil, fmt.Errorf("--expect-head: want ORGANIZATION:POSITION:HEX, not %q", text)
		}
		pos, posErr := strconv.ParseInt(parts[1], 10, 64)
		head, hexErr := hex.DecodeString(parts[2])
		if posErr != nil || hexErr != nil || len(head) != len(audit.Head{}) || pos < 1 {
			return nil, fmt.Errorf("--expect-head: want ORGANIZATION:POSITION:HEX, not %q", text)
		}
		heads[parts[0]] = journal.SealedHead{Pos: journal.Pos(pos), Head: audit.Head(head)}
	}
	return heads, nil
}
