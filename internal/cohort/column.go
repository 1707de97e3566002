package cohort

import (
	"slices"
	"unsafe"
)

// anyColumn is what every column can do, whatever it packs. Where two are given,
// they are of one kind.
type anyColumn interface {
	equals(slot int, other anyColumn, otherSlot int) bool
	copyFrom(source anyColumn, from, to int)
	fit(source anyColumn)
	grow(like anyColumn, patients int)
	reset()
	bytes() int64
}

// column packs what several patients have of one thing, one patient after the
// other.
type column[T comparable] struct {
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

// equals reports whether a slot holds what one of another column does.
func (c *column[T]) equals(slot int, other anyColumn, otherSlot int) bool {
	return slices.Equal(c.of(slot), other.(*column[T]).of(otherSlot))
}

// copyFrom appends the slots from up to, but not including, to, which is
// behind from.
func (c *column[T]) copyFrom(other anyColumn, from, to int) {
	source := other.(*column[T])
	start, _ := source.span(from)
	shift := uint32(len(c.items)) - start // it may wrap, and wraps back
	for _, end := range source.ends[from:to] {
		c.ends = append(c.ends, end+shift)
	}
	c.items = append(c.items, source.items[start:source.ends[to-1]]...)
}

// fit makes the column a copy of another, without spare memory.
func (c *column[T]) fit(other anyColumn) {
	source := other.(*column[T])
	c.items, c.ends = slices.Clone(source.items), slices.Clone(source.ends)
}

// grow makes room for as many items as another has, of so many patients.
func (c *column[T]) grow(like anyColumn, patients int) {
	c.items, c.ends = slices.Grow(c.items, len(like.(*column[T]).items)), slices.Grow(c.ends, patients)
}

// reset empties the column and keeps its memory.
func (c *column[T]) reset() { c.items, c.ends = c.items[:0], c.ends[:0] }

func (c *column[T]) bytes() int64 {
	var item T
	return int64(cap(c.items))*int64(unsafe.Sizeof(item)) + 4*int64(cap(c.ends))
}
