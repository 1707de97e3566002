package analytics

import (
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// The short way to the quantile is held against the long one.
func TestStudentOfMany(t *testing.T) {
	for df := 450; df < 2_000_000; df += 1 + df/7 {
		want := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(df)}.Quantile(0.975)
		near(t, "the quantile", student(df), want, 1e-9)
	}
}
