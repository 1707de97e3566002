package cohort

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/journal"
)

// sliced is the kind of the read model that has some slices of an organisation.
const sliced = "slices"

// holding is the part of an organisation's series that this node has in memory:
// slices of consecutive patients. All slices reflect the same position of the
// journal. It differs from a model in that it holds what there is room for.
type holding struct {
	patients int64 // in a full slice
	// turn is held while refreshing; started counts the refreshes started.
	turn    chan struct{}
	started atomic.Int64
	taken   atomic.Int64
	loads   func()
	// room reports whether this many more bytes are available, and counts
	// them; a negative number gives bytes back.
	room func(bytes int64) bool
	// always is the constant fewChanges, or a value set by a test.
	always int64
	// held is called with the number of slices added or removed; count is that
	// number in total.
	held  func(change int)
	count atomic.Int64

	// The following fields are guarded by turn. ended is the number of the last
	// completed refresh.
	ended int64
	// slices have the panels of each slice, whose patients are numbered from 1.
	// They are immutable.
	slices map[int][]*panel
	pos    journal.Pos
}

func newHolding(patients int64) *holding {
	h := &holding{
		patients: patients, turn: make(chan struct{}, 1), slices: map[int][]*panel{}, always: fewChanges,
		loads: func() {}, room: func(int64) bool { return true }, held: func(int) {},
	}
	h.taken.Store(modelBytes)
	return h
}

func (h *holding) bytes() int64 { return h.taken.Load() }

// fresh returns those of the wanted slices for which there is room, with
// everything that was acknowledged before the call, and the position that they
// reflect. Slices that are neither wanted nor kept are dropped.
func (h *holding) fresh(ctx context.Context, org store.Org, wanted []int, keep func(slice int) bool) (map[int][]*panel, journal.Pos, error) {
	arrived := h.started.Load()
	if err := enter(ctx, h.turn); err != nil {
		return nil, 0, err
	}
	defer func() { <-h.turn }()
	if h.ended > arrived && h.hasAll(wanted) {
		return maps.Clone(h.slices), h.pos, nil
	}
	number := h.started.Add(1)
	err := contained(func() error { return h.refresh(ctx, org, wanted, keep) })
	h.taken.Store(h.size())
	h.held(len(h.slices) - int(h.count.Swap(int64(len(h.slices)))))
	if err != nil {
		return nil, 0, err
	}
	h.ended = number
	return maps.Clone(h.slices), h.pos, nil
}

// evicted is called when the holding is not used any more.
func (h *holding) evicted() { h.held(-int(h.count.Swap(0))) }

func (h *holding) has(slice int) bool {
	_, ok := h.slices[slice]
	return ok
}

func (h *holding) hasAll(wanted []int) bool {
	return !slices.ContainsFunc(wanted, func(slice int) bool { return !h.has(slice) })
}

func (h *holding) size() int64 {
	total := int64(modelBytes)
	for _, panels := range h.slices {
		total += panelBytes(panels)
	}
	return total
}

// panelBytes returns the memory used by the panels of a slice.
func panelBytes(panels []*panel) int64 { return sizeOf(panels) - modelBytes }

// refresh applies the changes to what is held, and then loads what is missing. If
// the changes are unknown or too many, it loads everything again.
func (h *holding) refresh(ctx context.Context, org store.Org, wanted []int, keep func(slice int) bool) error {
	h.drop(func(slice int) bool { return !slices.Contains(wanted, slice) && !keep(slice) })
	everything := func(int) bool { return true }
	current, err := h.catchUp(ctx, org, h.always+int64(len(h.slices))*h.patients/changedOneIn)
	if err != nil {
		return err
	}
	if !current {
		h.drop(everything)
	}
	before := len(h.slices)
	if err := h.load(ctx, org, wanted); err != nil || current && len(h.slices) == before {
		return err
	}
	// However many changes there were while loading, loading again would not help.
	ok, err := h.catchUp(ctx, org, math.MaxInt64)
	if err == nil && !ok {
		h.drop(everything)
		err = errors.New("the patients of an organisation do not match its journal")
	}
	return err
}

// drop removes slices.
func (h *holding) drop(which func(slice int) bool) {
	maps.DeleteFunc(h.slices, func(slice int, panels []*panel) bool {
		if !which(slice) {
			return false
		}
		h.room(-panelBytes(panels))
		return true
	})
}

// load reads the wanted slices that are not held, as long as there is room.
// Slices that were read are kept, even if the caller leaves.
func (h *holding) load(ctx context.Context, org store.Org, wanted []int) error {
	if h.hasAll(wanted) {
		return nil
	}
	pos, patients, err := org.Head(ctx)
	if err != nil {
		return err
	}
	if len(h.slices) == 0 { // otherwise the older position is also right for what is read now
		h.loads()
		h.pos = pos
	}
	for _, slice := range wanted {
		if h.has(slice) {
			continue
		}
		// Do not read a slice just to find out that it does not fit.
		usual := h.size() / int64(max(len(h.slices), 1))
		fits := h.room(usual)
		if h.room(-usual); !fits {
			return nil
		}
		panels, err := h.read(ctx, org, slice, patients)
		if errors.Is(err, errNoRoom) {
			return nil
		}
		if err != nil {
			return err
		}
		h.slices[slice] = panels
	}
	return nil
}

// read reads a slice, of which there are patients up to a number.
func (h *holding) read(ctx context.Context, org store.Org, slice int, patients int64) ([]*panel, error) {
	before := int64(slice) * h.patients
	count := min(max(patients-before, 0), h.patients)
	panels := make([]*panel, (count+panelSize-1)/panelSize)
	var taken atomic.Int64
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(readers())
	for i := range panels {
		first := before + int64(i)*panelSize + 1
		readOne := func() error {
			read, err := readPanel(ctx, org, first, min(first+panelSize-1, before+count))
			if err != nil {
				return err
			}
			taken.Add(read.bytes())
			if !h.room(read.bytes()) {
				return errNoRoom
			}
			panels[i] = read
			return nil
		}
		work.Go(func() error { return contained(readOne) })
	}
	err := work.Wait()
	if err != nil {
		h.room(-taken.Load())
	}
	return panels, err
}

// catchUp applies the changes after the position, unless there are more than
// most or they do not match. A slice that outgrows the memory is dropped.
func (h *holding) catchUp(ctx context.Context, org store.Org, most int64) (ok bool, err error) {
	if len(h.slices) == 0 {
		return true, nil
	}
	changed, at, ok, err := changedMembers(ctx, org, h.pos, most)
	if err != nil || !ok || at < h.pos {
		return false, err
	}
	bySlice := map[int][]member{}
	for _, m := range changed {
		if slice := int((m.no - 1) / h.patients); h.has(slice) {
			m.no -= int64(slice) * h.patients
			bySlice[slice] = append(bySlice[slice], m)
		}
	}
	next := maps.Clone(h.slices)
	for slice, members := range bySlice {
		if next[slice], ok = withChanges(h.slices[slice], members, panelSize, func() *panel { return &panel{} }); !ok {
			return false, nil
		}
	}
	for slice := range bySlice {
		before, after := panelBytes(h.slices[slice]), panelBytes(next[slice])
		if !h.room(after-before) && after > before {
			h.room(-after)
			delete(next, slice)
		}
	}
	h.slices, h.pos = next, at
	return true, nil
}
