package cohort

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"anodyne/internal/pain"
	"anodyne/internal/store"
)

// cohort is one organisation's read model.
type cohort struct {
	// turn is held by the one who refreshes; started counts the refreshes
	// that have begun.
	turn    chan struct{}
	started atomic.Int64
	// size is the memory taken, in bytes.
	size atomic.Int64
	// loads counts, for the metrics, how often the whole was read.
	loads func()

	// What follows belongs to the holder of the turn. ended is the last
	// refresh that came to a result, by its count, and err that result.
	ended int64
	err   error
	// patients is what the database had at pos of the journal, or later;
	// until it is loaded, chunks that are still to be read are nil, and
	// toLoad is the number of patients, or unknown.
	patients roster
	pos      store.Pos
	loaded   bool
	toLoad   int64
}

const unknown = -1

// cohortBytes is about what an organisation takes besides its patients, so
// that very many empty ones count too.
const cohortBytes = 1 << 10

func newCohort(loads func()) *cohort {
	c := &cohort{turn: make(chan struct{}, 1), loads: loads, toLoad: unknown}
	c.size.Store(cohortBytes)
	return c
}

// fresh gives the patients with everything that was acknowledged before the
// call: by a refresh of its own, or by that of another caller if it started
// after this call did.
func (c *cohort) fresh(ctx context.Context, org store.Org) (roster, error) {
	arrived := c.started.Load()
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if c.ended > arrived && (c.loaded || c.err != nil) {
		return c.patients, c.err
	}
	number := c.started.Add(1)
	err := c.refresh(ctx, org)
	c.size.Store(cohortBytes + c.patients.bytes())
	if err == nil || ctx.Err() == nil { // that this caller left is no result for others
		c.ended, c.err = number, err
	}
	return c.patients, err
}

// refresh takes up what changed, or loads everything when that is not known
// or too much.
func (c *cohort) refresh(ctx context.Context, org store.Org) error {
	if c.loaded {
		// Patients that changed are read one by one, which takes several
		// times as long as reading them in order.
		const always, oneIn = 8192, 32
		most := int64(always + len(c.patients)*chunkSize/oneIn)
		if ok, err := c.follow(ctx, org, most); ok || err != nil {
			return err
		}
		c.forget()
	}
	if err := c.load(ctx, org); err != nil {
		return err
	}
	ok, err := c.follow(ctx, org, math.MaxInt64)
	if err == nil && !ok {
		c.forget()
		err = errors.New("the patients of an organisation do not agree with its journal")
	}
	return err
}

// forget makes the next refresh load everything.
func (c *cohort) forget() { c.patients, c.loaded, c.toLoad = nil, false, unknown }

// follow applies the changes after the position, unless they are more than
// most or do not follow what is here, as after a restored backup.
func (c *cohort) follow(ctx context.Context, org store.Org, most int64) (ok bool, err error) {
	var changed []patient
	head, complete, err := org.ChangedPatients(ctx, c.pos, most, func(item store.PatientItem) {
		changed = append(changed, patient{item.No, keyOf(item.ID), pain.Fold(string(item.Name))})
	})
	if err != nil || !complete || head < c.pos {
		return false, err
	}
	patients, ok := c.patients.with(changed)
	if ok {
		c.patients, c.pos = patients, head
	}
	return ok, nil
}

// load reads all patients, a chunk at a time so that no reader of the
// database is held for long. What changes meanwhile is left to follow, from
// the position that was the head before. When it is cut short, the next load
// goes on with it.
func (c *cohort) load(ctx context.Context, org store.Org) error {
	if c.toLoad == unknown {
		pos, patients, err := org.Head(ctx)
		if err != nil {
			return err
		}
		c.loads()
		c.pos, c.toLoad, c.patients = pos, patients, make(roster, (patients+chunkSize-1)/chunkSize)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(min(4, runtime.GOMAXPROCS(0))) // the store has twice as many readers
	for i := range c.patients {
		if c.patients[i] != nil {
			continue
		}
		first := int64(i)*chunkSize + 1
		group.Go(func() (err error) {
			c.patients[i], err = readChunk(ctx, org, first, min(first+chunkSize-1, c.toLoad))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	c.loaded = true
	return nil
}

// readChunk packs the patients with numbers first to last. A number without a
// patient is kept as such.
func readChunk(ctx context.Context, org store.Org, first, last int64) (*chunk, error) {
	read := newChunk(last - first + 1)
	fillTo := func(no int64) {
		for first+int64(read.len()) < no {
			read.add(key{}, "")
		}
	}
	if err := org.PatientRange(ctx, first, last, func(item store.PatientItem) {
		fillTo(item.No)
		read.add(keyOf(item.ID), pain.Fold(string(item.Name)))
	}); err != nil {
		return nil, err
	}
	fillTo(last + 1)
	return read.fit(), nil
}
