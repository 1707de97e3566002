package bench

import (
	"math"
	"testing"
	"time"
)

func TestBucketsKeepDurationsToTwoPerCent(t *testing.T) {
	last := -1
	for ns := time.Duration(1); ns > 0 && ns < time.Hour*24*365; ns += ns/50 + 1 {
		bucket := bucketOf(ns)
		if bucket < last {
			t.Fatalf("%d is in bucket %d, after %d", ns, bucket, last)
		}
		last = bucket
		if top := ceiling(bucket); top < ns || float64(top-ns) > 0.016*float64(ns) {
			t.Fatalf("%d is kept as %d", ns, top)
		}
	}
	for _, extreme := range []time.Duration{0, -1, math.MaxInt64} {
		var h histogram
		h.add(extreme) // must not be out of the buckets
	}
}

func TestHistogramQuantiles(t *testing.T) {
	var a, b, all histogram
	for i := range 1000 {
		h := &a
		if i%2 == 1 {
			h = &b
		}
		h.add(time.Duration(i+1) * time.Millisecond)
	}
	all.merge(&a)
	all.merge(&b)
	for _, tt := range []struct {
		q    float64
		want time.Duration
	}{{0, time.Millisecond}, {0.5, 500 * time.Millisecond}, {0.95, 950 * time.Millisecond}, {0.99, 990 * time.Millisecond}, {1, time.Second}} {
		got := all.quantile(tt.q)
		if off := float64(got-tt.want) / float64(tt.want); off < 0 || off > 0.016 {
			t.Errorf("quantile %v is %v, want %v", tt.q, got, tt.want)
		}
	}
	if got := new(histogram).quantile(0.5); got != 0 {
		t.Errorf("quantile of nothing is %v", got)
	}
}

func TestQuantileOfValues(t *testing.T) {
	for _, tt := range []struct {
		values  []float64
		q, want float64
	}{
		{nil, 0.5, 0},
		{[]float64{3}, 0.25, 3},
		{[]float64{1, 2}, 0.5, 1.5},
		{[]float64{1, 2, 3, 4, 5}, 0.25, 2},
		{[]float64{1, 2, 3, 4, 5}, 0.75, 4},
		{[]float64{1, 2, 3, 4}, 1, 4},
	} {
		if got := quantile(tt.values, tt.q); got != tt.want {
			t.Errorf("quantile(%v, %v) = %v, want %v", tt.values, tt.q, got, tt.want)
		}
	}
}

func TestCompare(t *testing.T) {
	second := time.Second
	product := []turn{{100, second}, {300, second}, {50, second}, {10, second}}
	floor := []turn{{200, second}, {400, second}, {200, second}, {0, second}}
	got := compare(product, floor)
	// Pairs 0.5, 0.75, 0.25; the last has no floor, yet its requests count.
	want := Ratio{Total: 460.0 / 800, Median: 0.5, Q1: 0.375, Q3: 0.625, Pairs: 3}
	if got != want {
		t.Errorf("compare = %+v, want %+v", got, want)
	}
	if got := compare(nil, nil); got != (Ratio{}) {
		t.Errorf("compare of nothing = %+v", got)
	}
}

func TestDeriveHoldsThePagesAgainstTheirFloors(t *testing.T) {
	r := Result{Paths: []PathResult{{Name: "list", Ratio: Ratio{Total: 0.3}}, {Name: "list-deep", Ratio: Ratio{Total: 0.15}}}}
	if r.derive(); r.DeepPageCost != 2 {
		t.Errorf("deep page cost %v, want 2", r.DeepPageCost)
	}
}
