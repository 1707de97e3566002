package analytics

import "slices"

// ledger holds all counts of patients in a response, and which of them are
// sums of others, so that min_cell_size can hide the small ones and any others
// from which they could be derived. A response is built in three steps: its
// counts are entered, settle decides which of them are hidden, and then the
// functions deferred with after print them.
type ledger struct {
	cells []*cell
	sums  []equation
	later []func()
	// min is the smallest nonzero count that may be shown.
	min int
}

// cell is a count of patients.
type cell struct {
	value int
	at    int // index in the ledger
	// silent marks a count that is not printed but could be derived, such as
	// the rest of a whole.
	silent bool
	hidden bool
}

// equation says that a whole is the sum of its parts.
type equation []*cell // the whole comes first

func (l *ledger) cell(value int) *cell {
	c := &cell{value: value, at: len(l.cells)}
	l.cells = append(l.cells, c)
	return c
}

// sum enters a whole as the sum of its parts.
func (l *ledger) sum(whole *cell, parts ...*cell) {
	l.sums = append(l.sums, append(equation{whole}, parts...))
}

// same enters a count as the sum of others, if that is true.
func (l *ledger) same(whole *cell, parts ...*cell) {
	total := 0
	for _, part := range parts {
		total += part.value
	}
	if whole.value == total {
		l.sum(whole, parts...)
	}
}

// within enters that a part is contained in a whole.
func (l *ledger) within(whole, part *cell) {
	rest := l.cell(whole.value - part.value)
	rest.silent = true
	l.sum(whole, part, rest)
}

func (l *ledger) after(print func()) { l.later = append(l.later, print) }

// small reports whether a count must be hidden.
func (l *ledger) small(c *cell) bool { return c.value > 0 && c.value < l.min }

// settle hides the small counts, and others until no small one can be derived,
// and prints.
func (l *ledger) settle() {
	if l.min > 1 {
		for _, c := range l.cells {
			c.hidden = c.silent || l.small(c)
		}
		for l.cover() {
		}
	}
	for _, print := range l.later {
		print()
	}
}

// cover hides one more count of each sum from which a small one can be
// derived, and reports whether there was any.
func (l *ledger) cover() (any bool) {
	for _, e := range l.sums {
		if l.tells(e) && l.coverIn(e) {
			any = true
		}
	}
	if any {
		return true
	}
	for _, c := range l.derived() {
		for _, e := range l.sums {
			if slices.Contains(e, c) && l.coverIn(e) {
				return true
			}
		}
		// All of its own sums are hidden, so it follows from others.
		for _, e := range l.sums {
			if e.unknown() > 0 && l.coverIn(e) {
				return true
			}
		}
	}
	return false
}

// coverIn hides the smallest visible count of a sum, preferring nonzero ones.
func (l *ledger) coverIn(e equation) bool {
	var next *cell
	for _, c := range e {
		if c.hidden {
			continue
		}
		if next == nil || next.value == 0 || c.value > 0 && c.value < next.value {
			next = c
		}
	}
	if next == nil {
		return false
	}
	next.hidden = true
	return true
}

// tells reports whether a sum alone reveals a small count: one count is
// hidden, or so many that each can only be 1, because zeros are shown.
func (l *ledger) tells(e equation) bool {
	hidden, small, ones := 0, false, true
	for i, c := range e {
		if !c.hidden {
			continue
		}
		hidden++
		small = small || l.small(c)
		ones = ones && i > 0 && (c.value == 1 && !c.silent || c.value == 0 && c.silent)
	}
	return small && (hidden == 1 || ones)
}

func (e equation) unknown() (n int) {
	for _, c := range e {
		if c.hidden {
			n++
		}
	}
	return n
}
