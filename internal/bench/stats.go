package bench

import (
	"slices"
	"time"
)

// turn is one slice of one server.
type turn struct {
	requests int64
	took     time.Duration
}

func (t turn) rate() float64 {
	if t.took <= 0 {
		return 0
	}
	return float64(t.requests) / t.took.Seconds()
}

// sum adds turns.
func sum(turns []turn) (total turn) {
	for _, t := range turns {
		total.requests += t.requests
		total.took += t.took
	}
	return total
}

// Ratio is the product's rate relative to the baseline: of the totals, and its
// distribution over the pairs of slices.
type Ratio struct {
	Total  float64 `json:"total"`
	Median float64 `json:"median"`
	Q1     float64 `json:"q1"`
	Q3     float64 `json:"q3"`
	Pairs  int     `json:"pairs"`
}

// compare compares turns; those with the same index were measured next to each
// other.
func compare(product, floor []turn) Ratio {
	var pairs []float64
	for i := range product {
		if f := floor[i].rate(); f > 0 {
			pairs = append(pairs, product[i].rate()/f)
		}
	}
	slices.Sort(pairs)
	r := Ratio{Median: quantile(pairs, 0.5), Q1: quantile(pairs, 0.25), Q3: quantile(pairs, 0.75), Pairs: len(pairs)}
	if f := sum(floor).rate(); f > 0 {
		r.Total = sum(product).rate() / f
	}
	return r
}

// quantile returns a quantile of sorted values, interpolated.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := q * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}
