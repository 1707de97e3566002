// Package importer brings patients and clinical data of CSV and NDJSON files
// into an organisation. It owns how files are read, how columns are matched to
// members, and how a line is known again; what a patient or a record may be is
// decided in internal/pain, by the same functions that the API calls, and
// internal/store keeps a line's mark in the transaction of what it brought in.
//
// So an import that was cut short at any moment, be it by kill -9, is run
// again as it was: what is there already is left out, nothing comes in twice.
package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
)

// Config says what to import.
type Config struct {
	Org   store.Org
	Files []string
	// Kind is what the files hold; when empty it is guessed for each.
	Kind    Kind
	Renames []Rename
	// DataType is that of clinical lines that do not say theirs.
	DataType string
	// Errors is the file of refused lines, when there is one file to import;
	// by default it stands beside the file.
	Errors string
	// DryRun reads and judges everything, and changes nothing.
	DryRun bool
	Now    func() time.Time
	// Progress, if set, is told of each reading how many bytes are done. The
	// first reading, which looks for lines that say the same, imports nothing.
	Progress func(file string, first bool, done, total int64)
}

// Summary is what became of a file.
type Summary struct {
	File string
	Kind Kind
	// Read lines were imported, were there Already, or were Refused.
	Read, Imported, Already, Refused int64
	// Errors is the file of the refused lines, when there are any.
	Errors  string
	Elapsed time.Duration
}

// file is one file to import.
type file struct {
	path string
	src  *source
	*mapping
}

// Run imports the files, those with patients first, and tells what became of
// each. Every header is judged before anything is imported. An error means
// that the import did not come to its end, and can be run again.
func Run(ctx context.Context, cfg Config) (done []Summary, err error) {
	if err := cfg.check(); err != nil {
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
	people := newPeople(cfg.Org, cfg.DryRun)
	for _, f := range files {
		summary, err := cfg.run(ctx, f, people)
		done = append(done, summary)
		if err != nil {
			return done, fmt.Errorf("%s: %w", f.path, err)
		}
	}
	return done, nil
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
	if cfg.Errors != "" && len(cfg.Files) > 1 {
		return errors.New("--errors cannot be used with several files; import them one by one, or omit it")
	}
	return nil
}

// open opens the files and maps their columns, and names everything that is
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
			for _, e := range split(err) {
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

// split takes joined errors apart.
func split(err error) []error {
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
		used[i] = true // which members a later line has is not known
	}
	return &mapping{kind: kind, renames: cfg.Renames, dataType: cfg.DataType}, nil
}

// entryOf maps a row, and says what is wrong when it cannot be mapped.
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
