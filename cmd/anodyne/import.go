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

Brings patients and clinical data into an organisation, from CSV files with a
header or from files with one JSON object on each line, by the rules of the API.
Columns are matched by their names; --map settles the others. Lines that are
refused go to FILE.errors.csv or FILE.errors.ndjson, with what is wrong.

Running an import again, also after it was killed, imports only what is missing.
Works while a server runs. docs/import.md has the columns.`

func runImport(ctx context.Context, e cli.Env, args []string) error {
	var cfg config.Config
	fs := cli.Flags(e, "import", importSynopsis)
	cfg.Store(fs)
	org := fs.String("organization", "default", "`name` of the organisation, which must exist")
	kind := fs.String("kind", "", "patients or clinical; by default told from the names of the columns")
	var list config.List
	fs.Func("map", "`column=member`, ... for columns whose names do not say what they are; column= leaves one out", func(text string) error {
		var more config.List
		err := more.Set(text)
		list = append(list, more...)
		return err
	})
	dataType := fs.String("data-type", "", "data `type` of clinical lines that do not say theirs, such as pain_scores")
	refused := fs.String("errors", "", "`file` of the refused lines (default: FILE.errors.csv or FILE.errors.ndjson)")
	dryRun := fs.Bool("dry-run", false, "judge every line, and change nothing")
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
	s, err := openStore(ctx, cfg)
	if err != nil {
		return err
	}
	view, err := s.System().Organization(ctx, *org)
	if fault.Is(err, fault.NotFound) {
		err = fmt.Errorf("there is no organisation %q; anodyne client create --organization makes one", *org)
	}
	if err != nil {
		return errors.Join(err, s.Close())
	}
	show := cli.Bar(e.Stderr)
	return importFiles(ctx, e, s, *dryRun, importer.Config{
		Org: view, Files: files, Kind: importer.Kind(*kind), Renames: renames, DataType: *dataType, Errors: *refused, DryRun: *dryRun,
		Now: time.Now, Progress: func(file string, first bool, done, total int64) {
			what := "importing"
			if first {
				what = "reading"
			}
			show(what+" "+file+", bytes", done, total)
		},
	})
}

// importFiles runs the import and prints what became of it.
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
		return fmt.Errorf("the import did not come to its end; run the same command again to go on: %w", err)
	case err == nil && count > 0:
		return fmt.Errorf("%s refused", plural(count, "line was", "lines were"))
	}
	return err
}

func printSummary(w io.Writer, sum importer.Summary, dryRun bool) {
	seconds := max(sum.Elapsed.Seconds(), 0.001)
	kind := string(sum.Kind)
	if sum.Kind == importer.Clinical {
		kind += " data"
	}
	fmt.Fprintf(w, "%s: %s of %s read in %.1f s (%s a second)\n", sum.File, plural(sum.Read, "line", "lines"), kind, seconds, cli.Thousands(int64(float64(sum.Read)/seconds)))
	imported := "imported"
	if dryRun {
		imported = "to be imported"
	}
	fmt.Fprintf(w, "  %-15s %12s\n  %-15s %12s\n  %-15s %12s", imported, cli.Thousands(sum.Imported), "there already", cli.Thousands(sum.Already), "refused", cli.Thousands(sum.Refused))
	if sum.Errors != "" {
		fmt.Fprintf(w, "  see %s", sum.Errors)
	}
	fmt.Fprintln(w)
}

func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return cli.Thousands(n) + " " + many
}
