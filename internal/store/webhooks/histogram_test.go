package webhooks

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
)

func TestHistogramPacks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h, again histogram
		for _, ms := range rapid.SliceOf(rapid.Int64Range(0, 100_000)).Draw(t, "latencies") {
			h.add(time.Duration(ms) * time.Millisecond)
		}
		if err := again.merge(h.pack()); err != nil || again != h {
			t.Fatalf("%v: packed and read again it is %v", err, again)
		}
		if err := again.merge(rapid.SliceOf(rapid.Byte()).Draw(t, "damaged")); err != nil && err != errHistogram {
			t.Fatal(err)
		}
	})
}

func TestQuantileIsNearTheTruth(t *testing.T) {
	for _, latency := range []time.Duration{time.Millisecond, 3 * time.Millisecond, 80 * time.Millisecond, 2 * time.Second, 14 * time.Second} {
		var h histogram
		for range 10 {
			h.add(latency)
		}
		if got := h.quantile(0.5); got < latency*85/100 || got > latency*120/100 {
			t.Errorf("%v becomes %v", latency, got)
		}
	}
}

func TestPositionsPack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfDistinct(rapid.Map(rapid.Int64Range(1, 1<<50), func(n int64) journal.Pos { return journal.Pos(n) }), rapid.ID).Draw(t, "positions")
		slices.Sort(want)
		if got := unpackPositions(packPositions(want)); !slices.Equal(got, want) {
			t.Fatalf("%v becomes %v", want, got)
		}
		unpackPositions(rapid.SliceOf(rapid.Byte()).Draw(t, "damaged"))
	})
}

func TestAttemptsPack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []Attempt
		for range rapid.IntRange(0, maxAttempts+3).Draw(t, "attempts") {
			want = append(want, Attempt{
				At: engine.FromMillis(rapid.Int64Range(0, 1<<42).Draw(t, "at")), Latency: time.Duration(rapid.Int64Range(0, 1<<20).Draw(t, "latency")) * time.Millisecond,
				Status: rapid.IntRange(0, 999).Draw(t, "status"), Answer: rapid.String().Draw(t, "answer"), Error: rapid.String().Draw(t, "error"),
			})
		}
		got, err := unpackAttempts(packAttempts(want))
		if want = want[max(0, len(want)-maxAttempts):]; err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v: %v becomes %v", err, want, got)
		}
		if _, err := unpackAttempts(rapid.SliceOf(rapid.Byte()).Draw(t, "damaged")); err != nil && err != errAttempts {
			t.Fatal(err)
		}
	})
}
