package bench

import (
	"math/bits"
	"time"
)

// histogram counts durations in buckets with a width of at most 1/64 of their
// value, so that quantiles are accurate to two per cent for runs of any
// length, without allocations.
type histogram struct {
	counts [59 * 64]uint64
	total  uint64
}

func bucketOf(d time.Duration) int {
	ns := uint64(max(d, 0))
	shift := max(bits.Len64(ns)-7, 0)
	return shift*64 + int(ns>>shift)
}

// ceiling returns the longest duration of a bucket.
func ceiling(bucket int) time.Duration {
	shift := max(bucket/64-1, 0)
	return time.Duration((uint64(bucket-shift*64)+1)<<shift - 1)
}

func (h *histogram) add(d time.Duration) {
	h.counts[bucketOf(d)]++
	h.total++
}

func (h *histogram) merge(other *histogram) {
	for i, n := range other.counts {
		h.counts[i] += n
	}
	h.total += other.total
}

// quantile returns a duration that a fraction q of all did not exceed.
func (h *histogram) quantile(q float64) time.Duration {
	rank := uint64(q*float64(h.total) + 0.5)
	rank = max(rank, 1)
	var seen uint64
	for i, n := range h.counts {
		if seen += n; n > 0 && seen >= rank {
			return ceiling(i)
		}
	}
	return 0
}
