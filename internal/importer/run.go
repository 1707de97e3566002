package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/giveway"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/patients"
)

type jsonValue = jsontext.Value

const (
	// chunkLines is the number of lines per chunk. A transaction stores one or
	// more.
	chunkLines = 250
	// chunkBytes is the size at which a chunk ends before it has chunkLines, and
	// joinedBytes that at which a transaction does, so that memory does not grow
	// with the length of the lines.
	chunkBytes  = 512 << 10
	joinedBytes = 16 << 20
	// progressLines is the number of lines between progress reports.
	progressLines = 200
)

func unreadable(problem string) error { return fault.New(fault.InvalidBody, problem) }

// errNoReference is a clinical line without a patient.
var errNoReference = fault.Parameter(patientID, nil, "patient_id, external_id or an identifier is required.")

// job is the import of one file.
type job struct {
	*Config
	file
	people  *people
	refused *refused
	repeats repeats
	line    int // being read
	sum     Summary
	chunks  chan chunk
}

// chunk is some lines, which are stored together.
type chunk interface {
	// join returns the chunk with the lines of another one of its kind.
	join(other chunk) chunk
	// keep stores the chunk and returns the number of new lines. It calls
	// refuse for lines that turned out to be invalid.
	keep(ctx context.Context, org store.Org, refuse func(row, error) error) (added int64, err error)
	// preview returns how many lines would be new.
	preview(ctx context.Context, org store.Org, refuse func(row, error) error) (added int64, err error)
	lines() int64
	// bytes returns the size of the lines.
	bytes() int
}

// run imports one file: another goroutine reads and validates, this one
// writes.
func (cfg *Config) run(ctx context.Context, f file, p *people) (sum Summary, err error) {
	start := time.Now()
	path := cfg.Errors
	if path == "" {
		path = f.path + ".errors.ndjson"
		if f.src.isCSV {
			path = f.path + ".errors.csv"
		}
	}
	j := &job{Config: cfg, file: f, people: p, refused: newRefused(path, f.path, f.src), repeats: repeats{counts: map[patients.ImportHash]uint32{}},
		sum: Summary{File: f.path, Kind: f.kind}, chunks: make(chan chunk, max(4, cfg.Org.ImportLines()/chunkLines))}
	defer func() {
		err = errors.Join(err, j.refused.close())
		sum = j.sum
		if sum.Refused = j.refused.count; sum.Refused > 0 {
			sum.Errors = path
		}
		sum.Elapsed = time.Since(start)
	}()
	reading, stop := context.WithCancel(ctx)
	j.repeats.lookAhead = func() error { return j.lookAhead(reading) }
	read := make(chan error, 1)
	go func() {
		defer close(j.chunks)
		read <- j.read(reading)
	}()
	writeErr := j.write(ctx)
	stop()
	for range j.chunks { // the reader may be blocked on one
	}
	if err := <-read; writeErr == nil {
		return sum, err
	}
	return sum, writeErr
}

// each calls fn for all rows of the file. It reports the progress of reading them,
// or of looking ahead.
func (j *job) each(ctx context.Context, src *source, ahead bool, fn func(row) error) error {
	if err := src.begin(); err != nil {
		return err
	}
	var points giveway.Points
	for n := 1; ; n++ {
		points.Point()
		r, err := src.rows.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := fn(r); err != nil {
			return err
		}
		if n%progressLines == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			j.progress(ahead, src.count.n)
		}
	}
	j.progress(ahead, src.size)
	return nil
}

func (j *job) progress(ahead bool, done int64) {
	if j.Progress != nil {
		j.Progress(j.path, ahead, done, j.src.size)
	}
}

// lookAhead notes the lines from the current one on.
func (j *job) lookAhead(ctx context.Context) error {
	j.repeats.expect(j.src.size)
	from := j.line
	src := &source{file: j.src.file}
	return j.each(ctx, src, true, func(r row) error {
		if r.line < from {
			return nil
		}
		if e, err := j.entryOf(r); err == nil {
			j.repeats.note(&e)
		}
		return nil
	})
}

// read validates the lines and groups them into chunks.
func (j *job) read(ctx context.Context) error {
	var b builder
	send := func(c chunk) error {
		select {
		case j.chunks <- c:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if j.kind == Patients {
		b = &patientBuilder{job: j, send: send}
	} else {
		aliases, err := j.people.org.Aliases(ctx)
		if err != nil {
			return err
		}
		b = newRecordBuilder(ctx, j, aliases, send)
	}
	err := j.each(ctx, j.src, false, func(r row) error {
		j.line = r.line
		j.sum.Read++
		e, err := j.entryOf(r)
		if err == nil {
			err = b.take(r, e)
		}
		return j.refuse(r, err)
	})
	return b.finish(err)
}

// builder validates lines and groups them into chunks.
type builder interface {
	take(row, entry) error
	// finish ends it: after the last line, or with the error that ended the
	// import.
	finish(error) error
}

// refuse records what is wrong with a line; any other error ends the import.
func (j *job) refuse(r row, err error) error {
	if err == nil {
		return nil
	}
	faults, ok := faultsOf(err)
	if !ok {
		return err
	}
	return j.refused.add(r, faults)
}

// tries is how often a chunk is attempted while the database is unavailable.
const tries = 5

// write stores the chunks in order, as many at a time as fit in a transaction.
func (j *job) write(ctx context.Context) error {
	for c := range j.chunks {
		c = gather(c, j.chunks, int64(j.Org.ImportLines()))
		added, err := j.keep(ctx, c)
		j.sum.Imported += added
		if err != nil {
			return err
		}
		j.sum.Already += c.lines() - added
	}
	return nil
}

// gather joins a chunk with those that follow, up to the bounds of a transaction.
func gather(c chunk, more <-chan chunk, lines int64) chunk {
	for c.lines() < lines && c.bytes() < joinedBytes {
		next, ok := <-more
		if !ok {
			break
		}
		c = c.join(next)
	}
	return c
}

func (j *job) keep(ctx context.Context, c chunk) (added int64, err error) {
	refuse := func(r row, err error) error {
		j.sum.Already-- // counted as rejected
		return j.refuse(r, err)
	}
	if j.DryRun {
		return c.preview(ctx, j.Org, refuse)
	}
	for try := 1; ; try++ {
		stored, err := c.keep(ctx, j.Org, refuse)
		added += stored // also of a failure: a chunk may take several transactions
		if !fault.Is(err, fault.Unavailable) || try == tries {
			return added, err
		}
		select { // a server may be blocking the database, or starting
		case <-time.After(time.Duration(try) * time.Second):
		case <-ctx.Done():
			return added, fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}
