package cohort

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"sort"
	"sync"
)

// nameOrder is the slots of a chunk in order of their names. It is sorted when
// it is first needed.
type nameOrder struct {
	once  sync.Once
	slots []uint16
}

// byName returns the slots in order of their names.
func (c *chunk) byName() []uint16 {
	c.order.once.Do(func() {
		c.order.slots = make([]uint16, c.len())
		for i := range c.order.slots {
			c.order.slots[i] = uint16(i)
		}
		c.sortByName(c.order.slots)
	})
	return c.order.slots
}

// sortByName sorts slots. It compares the beginnings of names as numbers,
// because the names themselves are all over the memory.
func (c *chunk) sortByName(list []uint16) {
	type begun struct {
		with uint64
		slot uint16
	}
	names := make([]begun, len(list))
	for i, slot := range list {
		var first [8]byte
		copy(first[:], c.name(int(slot)))
		names[i] = begun{binary.BigEndian.Uint64(first[:]), slot}
	}
	slices.SortFunc(names, func(a, b begun) int {
		if a.with != b.with {
			return cmp.Compare(a.with, b.with)
		}
		return cmp.Or(bytes.Compare(c.name(int(a.slot)), c.name(int(b.slot))), cmp.Compare(a.slot, b.slot))
	})
	for i := range names {
		list[i] = names[i].slot
	}
}

// run is the matching slots of a chunk in order of their names. Patients of
// different runs are compared by name, and then by number.
type run struct {
	*chunk
	first int64 // the number of slot 0
	slots []uint16
}

// inOrder returns the slots of a set in order of their names.
func (c *chunk) inOrder(found *slots) []uint16 {
	const few = chunkSize / 32 // below this, sorting them takes less time
	list := make([]uint16, 0, found.count())
	if cap(list) < few {
		list = found.append(list)
		c.sortByName(list)
		return list
	}
	for _, slot := range c.byName() {
		if found.has(slot) {
			list = append(list, slot)
		}
	}
	return list
}

func (r *run) number(i int) int64 { return r.first + int64(r.slots[i]) }

// before reports whether patient i of r comes before patient j of other.
func (r *run) before(i int, other *run, j int) bool {
	order := bytes.Compare(r.name(int(r.slots[i])), other.name(int(other.slots[j])))
	return order < 0 || order == 0 && r.number(i) < other.number(j)
}

// pageByName is list in order of names.
func (r roster) pageByName(m *matcher, q Query) ([]int64, int64) {
	var runs []run
	total := int64(0)
	for i, c := range r {
		one := run{chunk: c, first: int64(i)*chunkSize + 1}
		if m.allOf(c) && c.span.count == int64(c.len()) {
			one.slots = c.byName()
		} else {
			var found slots
			m.find(c, &found)
			one.slots = c.inOrder(&found)
		}
		if len(one.slots) > 0 {
			runs, total = append(runs, one), total+int64(len(one.slots))
		}
	}
	from := min((q.Page-1)*q.Limit, total)
	to := min(from+q.Limit, total)
	if q.Order == ByNameDown {
		from, to = total-to, total-from
	}
	numbers := between(runs, from, to)
	if q.Order == ByNameDown {
		slices.Reverse(numbers)
	}
	return numbers, total
}

// between returns the numbers of the patients of all runs from rank from up to,
// but not including, to.
func between(runs []run, from, to int64) []int64 {
	starts, ends := make([]int, len(runs)), make([]int, len(runs))
	for i := range runs {
		ends[i] = len(runs[i].slots)
	}
	starts = cut(runs, slices.Clone(starts), slices.Clone(ends), from)
	// A run has at most the whole page.
	for i := range runs {
		ends[i] = min(ends[i], starts[i]+int(to-from))
	}
	ends = cut(runs, slices.Clone(starts), ends, to-from)
	type place struct {
		run *run
		at  int
	}
	places := make([]place, 0, to-from)
	for i := range runs {
		for at := starts[i]; at < ends[i]; at++ {
			places = append(places, place{&runs[i], at})
		}
	}
	slices.SortFunc(places, func(a, b place) int {
		if a.run.before(a.at, b.run, b.at) {
			return -1
		}
		return 1
	})
	numbers := make([]int64, len(places))
	for i, p := range places {
		numbers[i] = p.run.number(p.at)
	}
	return numbers
}

// cut returns up to where each run is among the first rank patients of all
// runs, which are considered from low to high. It halves what is undecided by a
// pivot, like quickselect, so a page in the middle costs a few binary searches
// in each run. It overwrites low and high.
func cut(runs []run, low, high []int, rank int64) []int {
	undecided := int64(0)
	for i := range runs {
		undecided += int64(high[i] - low[i])
	}
	middle := make([]int, len(runs))
	for round := 0; ; round++ {
		switch rank {
		case 0:
			return low
		case undecided:
			return high
		}
		// Runs are mostly alike, so the patient at the same part of one of them
		// is near. Every other pivot is a random one, in case they are not.
		of, pivot := pick(low, high, rand.Int64N(undecided))
		if round%2 == 0 {
			pivot = low[of] + int(int64(high[of]-low[of])*rank/undecided)
		}
		less := int64(0)
		for i := range runs {
			middle[i] = low[i] + sort.Search(high[i]-low[i], func(k int) bool { return !runs[i].before(low[i]+k, &runs[of], pivot) })
			less += int64(middle[i] - low[i])
		}
		if rank <= less {
			copy(high, middle)
			undecided = less
		} else {
			copy(low, middle)
			low[of]++ // the pivot itself
			rank -= less + 1
			undecided -= less + 1
		}
	}
}

// pick returns the run and index of the nth undecided patient.
func pick(low, high []int, n int64) (of, at int) {
	for i := range low {
		if count := int64(high[i] - low[i]); n >= count {
			n -= count
			continue
		}
		return i, low[i] + int(n)
	}
	panic("there are fewer undecided patients")
}
