package analytics

import (
	"math"

	"anodyne.example/anodyne/internal/decimal"
)

// z is the 0.975 quantile of the normal distribution, as commonly published.
const z = 1.959964

// Minimum numbers of patients.
const (
	minForDeviation  = 2
	minForInterval   = 5
	minForEffectSize = 5
	stableFrom       = 10
	minToCompare     = 11
)

// tolerance allows for rounding errors in comparisons.
const tolerance = 1e-9

// Wilson returns Wilson's interval of a proportion of n patients, n > 0.
func Wilson(count, n int) Bounds {
	total := float64(n)
	p := float64(count) / total
	centre := (p + z*z/(2*total)) / (1 + z*z/total)
	half := z * math.Sqrt(p*(1-p)/total+z*z/(4*total*total)) / (1 + z*z/total)
	return Bounds{max(0, centre-half), min(1, centre+half)}
}

// Newcombe returns the difference of two proportions, the first minus the
// second, with Newcombe's interval.
func Newcombe(count1, n1, count2, n2 int) (difference float64, _ Bounds) {
	p1, p2 := float64(count1)/float64(n1), float64(count2)/float64(n2)
	ci1, ci2 := Wilson(count1, n1), Wilson(count2, n2)
	d := p1 - p2
	return d, Bounds{d - math.Hypot(p1-ci1.Low, ci2.High-p2), d + math.Hypot(ci1.High-p1, p2-ci2.Low)}
}

// student returns the 0.975 quantile of Student's distribution, df > 0. Beyond
// the table it uses the Cornish-Fisher expansion (Abramowitz and Stegun,
// 26.7.5), which is accurate to 1e-9 there.
func student(df int) float64 {
	if df <= len(studentTable) {
		return studentTable[df-1]
	}
	const x = 1.959963984540054
	const x3, x5, x7, x9 = x * x * x, x * x * x * x * x, x * x * x * x * x * x * x, x * x * x * x * x * x * x * x * x
	n := float64(df)
	return x + ((x3+x)/4+((5*x5+16*x3+3*x)/96+((3*x7+19*x5+17*x3-15*x)/384+(79*x9+776*x7+1482*x5-1920*x3-945*x)/92160/n)/n)/n)/n
}

// meanInterval returns Student's interval of a mean over n patients, n > 1.
func meanInterval(mean, sd float64, n int) Bounds {
	half := student(n-1) * sd / math.Sqrt(float64(n))
	return Bounds{mean - half, mean + half}
}

// responded reports whether pain fell by at least a percentage. Numbers are
// compared without rounding. A baseline of 0 has no percentage.
func responded(before, after, percent float64) bool {
	return before > 0 && fall(before, after) >= percent-tolerance
}

// fall returns the reduction of pain in percent, before > 0.
func fall(before, after float64) float64 { return 100 * (before - after) / before }

// rounded returns a number rounded for output.
func rounded(f float64, decimals int) *float64 { return new(decimal.Round(f, decimals)) }

// The scales of means.
var (
	painScale = Bounds{0, 10}
	unbounded = Bounds{math.Inf(-1), math.Inf(1)}
)

// changes returns the scale of changes on a scale.
func (b Bounds) changes() Bounds { return Bounds{b.Low - b.High, b.High - b.Low} }

// within clips an interval to its scale.
func (b Bounds) within(scale Bounds) Bounds {
	return Bounds{max(b.Low, scale.Low), min(b.High, scale.High)}
}

func (b Bounds) rounded() *Bounds { return &Bounds{decimal.Round(b.Low, 4), decimal.Round(b.High, 4)} }
