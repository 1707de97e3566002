package analytics

import (
	"math"
	"testing"
)

// Between the quantile and its negative lies 0.95.
func TestStudent(t *testing.T) {
	for df := 1; df < 2_000_000; df += 1 + max(0, df-1000)/7 {
		within := 1e-10 // 1e-9 of the quantile
		if df <= len(studentTable) {
			within = 1e-14
		}
		if got := central(student(df), df); math.Abs(got-0.95) > within {
			t.Errorf("with %d degrees of freedom, %v lies within %v", df, got, student(df))
		}
	}
}

// central is the probability that a variable of Student's distribution is from
// -t to t, by the finite sums of Abramowitz and Stegun, 26.7.3 and 26.7.4.
func central(t float64, df int) float64 {
	angle := math.Atan(t / math.Sqrt(float64(df)))
	sin, cos := math.Sincos(angle)
	term, sum := math.Pow(cos, float64(df%2)), 0.0
	for k := 2 + df%2; k <= df; k += 2 {
		sum += term
		term *= float64(k-1) / float64(k) * cos * cos
	}
	if df%2 == 0 {
		return sin * sum
	}
	return 2 / math.Pi * (angle + sin*sum)
}
