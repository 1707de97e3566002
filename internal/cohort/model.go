package cohort

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"anodyne.example/anodyne/internal/store"
)

// model is one organisation's read model of one kind, in chunks of patients
// with consecutive numbers. Chunks never change; a refresh replaces those in
// which something did.
type model[C chunked] struct {
	*kind[C]
	// turn is held by the one who refreshes; started counts the refreshes
	// that have begun.
	turn    chan struct{}
	started atomic.Int64
	// taken is the memory, in bytes.
	taken atomic.Int64
	// loads counts, for the metrics, how often the whole was read.
	loads func()
	// limit is how many bytes the chunks may take at most, and room reports
	// whether there is memory for so many more bytes now.
	limit int64
	room  func(bytes int64) bool
	// isTooLarge is told when the chunks take more than the limit.
	isTooLarge func()

	// What follows belongs to the holder of the turn. ended is the last
	// refresh that came to a result, by its count, and err that result.
	ended int64
	err   error
	// chunks is what the database had at pos of the journal, or later; until
	// it is loaded, those that are still to be read are not set, and toLoad is
	// the number of patients, or unknown.
	chunks []C
	pos    store.Pos
	loaded bool
	toLoad int64
	// tooLarge is set when the chunks alone take more than the limit.
	tooLarge bool
}

// errNoRoom says that the patients do not fit into memory: never, or not beside
// what is in use now.
var errNoRoom = errors.New("the patients of an organisation do not fit into memory")

// chunked is a chunk, a pointer that is nil until it is read.
type chunked interface {
	comparable
	len() int
	bytes() int64
}

// kind is what differs between the read models.
type kind[C chunked] struct {
	name string
	// size is the number of patients in a full chunk.
	size int64
	// read packs the patients with numbers first to last. A number without a
	// patient is kept as such.
	read func(ctx context.Context, org store.Org, first, last int64) (C, error)
	// once is read for a chunk that is looked at once and not kept.
	once func(ctx context.Context, org store.Org, first, last int64) (C, error)
	// follow gives the chunks after what changed since a position, and the
	// new position. It is not ok when that is more than most, or does not fit
	// the chunks.
	follow func(ctx context.Context, org store.Org, chunks []C, after store.Pos, most int64) (next []C, head store.Pos, ok bool, err error)
}

const unknown = -1

// modelBytes is about what a model takes besides its chunks, so that those of
// very many empty organisations count too.
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

// fresh gives the chunks with everything that was acknowledged before the
// call: by a refresh of its own, or by that of another caller if it started
// after this call did.
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
	err := m.refresh(ctx, org)
	m.taken.Store(sizeOf(m.chunks))
	if err == nil || ctx.Err() == nil { // that this caller left is no result for others
		m.ended, m.err = number, err
	}
	return m.chunks, err
}

// refresh takes up what changed, or loads everything when that is not known
// or too much.
func (m *model[C]) refresh(ctx context.Context, org store.Org) error {
	if m.tooLarge {
		return errNoRoom
	}
	if m.loaded {
		// Patients that changed are read one by one, which takes several
		// times as long as reading them in order.
		const always, oneIn = 8192, 32
		most := always + int64(len(m.chunks))*m.size/oneIn
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

// catchUp applies the changes after the position, unless they are more than
// most or do not follow what is here, as after a restored backup.
func (m *model[C]) catchUp(ctx context.Context, org store.Org, most int64) (ok bool, err error) {
	chunks, head, ok, err := m.follow(ctx, org, m.chunks, m.pos, most)
	if err != nil || !ok || head < m.pos {
		return false, err
	}
	size := sizeOf(chunks)
	if more := size - sizeOf(m.chunks); size > m.limit || more > 0 && !m.room(more) {
		return false, m.refuse(size)
	}
	m.chunks, m.pos = chunks, head
	return true, nil
}

// refuse lets go of patients that do not fit, at a size that they have at least.
func (m *model[C]) refuse(size int64) error {
	m.forget()
	if size > m.limit {
		m.tooLarge = true
		m.isTooLarge()
	}
	return errNoRoom
}

// load reads all patients, a chunk at a time so that no reader of the
// database is held for long. What changes meanwhile is left to catchUp, from
// the position that was the head before. When it is cut short, the next load
// goes on with it.
func (m *model[C]) load(ctx context.Context, org store.Org) error {
	if m.toLoad == unknown {
		pos, patients, err := org.Head(ctx)
		if err != nil {
			return err
		}
		m.loads()
		m.pos, m.toLoad, m.chunks = pos, patients, make([]C, (patients+m.size-1)/m.size)
	}
	var taken atomic.Int64
	taken.Store(sizeOf(m.chunks))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers())
	for i, c := range m.chunks {
		if !isNil(c) {
			continue
		}
		first := int64(i)*m.size + 1
		group.Go(func() error {
			read, err := m.read(ctx, org, first, min(first+m.size-1, m.toLoad))
			if err != nil {
				return err
			}
			if taken.Add(read.bytes()) > m.limit || !m.room(read.bytes()) {
				return errNoRoom
			}
			m.chunks[i] = read
			return nil
		})
	}
	err := group.Wait()
	if errors.Is(err, errNoRoom) {
		return m.refuse(taken.Load())
	}
	m.loaded = err == nil
	return err
}

// readers is how many chunks are read at once; the store has twice as many
// readers.
func readers() int { return min(4, runtime.GOMAXPROCS(0)) }

func isNil[C comparable](c C) bool {
	var none C
	return c == none
}

// sizeOf is the memory that a model with these chunks takes.
func sizeOf[C chunked](chunks []C) int64 {
	total := int64(modelBytes)
	for _, c := range chunks {
		if !isNil(c) {
			total += c.bytes()
		}
	}
	return total
}
