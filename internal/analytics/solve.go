package analytics

import (
	"math"
	"slices"
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
	columns := map[*cell]int{}
	var cells []*cell
	for _, r := range rows {
		for c := range r {
			if _, ok := columns[c]; !ok {
				columns[c] = len(cells)
				cells = append(cells, c)
			}
		}
	}
	matrix := make([][]float64, len(rows))
	for i, r := range rows {
		matrix[i] = make([]float64, len(cells))
		for c, f := range r {
			matrix[i][columns[c]] = f
		}
	}
	const zero = 1e-9
	done := 0
	for column := range cells {
		pivot := slices.IndexFunc(matrix[done:], func(r []float64) bool { return math.Abs(r[column]) > zero })
		if pivot < 0 {
			continue
		}
		matrix[done], matrix[done+pivot] = matrix[done+pivot], matrix[done]
		by := matrix[done]
		for i, r := range matrix {
			if factor := r[column] / by[column]; i != done && math.Abs(factor) > zero {
				for k, f := range by {
					r[k] -= factor * f
				}
			}
		}
		done++
	}
	determined = map[*cell]bool{}
	for _, r := range matrix[:done] {
		last, left := 0, 0
		for k, f := range r {
			if math.Abs(f) > zero {
				last = k
				left++
			}
		}
		if left == 1 {
			determined[cells[last]] = true
		}
	}
	return determined
}
