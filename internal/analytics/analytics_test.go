package analytics

import (
	"testing"
	"time"

	"anodyne.example/anodyne/internal/pain/drug"
)

func TestDayOf(t *testing.T) {
	const day = int64(millisecondsPerDay)
	for ms, want := range map[int64]drug.Day{
		0: 0, day - 1: 0, day: 1, -1: -1, -day: -1, -day - 1: -2,
		time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli():             -719162,
		time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC).UnixMilli(): 2932896,
	} {
		if got := dayOf(ms); got != want {
			t.Errorf("%d ms are on day %d, want %d", ms, got, want)
		}
		if start := startOf(want); start > ms || ms-start >= day {
			t.Errorf("day %d begins at %d ms, not in the day up to %d", want, start, ms)
		}
	}
}

func TestHighestResponse(t *testing.T) {
	for base, want := range map[float64]int{10: 70, 7: 49, 5: 35, 6.5: 45, 1: 7, 0.1: 0, 20.0 / 3: 46} {
		if got := highestResponse(base); got != want {
			t.Errorf("from %v it is %d tenths, want %d", base, got, want)
		}
	}
}
