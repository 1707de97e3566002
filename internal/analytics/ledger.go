package analytics

import "slices"

// ledger holds every number of patients of an answer, and which of them are
// sums of others, so that min_cell_size can hide the small ones and whatever
// they could be worked out from. An answer is put together in three steps:
// its numbers are entered, settle decides which of them are hidden, and then
// what was put off with after is printed.
type ledger struct {
	cells []*cell
	sums  []equation
	later []func()
	// min is the smallest number that may be shown, 0 and those from min on.
	min int
}

// cell is a number of patients.
type cell struct {
	value int
	at    int // its place in the ledger
	// silent is a number that is not printed, but could be worked out: the
	// rest of a whole.
	silent bool
	hidden bool
}

// equation says that a whole is the sum of its parts.
type equation []*cell // the whole first

func (l *ledger) cell(value int) *cell {
	c := &cell{value: value, at: len(l.cells)}
	l.cells = append(l.cells, c)
	return c
}

// sum enters that a whole is the sum of its parts.
func (l *ledger) sum(whole *cell, parts ...*cell) {
	l.sums = append(l.sums, append(equation{whole}, parts...))
}

// same enters that a number is the sum of others, if it is.
func (l *ledger) same(whole *cell, parts ...*cell) {
	total := 0
	for _, part := range parts {
		total += part.value
	}
	if whole.value == total {
		l.sum(whole, parts...)
	}
}

// within enters that the patients of a part are among those of a whole.
func (l *ledger) within(whole, part *cell) {
	rest := l.cell(whole.value - part.value)
	rest.silent = true
	l.sum(whole, part, rest)
}

func (l *ledger) after(print func()) { l.later = append(l.later, print) }

// small reports whether a number must not be known.
func (l *ledger) small(c *cell) bool { return c.value > 0 && c.value < l.min }

// settle hides the small numbers, then others until no small one can be
// worked out, and prints.
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

// cover hides one more number of each sum from which a small one can be worked
// out, and reports whether there was any.
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
		// All of its own sums are hidden; so others lead to it.
		for _, e := range l.sums {
			if e.unknown() > 0 && l.coverIn(e) {
				return true
			}
		}
	}
	return false
}

// coverIn hides the smallest number of a sum that is still shown; zeros last.
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

// tells reports whether a sum by itself tells a small number: one is hidden, or
// so many that they can only be 1 each, since zeros are shown.
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
