package analytics

import (
	"maps"
	"math"
)

// row is a linear equation of hidden numbers: their coefficients.
type row map[*cell]float64

// derived lists the small numbers that follow from the sums together.
func (l *ledger) derived() (list []*cell) {
	determined := eliminate(l.prune(l.rows()))
	for _, c := range l.cells { // in their order: that of a map must not decide what is hidden
		if determined[c] && l.small(c) {
			list = append(list, c)
		}
	}
	return list
}

// rows are the sums, as far as something in them is hidden.
func (l *ledger) rows() (rows []row) {
	for _, e := range l.sums {
		r := row{}
		for i, c := range e {
			switch {
			case !c.hidden:
			case i == 0:
				r[c]++
			default:
				r[c]--
			}
		}
		if len(r) > 0 {
			rows = append(rows, r)
		}
	}
	return rows
}

// prune leaves out, again and again, sums that tell nothing: with a number in
// them that is in no other sum, it makes up for whatever the others are. That
// number itself may follow from the sum, unless there are two of them; if it
// is not small, nobody minds.
func (l *ledger) prune(rows []row) []row {
	for {
		uses := map[*cell]int{}
		for _, r := range rows {
			for c := range r {
				uses[c]++
			}
		}
		var kept []row
		for _, r := range rows {
			alone, harmless := 0, false
			for c := range r {
				if uses[c] == 1 {
					alone++
					harmless = harmless || !l.small(c)
				}
			}
			if alone < 2 && !harmless {
				kept = append(kept, r)
			}
		}
		if len(kept) == len(rows) {
			return kept
		}
		rows = kept
	}
}

// eliminate brings rows into reduced echelon form; a row with one number left
// determines it.
func eliminate(rows []row) (determined map[*cell]bool) {
	const zero = 1e-9
	subtract := func(from, what row, pivot *cell) {
		factor := from[pivot] / what[pivot]
		for c, f := range what {
			if from[c] -= factor * f; math.Abs(from[c]) < zero {
				delete(from, c)
			}
		}
		delete(from, pivot)
	}
	reduced := map[*cell]row{} // by their pivots
	for _, source := range rows {
		r := maps.Clone(source)
		for pivot, done := range reduced {
			if r[pivot] != 0 {
				subtract(r, done, pivot)
			}
		}
		for pivot := range r {
			for _, done := range reduced {
				if done[pivot] != 0 {
					subtract(done, r, pivot)
				}
			}
			reduced[pivot] = r
			break
		}
	}
	determined = map[*cell]bool{}
	for pivot, r := range reduced {
		if len(r) == 1 {
			determined[pivot] = true
		}
	}
	return determined
}
