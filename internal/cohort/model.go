package cohort

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/journal"
)

// model is one organisation's read model of one kind, in chunks of patients
// with consecutive numbers. Chunks are immutable; a refresh replaces those
// that changed.
type model[C chunked] struct {
	*kind[C]
	// turn is held while refreshing; started counts the refreshes started.
	turn    chan struct{}
	started atomic.Int64
	// taken is the memory used, in bytes.
	taken atomic.Int64
	// loads counts complete loads, for the metrics.
	loads func()
	// limit is the maximum size of the chunks in bytes. room reports whether
	// this many more bytes are available now, and counts them; a negative number
	// gives bytes back.
	limit int64
	room  func(bytes int64) bool
	// isTooLarge is called if the chunks exceed the limit.
	isTooLarge func()
	// sampled ends a load early if the first chunks show that the rest would not
	// fit, because other nodes then have a part of it.
	sampled bool

	// The following fields are guarded by turn. ended is the number of the last
	// completed refresh, and err its result.
	ended int64
	err   error
	// chunks reflect the database at pos of the journal or later. While
	// loading, chunks not read yet are nil, and toLoad is the number of
	// patients or unknown.
	chunks []C
	pos    journal.Pos
	loaded bool
	toLoad int64
	// tooLarge is set if the chunks exceed the limit by themselves.
	tooLarge bool
}

// errNoRoom is returned if the patients do not fit into memory: never, or not
// in addition to what is in use now.
var errNoRoom = errors.New("the patients of an organisation do not fit into memory")

// chunked is a chunk: a pointer that is nil until it is read.
type chunked interface {
	comparable
	len() int
	bytes() int64
}

// kind holds the differences between read models.
type kind[C chunked] struct {
	name string
	// size is the number of patients in a full chunk.
	size int64
	// read packs the patients with numbers first to last. Numbers without a
	// patient are included as such.
	read func(ctx context.Context, org store.Org, first, last int64) (C, error)
	// once is read for a chunk that is used once and not kept.
	once func(ctx context.Context, org store.Org, first, last int64) (C, error)
	// follow returns the chunks with the changes since a position applied, and
	// the new position. It is not ok if there are more than most changes, or if
	// they do not match the chunks.
	follow func(ctx context.Context, org store.Org, chunks []C, after journal.Pos, most int64) (next []C, head journal.Pos, ok bool, err error)
}

const unknown = -1

// A model that has missed more changes than fewChanges, plus one in changedOneIn
// of its patients, is loaded again: changed patients are read one by one, which
// takes several times as long as reading them in order.
const (
	fewChanges   = 8192
	changedOneIn = 32
)

// modelBytes is the approximate size of a model without its chunks, so that
// many empty organisations count too.
const modelBytes = 1 << 10

func newModel[C chunked](k *kind[C], limit int64, loads func()) *model[C] {
	m := &model[C]{
		kind: k, turn: make(chan struct{}, 1), loads: loads, limit: limit, toLoad: unknown,
		room: func(int64) bool { return true }, isTooLarge: func() {},
	}
	m.taken.Store(modelBytes)
	return m
}

func (m *model[C]) bytes() int64 { return m.taken.Load() }

// fresh returns the chunks with everything that was acknowledged before the
// call, by its own refresh or by that of another caller that started after
// this call.
func (m *model[C]) fresh(ctx context.Context, org store.Org) ([]C, error) {
	arrived := m.started.Load()
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if m.ended > arrived && (m.loaded || m.err != nil) {
		return m.chunks, m.err
	}
	number := m.started.Add(1)
	err := contained(func() error { return m.refresh(ctx, org) })
	m.taken.Store(sizeOf(m.chunks))
	if err == nil || ctx.Err() == nil { // the cancellation of this caller is not a result for others
		m.ended, m.err = number, err
	}
	return m.chunks, err
}

