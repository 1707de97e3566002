package analytics

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestDeterminedByADenseMatrix compares what follows from equations with what
// the textbook's elimination of a whole matrix finds.
func TestDeterminedByADenseMatrix(t *testing.T) {
	t.Parallel()
	met := 0
	rapid.Check(t, func(rt *rapid.T) {
		random := roll(rt)
		for range 20 {
			cells := 1 + random.IntN(12)
			var rows []row
			for range random.IntN(14) {
				var r row
				for range 1 + random.IntN(4) {
					r = append(r, addend{random.IntN(cells), float64(1 - 2*random.IntN(2))})
				}
				if r = r.inOrder(); len(r) > 0 {
					rows = append(rows, r)
				}
			}
			before := fmt.Sprint(rows)
			got, want := solved(rows, cells), densely(rows, cells)
			if !slices.Equal(got, want) || fmt.Sprint(rows) != before {
				rt.Fatalf("%v\nof %d: %v, want %v", rows, cells, got, want)
			}
			if len(want) > 0 && len(want) < cells {
				met++
			}
		}
	})
	if met < 10 {
		t.Errorf("%d in which some follow are too few", met)
	}
}

func densely(rows []row, cells int) (list []int) {
	matrix := make([][]float64, len(rows))
	for i, r := range rows {
		matrix[i] = make([]float64, cells)
		for _, t := range r {
			matrix[i][t.cell] += t.coefficient
		}
	}
	done := 0
	for column := range cells {
		pivot := slices.IndexFunc(matrix[done:], func(r []float64) bool { return math.Abs(r[column]) > 1e-9 })
		if pivot < 0 {
			continue
		}
		matrix[done], matrix[done+pivot] = matrix[done+pivot], matrix[done]
		for i, r := range matrix {
			if factor := r[column] / matrix[done][column]; i != done {
				for k, f := range matrix[done] {
					r[k] -= factor * f
				}
			}
		}
		done++
	}
	for _, r := range matrix[:done] {
		var left []int
		for k, f := range r {
			if math.Abs(f) > 1e-9 {
				left = append(left, k)
			}
		}
		if len(left) == 1 {
			list = append(list, left[0])
		}
	}
	slices.Sort(list)
	return list
}
