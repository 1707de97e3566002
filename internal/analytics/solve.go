package analytics

import (
	"math"
	"slices"
)

// row is a linear equation of hidden counts, in cell order.
type row []addend

// addend is a hidden count, by the index of its cell in the ledger, with its
// coefficient.
type addend struct {
	cell        int
	coefficient float64
}

// derived lists the small counts that follow from all sums together.
func (l *ledger) derived() (list []*cell) {
	for _, at := range solved(l.prune(l.rows()), len(l.cells)) {
		if c := l.cells[at]; l.small(c) {
			list = append(list, c)
		}
	}
	return list
}

// rows returns the sums with at least one hidden count.
func (l *ledger) rows() (rows []row) {
	for _, e := range l.sums {
		r := row(nil)
		for i, c := range e {
			switch {
			case !c.hidden:
			case i == 0:
				r = append(r, addend{c.at, 1})
			default:
				r = append(r, addend{c.at, -1})
			}
		}
		if r = r.inOrder(); len(r) > 0 {
			rows = append(rows, r)
		}
	}
	return rows
}

// inOrder sorts the addends and merges those of the same cell.
func (r row) inOrder() row {
	slices.SortStableFunc(r, func(a, b addend) int { return a.cell - b.cell })
	sum := r[:0]
	for _, t := range r {
		if n := len(sum); n > 0 && sum[n-1].cell == t.cell {
			sum[n-1].coefficient += t.coefficient
		} else {
			sum = append(sum, t)
		}
	}
	return slices.DeleteFunc(sum, func(t addend) bool { return t.coefficient == 0 })
}

// uses returns the number of rows that contain each cell.
func uses(rows []row, cells int) []int {
	counts := make([]int, cells)
	for _, r := range rows {
		for _, t := range r {
			counts[t.cell]++
		}
	}
	return counts
}

// prune repeatedly removes sums that reveal nothing: a count that is in no
// other sum can take any value, so it absorbs the others. That count itself
// may follow from the sum, unless there are two such counts or it is not
// small.
func (l *ledger) prune(rows []row) []row {
	for {
		uses := uses(rows, len(l.cells))
		var kept []row
		for _, r := range rows {
			alone, harmless := 0, false
			for _, t := range r {
				if uses[t.cell] == 1 {
					alone++
					harmless = harmless || !l.small(l.cells[t.cell])
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

// solved lists, in order, the counts that follow from the equations: those
// that are alone in a row of the reduced echelon form. Rows are sparse, so
// only nonzero coefficients are kept.
func solved(rows []row, cells int) (list []int) {
	const zero = 1e-9
	var (
		basis   []row
		pivotOf = make([]int, cells) // row, counted from 1, in which a cell is the pivot
		uses    = uses(rows, cells)
		sums    = make([]float64, cells)
	)
	// less subtracts a multiple of another row.
	less := func(r row, factor float64, by row) row {
		for _, t := range r {
			sums[t.cell] = t.coefficient
		}
		for _, t := range by {
			if sums[t.cell] == 0 {
				r = append(r, addend{cell: t.cell})
			}
			sums[t.cell] -= factor * t.coefficient
		}
		rest := r[:0]
		for _, t := range r {
			if f := sums[t.cell]; math.Abs(f) > zero {
				rest = append(rest, addend{t.cell, f})
			}
			sums[t.cell] = 0
		}
		return rest
	}
	for _, original := range rows {
		r := slices.Clone(original)
		for _, t := range original { // rows of the basis have no pivots but their own
			if p := pivotOf[t.cell]; p > 0 {
				r = less(r, t.coefficient, basis[p-1])
			}
		}
		if len(r) == 0 {
			continue
		}
		pivot := slices.MinFunc(r, func(a, b addend) int { return uses[a.cell] - uses[b.cell] })
		for i := range r {
			r[i].coefficient /= pivot.coefficient
		}
		for i, other := range basis {
			if at := slices.IndexFunc(other, func(t addend) bool { return t.cell == pivot.cell }); at >= 0 {
				basis[i] = less(other, other[at].coefficient, r)
			}
		}
		basis = append(basis, r)
		pivotOf[pivot.cell] = len(basis)
	}
	for _, r := range basis {
		if len(r) == 1 {
			list = append(list, r[0].cell)
		}
	}
	slices.Sort(list)
	return list
}