// refresh applies the changes, or loads everything if they are unknown or too
// many.
func (m *model[C]) refresh(ctx context.Context, org store.Org) error {
	if m.tooLarge {
		return errNoRoom
	}
	if m.loaded {
		most := fewChanges + int64(len(m.chunks))*m.size/changedOneIn
		if ok, err := m.catchUp(ctx, org, most); ok || err != nil {
			return err
		}
		m.forget()
	}
	if err := m.load(ctx, org); err != nil {
		return err
	}
	ok, err := m.catchUp(ctx, org, math.MaxInt64)
	if err == nil && !ok {
		m.forget()
		err = errors.New("the patients of an organisation do not match its journal")
	}
	return err
}

// forget makes the next refresh load everything.
func (m *model[C]) forget() { m.chunks, m.loaded, m.toLoad = nil, false, unknown }

// catchUp applies the changes after the position, unless there are more than
// most or they do not match, as after restoring a backup.
func (m *model[C]) catchUp(ctx context.Context, org store.Org, most int64) (ok bool, err error) {
	chunks, head, ok, err := m.follow(ctx, org, m.chunks, m.pos, most)
	if err != nil || !ok || head < m.pos {
		return false, err
	}
	size := sizeOf(chunks)
	if more := size - sizeOf(m.chunks); size > m.limit || !m.room(more) && more > 0 {
		return false, m.refuse(size)
	}
	m.chunks, m.pos = chunks, head
	return true, nil
}

// refuse drops patients that do not fit. size is their minimum size.
func (m *model[C]) refuse(size int64) error {
	m.forget()
	if size > m.limit {
		m.tooLarge = true
		m.isTooLarge()
	}
	return errNoRoom
}

// load reads all patients, one chunk at a time, so that no database reader is
// held for long. Concurrent changes are applied by catchUp, from the position
// at the start. An interrupted load is resumed by the next.
func (m *model[C]) load(ctx context.Context, org store.Org) error {
	if m.toLoad == unknown {
		pos, patients, err := org.Head(ctx)
		if err != nil {
			return err
		}
		m.loads()
		m.pos, m.toLoad, m.chunks = pos, patients, make([]C, (patients+m.size-1)/m.size)
	}
	// Both include what an interrupted load has read.
	var taken, count atomic.Int64
	taken.Store(sizeOf(m.chunks))
	count.Store(present(m.chunks))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers())
	for i, c := range m.chunks {
		if !isNil(c) {
			continue
		}
		first := int64(i)*m.size + 1
		read := func() error {
			c, err := m.read(ctx, org, first, min(first+m.size-1, m.toLoad))
			if err != nil {
				return err
			}
			if size := taken.Add(c.bytes()); size > m.limit || !m.room(c.bytes()) || m.sampled && m.exceeds(size, count.Add(1)) {
				return errNoRoom
			}
			m.chunks[i] = c
			return nil
		}
		group.Go(func() error { return contained(read) })
	}
	err := group.Wait()
	if errors.Is(err, errNoRoom) {
		size := taken.Load()
		if m.sampled && m.exceeds(size, count.Load()) {
			size = math.MaxInt64
		}
		return m.refuse(size)
	}
	m.loaded = err == nil
	return err
}

// exceeds reports whether all chunks would take a quarter more than the limit, if
// they are like the first ones. Early patients may have more data than later
// ones.
func (m *model[C]) exceeds(size, chunks int64) bool {
	const enough = 64
	return chunks >= enough && size/chunks*int64(len(m.chunks)) > m.limit+m.limit/4
}

// readers is the number of chunks read in parallel; the store has twice as
// many readers.
func readers() int { return min(4, runtime.GOMAXPROCS(0)) }

func isNil[C comparable](c C) bool {
	var none C
	return c == none
}

// present returns the number of chunks that have been read.
func present[C chunked](chunks []C) (count int64) {
	for _, c := range chunks {
		if !isNil(c) {
			count++
		}
	}
	return count
}

// sizeOf returns the memory used by a model with these chunks.
func sizeOf[C chunked](chunks []C) int64 {
	total := int64(modelBytes)
	for _, c := range chunks {
		if !isNil(c) {
			total += c.bytes()
		}
	}
	return total
}
