// Package importer imports patients and clinical data from CSV and NDJSON
// files, and from files with FHIR resources. It owns reading files, mapping columns to fields, and recognising
// lines that were already imported. internal/pain validates patients and
// records with the same functions that the API uses, and internal/store stores
// the mark of a line in the transaction that imports it.
//
// So an import that was interrupted at any time, even by kill -9, can simply
// be run again: existing lines are skipped, and nothing is imported twice.
package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
)

// Config describes an import.
type Config struct {
	Org   store.Org
	Files []string
	// Kind is the kind of data in the files. If empty, it is detected for each
	// file.
	Kind    Kind
	Renames []Rename
	// DataType is the data type of clinical lines that have none.
	DataType string
	// Errors is the file for rejected lines, if there is a single file to
	// import; by default it is created next to that file.
	Errors string
	// DryRun reads and validates everything but changes nothing.
	DryRun bool
	Now    func() time.Time
	// FHIR maps FHIR resources.
	FHIR fhir.Mapping
	// Progress, if set, is called with the number of bytes read. ahead is set while
	// the rest of a large file is searched for duplicate lines, and in the first
	// pass over FHIR resources, which imports patients.
	Progress func(file string, ahead bool, done, total int64)
}

// Summary is the result for a file.
type Summary struct {
	File string
	Kind Kind
	// Read lines were Imported, Already present, or Refused. FHIR resources that
	// are of no concern of this service are LeftOut.
	Read, Imported, Already, Refused, LeftOut int64
	// Types has the counts of FHIR resources by type.
	Types []TypeCount
	// Errors is the file of the rejected lines, if there are any.
	Errors  string
	Elapsed time.Duration
}

// file is one file to import.
type file struct {
	path string
	src  *source
	*mapping
}

// Run imports the files, patients first, and returns the result for each. All
// headers are checked before anything is imported. An error means that the
// import is incomplete and can be run again.
func Run(ctx context.Context, cfg Config) (done []Summary, err error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	resources, err := cfg.split()
	defer func() {
		for _, f := range resources {
			err = errors.Join(err, f.file.Close())
		}
	}()
	if err != nil {
		return nil, err
	}
	files, err := cfg.open()
	defer func() {
		for _, f := range files {
			err = errors.Join(err, f.src.file.Close())
		}
	}()
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(files, func(a, b file) int { return strings.Compare(string(b.kind), string(a.kind)) })
	if err := cfg.Org.ExpectImport(ctx); err != nil {
		return nil, err
	}
	people := newPeople(cfg.Org, cfg.DryRun)
	for _, f := range files {
		summary, err := cfg.run(ctx, f, people)
		done = append(done, summary)
		if err != nil {
			return done, fmt.Errorf("%s: %w", f.path, err)
		}
	}
	if len(resources) > 0 {
		summary, err := cfg.runFHIR(ctx, resources)
		return append(done, summary), err
	}
	return done, nil
}

// split opens the files with FHIR resources, and leaves the others in Files.
func (cfg *Config) split() (resources []*fhirFile, err error) {
	var others []string
	for _, path := range cfg.Files {
		f, err := openFHIR(path)
		switch {
		case err != nil || f == nil: // reported, or opened, as another file
			others = append(others, path)
		default:
			resources = append(resources, f)
		}
	}
	if len(resources) > 0 && (cfg.Kind != "" || cfg.DataType != "" || len(cfg.Renames) > 0) {
		return resources, fmt.Errorf("%s has FHIR resources; --kind, --map and --data-type are for other files", resources[0].path)
	}
	cfg.Files = others
	return resources, nil
}

func (cfg *Config) check() error {
	if cfg.DataType != "" {
		if _, err := pain.ParseDataType("data_type", cfg.DataType); err != nil {
			faults, _ := faultsOf(err)
			return errors.New(faults[0].Message)
		}
		if cfg.Kind == "" {
			cfg.Kind = Clinical
		}
	}
	if cfg.Errors != "" && len(cfg.Files) > 1 && !cfg.allFHIR() {
		return errors.New("--errors cannot be used with several files; import them one by one, or omit it")
	}
	return nil
}

// allFHIR reports whether all files have FHIR resources, which can share a file
// of errors.
func (cfg *Config) allFHIR() bool {
	return !slices.ContainsFunc(cfg.Files, func(path string) bool {
		f, err := openFHIR(path)
		if f != nil {
			err = errors.Join(err, f.file.Close())
		}
		return f == nil || err != nil
	})
}

// open opens the files, maps their columns, and lists everything that is
// wrong.
func (cfg *Config) open() (files []file, err error) {
	var errs []error
	used := make([]bool, len(cfg.Renames))
	for _, path := range cfg.Files {
		src, err := openSource(path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		f := file{path: path, src: src}
		files = append(files, f)
		if f.mapping, err = cfg.mapping(src, used); err != nil {
			for _, e := range joined(err) {
				errs = append(errs, fmt.Errorf("%s: %w", path, e))
			}
		}
		files[len(files)-1] = f
	}
	for i, r := range cfg.Renames {
		if !used[i] && len(errs) == 0 {
			errs = append(errs, fmt.Errorf("no file has the column %q", r.Column))
		}
	}
	return files, errors.Join(errs...)
}

// joined separates joined errors.
func joined(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}

func (cfg *Config) mapping(src *source, used []bool) (*mapping, error) {
	columns := src.header
	if !src.isCSV {
		first, err := src.rows.next()
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		_ = eachMember(first.text, func(name string, _ jsonValue) error { columns = append(columns, name); return nil })
	}
	kind := cfg.Kind
	if kind == "" {
		var ok bool
		if kind, ok = guess(columns, cfg.Renames); !ok {
			return nil, errors.New("cannot tell from the column names whether these are patients or clinical data; use --kind")
		}
	}
	if src.isCSV {
		return newMapping(kind, columns, cfg.Renames, used, cfg.DataType)
	}
	for i := range used {
		used[i] = true // the fields of later lines are unknown
	}
	return &mapping{kind: kind, renames: cfg.Renames, dataType: cfg.DataType}, nil
}

// entryOf maps a row, or returns what is wrong with it.
func (f *file) entryOf(r row) (entry, error) {
	if r.problem != "" {
		return entry{}, unreadable(r.problem)
	}
	if !f.src.isCSV {
		return f.object(r.text)
	}
	e, problem := f.entry(r.fields)
	if problem != "" {
		return e, unreadable(problem)
	}
	return e, nil
}
