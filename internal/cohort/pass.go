package cohort

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/store"
)

// job answers a query from all chunks of an organisation, which are read one
// by one, in any order.
type job[C any] interface {
	// part starts a share of the work for one goroutine.
	part() part[C]
	// wants reports whether the job needs the chunk with an index.
	wants(index int) bool
}

// part receives chunks with their index, and is then closed.
type part[C any] interface {
	add(index int, c C)
	close()
}

// stream answers a query about an organisation that does not fit into memory:
// it is read chunk by chunk, each as of a time after the call. newJob is
// called if no other caller is asking the same, by key.
func stream[C chunked, J job[C]](ctx context.Context, cs *Cohorts, org store.Org, k *kind[C], key string, bytes int64, newJob func() J) (answer J, err error) {
	answered, err := cs.gate.ask(ctx, demand{
		place: place{org.No(), k.name}, key: key, bytes: bytes, job: func() any { return newJob() },
		read: func(ctx context.Context, jobs []any) error {
			typed := make([]job[C], len(jobs))
			for i, j := range jobs {
				typed[i] = j.(job[C])
			}
			return readAll(ctx, cs.scans, org, k, typed)
		},
	})
	if err != nil {
		return answer, err
	}
	return answered.(J), nil
}

// readAll reads all patients once and passes them to all jobs.
func readAll[C chunked](ctx context.Context, s *scans, org store.Org, k *kind[C], jobs []job[C]) error {
	_, patients, err := org.Head(ctx)
	if err != nil {
		return err
	}
	chunks := (patients + k.size - 1) / k.size
	var next atomic.Int64
	work, ctx := errgroup.WithContext(ctx)
	read := func() error {
		parts := make([]part[C], len(jobs))
		for i, j := range jobs {
			parts[i] = j.part()
		}
		for i := next.Add(1) - 1; i < chunks; i = next.Add(1) - 1 {
			if !slices.ContainsFunc(jobs, func(j job[C]) bool { return j.wants(int(i)) }) {
				continue
			}
			first := i*k.size + 1
			if err := s.give(ctx, func() (func(), error) {
				c, err := k.once(ctx, org, first, min(first+k.size-1, patients))
				return func() {
					for at, p := range parts {
						if jobs[at].wants(int(i)) {
							p.add(int(i), c)
						}
					}
				}, err
			}); err != nil {
				return err
			}
		}
		for _, p := range parts {
			p.close()
		}
		return nil
	}
	for range min(int64(cap(s.reading)), chunks) {
		work.Go(func() error { return contained(read) })
	}
	return work.Wait()
}

// give reads when a reader is free, and counts what was read when a CPU is
// free.
func (s *scans) give(ctx context.Context, read func() (count func(), err error)) error {
	var count func()
	if err := within(ctx, s.reading, func() (err error) {
		count, err = read()
		return err
	}); err != nil {
		return err
	}
	return within(ctx, s.processors, func() error {
		count()
		return nil
	})
}

// counting is a measure as a job.
type counting[T tally[T]] struct {
	params   *analytics.Params
	newTally func(*analytics.Params) T
	only     func(index int) bool // nil for all
	mu       sync.Mutex
	whole    T
}

type countingPart[T tally[T]] struct {
	of     *counting[T]
	filter analytics.Filter
	tally  T
}

func (c *counting[T]) wants(index int) bool { return c.only == nil || c.only(index) }

func (c *counting[T]) part() part[*panel] {
	return &countingPart[T]{c, c.params.Scope(), c.newTally(c.params)}
}

func (p *countingPart[T]) add(_ int, read *panel) { read.addTo(&p.filter, p.tally) }

func (p *countingPart[T]) close() {
	p.tally.Close()
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	p.of.whole.Merge(p.tally)
}

// streamMeasure counts the patients of an organisation that does not fit into
// memory.
func streamMeasure[T tally[T]](ctx context.Context, cs *Cohorts, org store.Org, measure string, p *analytics.Params, newTally func(*analytics.Params) T) (whole T, err error) {
	return streamSome(ctx, cs, org, charts, measure, p, newTally, "", nil)
}

// streamSome is streamMeasure for some panels, which key identifies.
func streamSome[T tally[T]](ctx context.Context, cs *Cohorts, org store.Org, k *kind[*panel], measure string, p *analytics.Params, newTally func(*analytics.Params) T, key string, only func(index int) bool) (whole T, err error) {
	q, err := newQuestion(org.No(), measure, p)
	if err != nil {
		return whole, err
	}
	bytes := int64(cap(cs.scans.reading)+1) * newTally(p).Bytes()
	counted, err := stream(ctx, cs, org, k, q.measure+" "+q.params+key, bytes, func() *counting[T] {
		return &counting[T]{params: p, newTally: newTally, only: only, whole: newTally(p)}
	})
	if err != nil {
		return whole, err
	}
	// There may be several callers: each gets its own tally.
	whole = newTally(p)
	whole.Merge(counted.whole)
	return whole, nil
}
