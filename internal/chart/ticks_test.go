package chart

import (
	"strings"
	"testing"
	"time"
)

func joinLabels(ticks []tick) string { return strings.Join(labels(ticks), " ") }

func TestNumberTicks(t *testing.T) {
	for _, c := range []struct {
		top   float64
		about int
		want  string
	}{
		{10, 5, "0 2 4 6 8 10"}, {100, 4, "0 50 100"}, {105, 4, "0 50 100 150"}, {0, 4, "0 0.5 1"}, {1, 5, "0 0.2 0.4 0.6 0.8 1"},
		{0.3, 3, "0 0.1 0.2 0.3"}, {12345, 5, "0 5,000 10,000 15,000"}, {7, 100, "0 0.1"},
	} {
		got := joinLabels(numberTicks(c.top, c.about))
		if c.about == 100 {
			got = got[:len(c.want)]
		}
		if got != c.want {
			t.Errorf("up to %g: %s, want %s", c.top, got, c.want)
		}
	}
}

func TestDateTicks(t *testing.T) {
	for _, c := range []struct {
		from, to string
		width    float64
		want     string
	}{
		{"2025-01-01", "2025-12-31", 700, "Jan 2025|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"},
		{"2025-01-16", "2026-01-15", 700, "Feb 2025|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Jan 2026"},
		{"2025-01-01", "2025-12-31", 200, "Jan 2025|Apr|Jul|Oct"},
		{"2025-03-03", "2025-03-09", 700, "3 Mar 2025|4 Mar|5 Mar|6 Mar|7 Mar|8 Mar|9 Mar"},
		{"2025-03-05", "2025-04-05", 300, "10 Mar 2025|17 Mar|24 Mar|31 Mar"},
		{"2025-03-03", "2025-03-03", 300, "3 Mar 2025"},
		{"2015-06-01", "2025-06-01", 300, "2016|2018|2020|2022|2024"},
		{"1925-01-01", "2025-01-01", 300, "1940|1960|1980|2000|2020"},
		{"2025-01-02", "2025-01-20", 10, "13 Jan 2025"},
	} {
		from, to := day(c.from), day(c.to)
		scale := func(at time.Time) float64 { return between(0, c.width, seconds(from), seconds(to), seconds(at)) }
		if got := strings.Join(labels(dateTicks(from, to, 10, scale)), "|"); got != c.want {
			t.Errorf("%s to %s on %g: %s, want %s", c.from, c.to, c.width, got, c.want)
		}
	}
}

func TestFormatNumber(t *testing.T) {
	for f, want := range map[float64]string{0: "0", -0.00001: "0", 3: "3", 3.5: "3.5", -2.25: "−2.25", 1234: "1,234", 1234567.5: "1,234,567.5", 0.1 + 0.2: "0.3", -1000: "−1,000"} {
		if got := formatNumber(f); got != want {
			t.Errorf("%v: %s, want %s", f, got, want)
		}
	}
}
