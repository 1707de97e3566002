package analytics

import "math"

// z is the 0.975 quantile of the normal distribution, as it is published.
const z = 1.959964

// Minimum numbers of patients.
const (
	minForDeviation  = 2
	minForInterval   = 5
	minForEffectSize = 5
	stableFrom       = 10
	minToCompare     = 11
)

// tolerance is what comparisons allow for binary fractions.
const tolerance = 1e-9

// Wilson is Wilson's interval of a proportion of n patients, n > 0.
func Wilson(count, n int) Bounds {
	total := float64(n)
	p := float64(count) / total
	centre := (p + z*z/(2*total)) / (1 + z*z/total)
	half := z * math.Sqrt(p*(1-p)/total+z*z/(4*total*total)) / (1 + z*z/total)
	return Bounds{max(0, centre-half), min(1, centre+half)}
}

// Newcombe is the difference of two proportions, the first less the second,
// with its interval made of theirs.
func Newcombe(count1, n1, count2, n2 int) (difference float64, _ Bounds) {
	p1, p2 := float64(count1)/float64(n1), float64(count2)/float64(n2)
	ci1, ci2 := Wilson(count1, n1), Wilson(count2, n2)
	d := p1 - p2
	return d, Bounds{d - math.Hypot(p1-ci1.Low, ci2.High-p2), d + math.Hypot(ci1.High-p1, p2-ci2.Low)}
}

// student is the 0.975 quantile of Student's distribution, df > 0. Beyond the
// table it is the expansion of Cornish and Fisher (Abramowitz and Stegun,
// 26.7.5), which then agrees to 1e-9.
func student(df int) float64 {
	if df <= len(studentTable) {
		return studentTable[df-1]
	}
	const x = 1.959963984540054
	const x3, x5, x7, x9 = x * x * x, x * x * x * x * x, x * x * x * x * x * x * x, x * x * x * x * x * x * x * x * x
	n := float64(df)
	return x + ((x3+x)/4+((5*x5+16*x3+3*x)/96+((3*x7+19*x5+17*x3-15*x)/384+(79*x9+776*x7+1482*x5-1920*x3-945*x)/92160/n)/n)/n)/n
}

// meanInterval is Student's interval of a mean over n patients, n > 1.
func meanInterval(mean, sd float64, n int) Bounds {
	half := student(n-1) * sd / math.Sqrt(float64(n))
	return Bounds{mean - half, mean + half}
}

// responded reports whether pain fell by at least a percentage. The numbers
// are compared as they are, never rounded first. There is no percentage of a
// baseline of 0.
func responded(before, after, percent float64) bool {
	return before > 0 && fall(before, after) >= percent-tolerance
}

// fall is by how many percent of what it was pain fell, before > 0.
func fall(before, after float64) float64 { return 100 * (before - after) / before }

// rounded is a number at output.
func rounded(f float64, decimals int) *float64 { return new(round(f, decimals)) }

func round(f float64, decimals int) float64 {
	unit := math.Pow10(decimals)
	return math.Round(f*unit)/unit + 0 // no -0
}

// The scales that means are on.
var (
	painScale = Bounds{0, 10}
	unbounded = Bounds{math.Inf(-1), math.Inf(1)}
)

// changes is the scale of changes from one place of a scale to another.
func (b Bounds) changes() Bounds { return Bounds{b.Low - b.High, b.High - b.Low} }

// within cuts an interval off where its scale ends.
func (b Bounds) within(scale Bounds) Bounds {
	return Bounds{max(b.Low, scale.Low), min(b.High, scale.High)}
}

func (b Bounds) rounded() *Bounds { return &Bounds{round(b.Low, 4), round(b.High, 4)} }
