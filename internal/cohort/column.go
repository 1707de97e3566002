package cohort

import (
	"slices"
	"unsafe"
)

// anyColumn is the interface of columns of any type. Where it is passed
// another column, both have the same type.
type anyColumn interface {
	len() uint32
	equals(from, to uint32, other anyColumn, otherFrom, otherTo uint32) bool
	copyFrom(source anyColumn, from, to uint32)
	fit(source anyColumn)
	grow(like anyColumn)
	reset()
	bytes() int64
}

// column packs one kind of data of several patients. The panel holds the ends
// of each patient's items.
type column[T comparable] struct{ items []T }

func (c *column[T]) len() uint32 { return uint32(len(c.items)) }

// between returns the items from from up to, but not including, to.
func (c *column[T]) between(from, to uint32) []T { return c.items[from:to:to] }

// equals reports whether some items equal those of another column.
func (c *column[T]) equals(from, to uint32, other anyColumn, otherFrom, otherTo uint32) bool {
	return slices.Equal(c.between(from, to), other.(*column[T]).between(otherFrom, otherTo))
}

// copyFrom appends items of another column.
func (c *column[T]) copyFrom(source anyColumn, from, to uint32) {
	c.items = append(c.items, source.(*column[T]).between(from, to)...)
}

// fit makes the column a copy of another, without spare capacity.
func (c *column[T]) fit(source anyColumn) { c.items = slices.Clone(source.(*column[T]).items) }

// grow reserves space for as many items as another column has.
func (c *column[T]) grow(like anyColumn) {
	c.items = slices.Grow(c.items, len(like.(*column[T]).items))
}

// reset empties the column and keeps its memory.
func (c *column[T]) reset() { c.items = c.items[:0] }

func (c *column[T]) bytes() int64 {
	var item T
	return int64(cap(c.items)) * int64(unsafe.Sizeof(item))
}
