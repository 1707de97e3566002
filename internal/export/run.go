package export

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"os"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/series"
	"anodyne.example/anodyne/internal/pain/summary"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/reports"
)

// Source is the data of an organisation. It is implemented by store.Org.
type Source interface {
	// ExportData reads patients with all their active records, in one snapshot.
	ExportData(ctx context.Context, to *patients.ExportReader) error
}

// Folder creates the files of an export. It is called one file at a time, and
// the files are written and closed concurrently.
type Folder interface {
	Create(name string) (io.WriteCloser, error)
	// Scratch returns a temporary file, as the function of this name does. It may
	// be called concurrently.
	Scratch() (*os.File, error)
}

// Result describes the files of an export.
type Result struct {
	// AsOf is the time of the data: every write acknowledged before it is
	// included. It is a whole second, so that an export since then leaves out
	// nothing of that second.
	AsOf time.Time
	// Head is how far the journal of the organisation went.
	Head  journal.Pos
	Files []reports.ExportFile
}

// Run writes an export. seen is called with the number of patients done and
// their total; key is the key of the organisation's pseudonyms.
func Run(ctx context.Context, from Source, o Options, key []byte, now time.Time, to Folder, seen func(done, of int64)) (Result, error) {
	o.asOf = now.UTC()
	if !o.Deidentify {
		key = nil
	}
	group, ctx := errgroup.WithContext(ctx)
	w := &writing{options: &o, group: group, ctx: ctx, types: map[pain.DataType]*sink{}}
	if err := w.open(to, key); err != nil {
		w.stop()
		return Result{}, errors.Join(err, group.Wait())
	}
	w.from = w.reader(seen)
	err := from.ExportData(ctx, w.from)
	if err == nil {
		err = w.finish()
	}
	w.stop()
	if failed := group.Wait(); failed != nil { // the cause, if it made the reader fail
		err = failed
	}
	if err != nil {
		return Result{}, err
	}
	result := Result{AsOf: o.asOf.Truncate(time.Second), Head: w.from.Head}
	for _, s := range w.sinks {
		result.Files = append(result.Files, s.file)
	}
	dictionary, err := writeDictionary(to, w.sinks)
	result.Files = append(result.Files, dictionary)
	return result, err
}

// writing is an export being written. The snapshot is read by one goroutine,
// and every table is written by another.
type writing struct {
	options *Options
	group   *errgroup.Group
	ctx     context.Context
	from    *patients.ExportReader
	sinks   []*sink
	people  []*sink // tables with rows of patients
	types   map[pain.DataType]*sink
	who     *subject
	charts  bool
	// clinical is set if the export may tell who has clinical data.
	clinical bool
}

func (w *writing) open(to Folder, key []byte) error {
	people, summaries, records := w.options.tables()
	w.charts, w.clinical = len(summaries) > 0, w.options.Scopes().Has(access.ClinicalDataRead)
	for _, t := range slices.Concat(people, summaries) {
		s, err := w.start(to, t, key, peopleAtOnce)
		if err != nil {
			return err
		}
		w.people = append(w.people, s)
	}
	for _, info := range pain.DataTypes() {
		if t := records[info.Type]; t != nil {
			s, err := w.start(to, t, key, recordsAtOnce)
			if err != nil {
				return err
			}
			w.types[info.Type] = s
		}
	}
	return nil
}

// reader returns what receives the data.
func (w *writing) reader(seen func(done, of int64)) *patients.ExportReader {
	filter := w.options.filter()
	return &patients.ExportReader{
		Since:      w.options.Since,
		WithSeries: w.charts || filter != nil && filter.NeedsSeries(),
		Wants: func(p *pain.Patient) bool {
			if filter == nil {
				return true
			}
			who := analytics.PatientOf(p)
			return filter.Admits(&who)
		},
		Patient: func(p *pain.Patient, s *series.Series) error {
			if err := w.finish(); err != nil {
				return err
			}
			if filter != nil && filter.NeedsSeries() {
				who := analytics.PatientOf(p)
				if who.Series = s; s == nil || !filter.Selects(&who) {
					return nil // its records are skipped
				}
			}
			w.who = &subject{patient: *p, series: s, bytes: len(p.MedicalHistory.JSON()), changed: w.from.NewPatient(p)}
			return nil
		},
		Record: w.record,
		Seen:   seen,
	}
}

func (w *writing) record(rec *pain.Record) error {
	who := w.who
	if who == nil {
		return nil
	}
	at := rec.RecordedAt.UnixMilli()
	if !who.begun {
		who.begun, who.first, who.firstDay = true, at, int64(math.Floor(float64(at)/millisecondsPerDay))
	}
	who.records++
	who.last = at
	if w.charts && slices.Contains(summary.RecordTypes, rec.Type) {
		charted := *rec
		charted.Notes = "" // summaries ignore them
		who.chart = append(who.chart, charted)
		who.bytes += len(rec.Value.JSON()) + recordBytes
	}
	if !w.from.NewRecord(rec) {
		return nil
	}
	// Who has newer records is clinical data.
	who.changed = who.changed || w.clinical
	if s := w.types[rec.Type]; s != nil {
		copied := *rec
		return s.put(w.ctx, item{who, &copied})
	}
	return nil
}

// finish writes the rows of the patient whose records have all been read.
func (w *writing) finish() error {
	who := w.who
	w.who = nil
	if who == nil || !who.changed {
		return nil
	}
	for _, s := range w.people {
		if err := s.put(w.ctx, item{who, nil}); err != nil {
			return err
		}
	}
	return nil
}

// stop ends the tables.
func (w *writing) stop() {
	for _, s := range w.sinks {
		s.last(w.ctx)
	}
}

// counted counts and sums what is written to a file.
type counted struct {
	w    io.WriteCloser
	size int64
	sum  hash.Hash
}

func newCounted(w io.WriteCloser) *counted { return &counted{w: w, sum: sha256.New()} }

// Write implements io.Writer.
func (c *counted) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.size += int64(n)
	c.sum.Write(p[:n])
	return n, err
}

// described returns the file with its size and sum.
func (c *counted) described(name, table string, rows int64) reports.ExportFile {
	return reports.ExportFile{Name: name, Table: table, Rows: rows, Size: c.size, SHA256: fmt.Sprintf("%x", c.sum.Sum(nil))}
}
