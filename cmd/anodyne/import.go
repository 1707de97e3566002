package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"anodyne.example/anodyne/internal/cli"
	"anodyne.example/anodyne/internal/config"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/importer"
	"anodyne.example/anodyne/internal/store"
)

const importSynopsis = `import FILE [FILE ...] [flags]

Imports patients and clinical data into an organisation from CSV files with a
header, from files with one JSON object per line, or from FHIR R4 Bundles and
files with one FHIR resource per line. The rules of the API apply.
Columns are matched by name; use --map for the others. Rejected lines are
written to FILE.errors.csv or FILE.errors.ndjson, with the reason.

Running an import again, even after it was killed, imports only what is missing.
Can run while a server runs. docs/import.md describes the columns.`

func runImport(ctx context.Context, e cli.Env, args []string) error {
	var cfg config.Config
	fs := cli.Flags(e, "import", importSynopsis)
	cfg.Store(fs)
	cfg.FHIR(fs)
	org := fs.String("organization", "default", "`name` of the organisation, which must exist")
	kind := fs.String("kind", "", "patients or clinical (default: detected from the column names)")
	var list config.List
	fs.Func("map", "`column=field`, ... for columns that are not recognised by name; column= skips a column", func(text string) error {
		var more config.List
		err := more.Set(text)
		list = append(list, more...)
		return err
	})
	dataType := fs.String("data-type", "", "data `type` of clinical lines without one, such as pain_scores")
	refused := fs.String("errors", "", "`file` for rejected lines (default: FILE.errors.csv or FILE.errors.ndjson)")
	dryRun := fs.Bool("dry-run", false, "check every line without changing anything")
	files, err := cli.Parse(e, fs, args, cli.OneOrMore)
	if err != nil {
		return err
	}
	renames, err := importer.ParseRenames(list)
	if err != nil {
		return fmt.Errorf("--map: %w", err)
	}
	if *kind != "" && *kind != string(importer.Patients) && *kind != string(importer.Clinical) {
		return fmt.Errorf("--kind: want patients or clinical, not %q", *kind)
	}
	mapping, err := cfg.Mapping()
	if err != nil {
		return err
	}
	defer boundGarbage(e, bulkSpareBytes)()
	s, err := openStore(ctx, cfg)
	if err != nil {
		return err
	}
	view, err := s.System().Organization(ctx, *org)
	if fault.Is(err, fault.NotFound) {
		err = fmt.Errorf("organisation %q does not exist; create it with anodyne client create --organization", *org)
	}
	if err != nil {
		return errors.Join(err, s.Close())
	}
	show := cli.Bar(e.Stderr)
	return importFiles(ctx, e, s, *dryRun, importer.Config{
		Org: view, Files: files, Kind: importer.Kind(*kind), Renames: renames, DataType: *dataType, Errors: *refused, DryRun: *dryRun, FHIR: mapping,
		Now: time.Now, Progress: func(file string, ahead bool, done, total int64) {
			what := "importing"
			if ahead {
				what = "reading"
			}
			show(what+" "+file+", bytes", done, total)
		},
	})
}

// importFiles runs the import and prints the result.
func importFiles(ctx context.Context, e cli.Env, s *store.Store, dryRun bool, cfg importer.Config) error {
	done, err := importer.Run(ctx, cfg)
	err = errors.Join(err, s.Close())
	count := int64(0)
	for _, sum := range done {
		printSummary(e.Stdout, sum, dryRun)
		count += sum.Refused
	}
	switch {
	case err != nil && len(done) > 0:
		return fmt.Errorf("the import did not finish; run the same command again to continue: %w", err)
	case err == nil && count > 0:
		if len(done) == 1 && done[0].Kind == importer.FHIR {
			return fmt.Errorf("%s rejected", plural(count, "resource was", "resources were"))
		}
		return fmt.Errorf("%s rejected", plural(count, "line was", "lines were"))
	}
	return err
}

func printSummary(w io.Writer, sum importer.Summary, dryRun bool) {
	seconds := max(sum.Elapsed.Seconds(), 0.001)
	what := plural(sum.Read, "line", "lines") + " of " + string(sum.Kind)
	switch sum.Kind {
	case importer.Clinical:
		what += " data"
	case importer.FHIR:
		what = plural(sum.Read, "FHIR resource", "FHIR resources")
	}
	fmt.Fprintf(w, "%s: %s read in %.1f s (%s a second)\n", sum.File, what, seconds, cli.Thousands(int64(float64(sum.Read)/seconds)))
	imported := "imported"
	if dryRun {
		imported = "to be imported"
	}
	fmt.Fprintf(w, "  %-15s %12s\n  %-15s %12s\n  %-15s %12s", imported, cli.Thousands(sum.Imported), "already present", cli.Thousands(sum.Already), "rejected", cli.Thousands(sum.Refused))
	if sum.Errors != "" {
		fmt.Fprintf(w, "  see %s", sum.Errors)
	}
	fmt.Fprintln(w)
	if sum.Kind == importer.FHIR {
		printTypes(w, sum.Types, imported)
	}
}

// printTypes prints the results of FHIR resources, by type.
func printTypes(w io.Writer, types []importer.TypeCount, imported string) {
	fmt.Fprintf(w, "\n  %-24s %14s %15s %10s %10s\n", "type", imported, "already present", "rejected", "left out")
	for _, t := range types {
		fmt.Fprintf(w, "  %-24s %14s %15s %10s %10s\n", t.Type, cli.Thousands(t.Imported), cli.Thousands(t.Already), cli.Thousands(t.Refused), cli.Thousands(t.LeftOut))
	}
}

func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return cli.Thousands(n) + " " + many
}
