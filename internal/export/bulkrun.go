package export

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/series"
	"anodyne.example/anodyne/internal/store/patients"
)

// BulkSource is the data of an organisation. It is implemented by store.Org.
type BulkSource interface {
	// BulkData reads patients with their records, in one snapshot.
	BulkData(ctx context.Context, to *patients.BulkReader) error
}

// RunBulk writes a FHIR bulk export: files of resources, one a line. It is as
// [Run] otherwise.
//
// One goroutine reads the snapshot, several map what was read to resources, and
// one writes them in the order in which they were read.
func RunBulk(ctx context.Context, from BulkSource, b Bulk, m fhir.Mapping, now time.Time, to Folder, seen func(done, of int64)) (Result, error) {
	filters, problem := parseTypeFilters(b.TypeFilters)
	if problem != "" {
		return Result{}, errors.New("stored type filters: " + problem)
	}
	group, ctx := errgroup.WithContext(ctx)
	workers := runtime.GOMAXPROCS(0)
	w := &bulkWriting{
		options: &b, mapping: m, filters: filters, ctx: ctx, files: newBulkFiles(to),
		work: make(chan *bulkBatch, workers), order: make(chan *bulkBatch, 2*workers),
	}
	for range workers {
		group.Go(w.mapAll)
	}
	group.Go(w.writeAll)
	group.Go(func() error {
		defer close(w.order)
		defer close(w.work)
		if err := from.BulkData(ctx, w.reader(seen)); err != nil {
			return err
		}
		w.endBundle()
		return w.send()
	})
	if err := group.Wait(); err != nil {
		return Result{}, err
	}
	return Result{AsOf: now.Add(-longestWrite).UTC().Truncate(time.Second), Files: w.files.described()}, nil
}

// longestWrite is how much earlier than its start the reported time of a bulk
// export is. A write has the time at which its request began, so one that is
// committed after the export was read can be older than the export; requests
// end before this. What was written in between is exported again with _since.
const longestWrite = 2 * time.Minute

// bulkItem is what resources are made from; one of the fields is set.
type bulkItem struct {
	patient *patients.FHIRPatient
	record  *patients.FHIRRecord
	chain   []patients.FHIRRecord
	group   *patients.Cohort
}

// bulkBatch is a number of items, and their resources once they are mapped.
type bulkBatch struct {
	items  []bulkItem
	size   int // of the items, in bytes
	lines  map[string]*bulkLines
	mapped chan struct{} // closed when lines is complete
}

// bulkLines are resources of one type.
type bulkLines struct {
	bytes []byte
	count int64
}

func newBatch() *bulkBatch {
	return &bulkBatch{items: make([]bulkItem, 0, recordsAtOnce), lines: map[string]*bulkLines{}, mapped: make(chan struct{})}
}

// add adds a line to a file.
func (b *bulkBatch) add(file string, line []byte) {
	l := b.lines[file]
	if l == nil {
		l = &bulkLines{bytes: make([]byte, 0, 64<<10)}
		b.lines[file] = l
	}
	l.bytes = append(append(l.bytes, line...), '\n')
	l.count++
}

// bulkWriting is a bulk export being written.
type bulkWriting struct {
	options *Bulk
	mapping fhir.Mapping
	filters typeFilters
	ctx     context.Context
	files   *bulkFiles
	// work has the batches to be mapped, and order the same ones in the order
	// in which they are written.
	work, order chan *bulkBatch
	batch       *bulkBatch
	gone        []patients.Gone
}

func (w *bulkWriting) wants(resourceType string) bool {
	return slices.Contains(w.options.Types, resourceType)
}

// reader returns what receives the data.
func (w *bulkWriting) reader(seen func(done, of int64)) *patients.BulkReader {
	o := w.options
	w.batch = newBatch()
	r := &patients.BulkReader{
		Cohort: o.Cohort, Patients: o.Patients,
		FHIRQuery: patients.FHIRQuery{Types: o.dataTypes(), InError: !o.Since.IsZero()},
		Patient: func(p *patients.FHIRPatient) error {
			if p.UpdatedAt.Before(o.Since) || !w.wants("Patient") && !w.wants("Condition") {
				return nil
			}
			copied := *p
			return w.put(bulkItem{patient: &copied}, len(p.MedicalHistory.JSON())+len(p.Kept))
		},
		Record: func(rec *patients.FHIRRecord) error {
			if rec.UpdatedAt.Before(o.Since) {
				return nil
			}
			copied := *rec
			return w.put(bulkItem{record: &copied}, len(rec.Value.JSON())+len(rec.Notes)+len(rec.Kept))
		},
		Chain: func(chain []patients.FHIRRecord) error {
			size := 0
			for i := range chain {
				size += len(chain[i].Value.JSON()) + len(chain[i].Kept)
			}
			return w.put(bulkItem{chain: chain}, size)
		},
		ChangedSince: o.Since,
		Seen:         seen,
	}
	if w.wants("Group") {
		r.Group = func(c *patients.Cohort) error {
			if c.CreatedAt.Before(o.Since) {
				return nil
			}
			copied := *c
			return w.put(bulkItem{group: &copied}, len(c.Kept)+len(c.Patients)*len(id.Patient{}.Bytes()))
		}
	}
	if w.wants("Patient") && !o.Since.IsZero() {
		r.GoneSince, r.Gone = o.Since, w.remove
	}
	if o.Filters != nil {
		filter := o.Filters.Filter()
		r.WithSeries = filter.NeedsSeries()
		r.Wants = func(p *pain.Patient, s *series.Series) bool {
			who := analytics.PatientOf(p)
			if !filter.Admits(&who) {
				return false
			}
			who.Series = s
			return !filter.NeedsSeries() || s != nil && filter.Selects(&who)
		}
	}
	return r
}

// put adds an item, which takes about so many bytes. It waits while the
// goroutines that map and write are behind.
func (w *bulkWriting) put(it bulkItem, size int) error {
	w.batch.items = append(w.batch.items, it)
	if w.batch.size += size; len(w.batch.items) < recordsAtOnce && w.batch.size < batchBytes {
		return nil
	}
	return w.send()
}

func (w *bulkWriting) send() error {
	for _, to := range []chan *bulkBatch{w.order, w.work} {
		select {
		case to <- w.batch:
		case <-w.ctx.Done():
			return context.Cause(w.ctx)
		}
	}
	w.batch = newBatch()
	return nil
}

// mapAll maps batches until there are no more.
func (w *bulkWriting) mapAll() error {
	for b := range w.work {
		for _, it := range b.items {
			w.mapItem(b, it)
		}
		b.items = nil
		close(b.mapped)
	}
	return nil
}

// writeAll writes the batches in order.
func (w *bulkWriting) writeAll() error {
	for b := range w.order {
		select {
		case <-b.mapped:
		case <-w.ctx.Done():
			return context.Cause(w.ctx)
		}
		for _, name := range slices.Concat(bulkTypes, []string{Deleted, errorFile}) {
			if lines := b.lines[name]; lines != nil {
				if err := w.files.write(name, lines); err != nil {
					return err
				}
			}
		}
	}
	return w.files.close()
}
