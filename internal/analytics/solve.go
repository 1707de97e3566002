package analytics

import "math"

// row is a linear equation of hidden numbers: their coefficients.
type row map[*cell]float64

// solve gives the hidden numbers that the sums determine.
func (l *ledger) solve() map[*cell]bool {
	known := map[*cell]bool{}
	for {
		rows := l.rows(known)
		found := eliminate(prune(rows))
		for _, r := range rows { // those with nothing else unknown
			if len(r) == 1 {
				for c := range r {
					found = append(found, c)
				}
			}
		}
		if len(found) == 0 {
			return known
		}
		for _, c := range found {
			known[c] = true
		}
	}
}

// rows are the sums, as far as something in them is not known.
func (l *ledger) rows(known map[*cell]bool) (rows []row) {
	for _, e := range l.sums {
		r := row{}
		for i, c := range e {
			if !c.hidden || known[c] {
				continue
			}
			if i == 0 {
				r[c]++
			} else {
				r[c]--
			}
		}
		if len(r) > 0 {
			rows = append(rows, r)
		}
	}
	return rows
}

// prune leaves out, again and again, sums with a number that is in no other:
// whatever the others are, that one makes up for it.
func prune(rows []row) []row {
	for {
		uses := map[*cell]int{}
		for _, r := range rows {
			for c := range r {
				uses[c]++
			}
		}
		var kept []row
		for _, r := range rows {
			free := false
			for c := range r {
				free = free || uses[c] == 1 && len(r) > 1
			}
			if !free {
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
func eliminate(rows []row) (found []*cell) {
	const zero = 1e-9
	reduced := make([]row, 0, len(rows))
	pivots := make([]*cell, 0, len(rows))
	subtract := func(from, what row, pivot *cell) {
		factor := from[pivot] / what[pivot]
		for c, f := range what {
			if from[c] -= factor * f; math.Abs(from[c]) < zero {
				delete(from, c)
			}
		}
		delete(from, pivot)
	}
	for _, source := range rows {
		r := row{}
		for c, f := range source {
			r[c] = f
		}
		for i, done := range reduced {
			if r[pivots[i]] != 0 {
				subtract(r, done, pivots[i])
			}
		}
		if len(r) == 0 {
			continue
		}
		var pivot *cell
		for c := range r {
			pivot = c
			break
		}
		for _, done := range reduced {
			if done[pivot] != 0 {
				subtract(done, r, pivot)
			}
		}
		reduced, pivots = append(reduced, r), append(pivots, pivot)
	}
	for i, r := range reduced {
		if len(r) == 1 {
			found = append(found, pivots[i])
		}
	}
	return found
}
