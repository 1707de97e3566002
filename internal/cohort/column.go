package cohort

import (
	"slices"
	"unsafe"
)

// column packs what several patients have of one thing, one patient after the
// other.
type column[T any] struct {
	items []T
	ends  []uint32 // where each patient's items end
}

// span is where in items those of a slot are.
func (c *column[T]) span(slot int) (from, to uint32) {
	if slot > 0 {
		from = c.ends[slot-1]
	}
	return from, c.ends[slot]
}

// of is the items of a slot.
func (c *column[T]) of(slot int) []T {
	from, to := c.span(slot)
	return c.items[from:to:to]
}

// close ends the items of one more patient.
func (c *column[T]) close() { c.ends = append(c.ends, uint32(len(c.items))) }

// copyFrom appends the slots from up to, but not including, to, which is
// behind from.
func (c *column[T]) copyFrom(source *column[T], from, to int) {
	start, _ := source.span(from)
	shift := uint32(len(c.items)) - start // it may wrap, and wraps back
	for _, end := range source.ends[from:to] {
		c.ends = append(c.ends, end+shift)
	}
	c.items = append(c.items, source.items[start:source.ends[to-1]]...)
}

// fit gives a copy without spare memory.
func (c *column[T]) fit() column[T] { return column[T]{slices.Clone(c.items), slices.Clone(c.ends)} }

// grow makes room.
func (c *column[T]) grow(items, patients int) {
	c.items, c.ends = slices.Grow(c.items, items), slices.Grow(c.ends, patients)
}

// reset empties the column and keeps its memory.
func (c *column[T]) reset() { c.items, c.ends = c.items[:0], c.ends[:0] }

func (c *column[T]) bytes() int64 {
	var item T
	return int64(cap(c.items))*int64(unsafe.Sizeof(item)) + 4*int64(cap(c.ends))
}
