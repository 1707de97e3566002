package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/cli"
	"anodyne.example/anodyne/internal/config"
	"anodyne.example/anodyne/internal/export"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/reports"
	"anodyne.example/anodyne/internal/strictjson"
)

const exportSynopsis = `export DIR [flags]

Writes the data of an organisation to a new directory: patients, one table for
each type of clinical data, summaries, a data dictionary and a manifest with
checksums. The data is one consistent snapshot; servers can keep running and
writing.

The directory appears under its name when it is complete. If the command is
killed, running it again removes what it left. The files contain patient data, and
only their owner can read them. With --deidentify, names, contacts, identifiers,
dates and free text are left out; see docs/guides/get-your-data-out.md.`

func runExport(ctx context.Context, e cli.Env, args []string) error {
	var cfg config.Config
	fs := cli.Flags(e, "export", exportSynopsis)
	cfg.Store(fs)
	org := fs.String("organization", "default", "`name` of the organisation, which must exist")
	format := fs.String("format", string(reports.Parquet), "parquet, ndjson or csv")
	var include config.List
	fs.Var(&include, "include", "`parts`: patients, clinical_data, summaries or a data type, separated by commas (default: all)")
	since := fs.String("since", "", "leave out records stored before this `time`, such as 2026-01-15 or 2026-01-15T10:30:00Z")
	filters := fs.String("filters", "", "include only some patients: a `JSON` object with the filters of the analytics, such as {\"age_min\":18}")
	deidentify := fs.Bool("deidentify", false, "de-identify the data")
	words, err := cli.Parse(e, fs, args, 1)
	if err != nil {
		return err
	}
	options, err := exportOptions(*format, include, *since, *filters, *deidentify, time.Now())
	if err != nil {
		return err
	}
	defer boundGarbage(e, exportSpareBytes)()
	dir, err := export.NewDirectory(words[0])
	if err != nil {
		return err
	}
	defer dir.Discard()
	if dir.Abandoned > 0 {
		fmt.Fprintf(e.Stderr, "removed files that %d interrupted exports to %s had left\n", dir.Abandoned, words[0])
	}
	s, err := openStore(ctx, cfg)
	if err != nil {
		return err
	}
	made, err := exportTo(ctx, s, dir, *org, options, cli.Bar(e.Stderr))
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	printExport(e.Stdout, words[0], made)
	return nil
}

// exportOptions checks the flags by the rules of the API, whose body they form.
func exportOptions(format string, include []string, since, filters string, deidentify bool, now time.Time) (export.Options, error) {
	body := map[string]any{"format": format, "deidentify": deidentify}
	if len(include) > 0 {
		body["include"] = include
	}
	if since != "" {
		body["since"] = since
	}
	if filters != "" {
		if !json.Valid([]byte(filters)) {
			return export.Options{}, errors.New(`--filters: want a JSON object such as {"age_min":18,"gender":"female"}`)
		}
		body["filters"] = json.RawMessage(filters)
	}
	text, err := json.Marshal(body)
	if err != nil {
		return export.Options{}, err
	}
	object, err := strictjson.Parse(text)
	if err != nil {
		return export.Options{}, err
	}
	return export.Read(object, now)
}

// exportTo writes an export to a directory. The audit log has it before the
// first byte is written.
func exportTo(ctx context.Context, s *store.Store, dir *export.Directory, org string, o export.Options, show func(step string, done, total int64)) (export.Result, error) {
	view, err := s.System().Organization(ctx, org)
	if fault.Is(err, fault.NotFound) {
		return export.Result{}, fmt.Errorf("organisation %q does not exist; anodyne client list shows the organisations", org)
	}
	if err != nil {
		return export.Result{}, err
	}
	now := time.Now()
	q, err := o.Request()
	if err != nil {
		return export.Result{}, err
	}
	noted := reports.Export{ExportRequest: q}
	line := audit.Entry{At: now, Actor: audit.Operator, Action: audit.ExportDownload, Resource: "", Details: noted.Details()}
	if err := view.NoteExport(ctx, journal.Change{Audit: line}); err != nil {
		return export.Result{}, err
	}
	made, err := export.Run(ctx, view, o, s.System().PseudonymKey(view.No()), now, dir, func(done, of int64) { show("patients", done, of) })
	if err != nil {
		return made, err
	}
	if err := view.MarkExport(ctx, made.AsOf, made.Head); err != nil {
		return made, err
	}
	return made, dir.Finish(org, &o, made)
}

// printExport prints what was written.
func printExport(w io.Writer, dir string, made export.Result) {
	size := int64(0)
	for _, f := range made.Files {
		size += f.Size
		fmt.Fprintf(w, "  %-28s %12s rows %15s bytes\n", f.Name, cli.Thousands(f.Rows), cli.Thousands(f.Size))
	}
	fmt.Fprintf(w, "wrote %s: %d files, %s bytes, as of %s\n", dir, len(made.Files), cli.Thousands(size), made.AsOf.Format(time.RFC3339))
}
