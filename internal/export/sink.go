package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/reports"
)

// Items are passed to the goroutine of a table in batches. Those of patients
// are smaller, because they include charts.
const (
	recordsAtOnce = 256
	peopleAtOnce  = 32
	// batchBytes ends a batch of large records or charts early.
	batchBytes = 1 << 20
	// recordBytes is about how much memory a record takes besides its value.
	recordBytes = 256
	// batchesAhead is how many batches may wait for a table.
	batchesAhead = 2
)

// rowWriter writes the rows of a table in a format.
type rowWriter interface {
	write(cells []pain.Cell) error
	close() error
}

// newRowWriter returns a writer for a format.
func newRowWriter(f reports.ExportFormat, w io.Writer, name string, columns []pain.Column) (rowWriter, error) {
	switch f {
	case reports.Parquet:
		return newParquetWriter(w, name, columns), nil
	case reports.NDJSON:
		return newNDJSONWriter(w, columns), nil
	case reports.ExportCSV:
		return newCSVWriter(w, columns)
	}
	return nil, fmt.Errorf("there is no format %q", f)
}

// sink writes one table. put is called by the goroutine that reads the data,
// everything else happens in the goroutine of the table.
type sink struct {
	table   *table
	columns []outlet
	file    reports.ExportFile // once it is complete

	batches chan []item
	batch   []item
	most    int
	bytes   int
	ended   bool
}

// start creates the file of a table and starts its goroutine.
func (w *writing) start(to Folder, t *table, key []byte, most int) (*sink, error) {
	s := &sink{table: t, columns: outlets(t.columns, key), most: most, batches: make(chan []item, batchesAhead)}
	s.file.Name = t.name + "." + string(w.options.Format)
	file, err := to.Create(s.file.Name)
	if err != nil {
		return nil, err
	}
	w.sinks = append(w.sinks, s)
	w.group.Go(func() error {
		out := newCounted(file)
		var scratch func() (*os.File, error)
		if w.options.Deidentify {
			scratch = to.Scratch
		}
		rows, err := s.writeAll(w.options.Format, out, scratch)
		if err = errors.Join(err, file.Close()); err != nil {
			return fmt.Errorf("%s: %w", s.file.Name, err)
		}
		s.file = out.described(s.file.Name, t.name, rows)
		return nil
	})
	return s, nil
}

// put adds an item. It waits while the table is behind.
func (s *sink) put(ctx context.Context, it item) error {
	s.batch = append(s.batch, it)
	if it.rec != nil {
		s.bytes += len(it.rec.Value.JSON()) + len(it.rec.Notes)
	} else {
		s.bytes += it.who.bytes
	}
	if len(s.batch) < s.most && s.bytes < batchBytes {
		return nil
	}
	return s.send(ctx)
}

func (s *sink) send(ctx context.Context) error {
	select {
	case s.batches <- s.batch:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	s.batch, s.bytes = make([]item, 0, s.most), 0
	return nil
}

// last passes on the rest and ends the table.
func (s *sink) last(ctx context.Context) {
	if !s.ended {
		s.ended = true
		_ = s.send(ctx) // fails only if the export has failed
		close(s.batches)
	}
}

// writeAll writes the rows of all batches. scratch creates a temporary file; if
// it is nil, rows are written in the order in which they were put.
func (s *sink) writeAll(f reports.ExportFormat, out io.Writer, scratch func() (*os.File, error)) (rows int64, err error) {
	columns := make([]pain.Column, len(s.columns))
	for i := range s.columns {
		columns[i] = s.columns[i].Column
	}
	w, err := newRowWriter(f, out, s.table.name, columns)
	if err != nil {
		return 0, err
	}
	put, end := func(_ *subject, cells []pain.Cell) error { return w.write(cells) }, w.close
	if scratch != nil {
		mixed := &shuffled{to: w, columns: columns, rows: newShuffle(scratch)}
		defer func() { _ = mixed.rows.close() }() // if it fails before its end
		put, end = mixed.write, mixed.close
	}
	var row, converted []pain.Cell
	for batch := range s.batches {
		for _, it := range batch {
			if err := s.table.rows(it, row[:0], func(cells []pain.Cell) error {
				row, converted = cells, converted[:0]
				for i := range s.columns {
					c := cells[s.columns[i].from]
					if convert := s.columns[i].convert; convert != nil {
						c = convert(c, it.who)
					}
					converted = append(converted, c)
				}
				rows++
				return put(it.who, converted)
			}); err != nil {
				return rows, err
			}
		}
	}
	return rows, end()
}
