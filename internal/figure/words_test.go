package figure

import (
	"testing"

	"anodyne.example/anodyne/internal/analytics"
)

func TestWords(t *testing.T) {
	ci := &analytics.Bounds{Low: -0.04, High: 1.25}
	for _, c := range []struct{ name, got, want string }{
		{"number", Num(new(-1.5)), "−1.5"},
		{"no number", Num(nil), "–"},
		{"rise", Signed(new(2.0)), "+2"},
		{"fall", Signed(new(-2.0)), "−2"},
		{"no change", Signed(new(0.0)), "0"},
		{"change not known", Signed(nil), "–"},
		{"name that is known", Words("phq_9"), "PHQ-9"},
		{"name", Words("muscle_relaxant"), "muscle relaxant"},
		{"no side", Words("na"), ""},
		{"count", Count(new(1234567)), "1,234,567"},
		{"hidden count", Count(nil), "hidden"},
		{"hundreds", Thousands(999), "999"},
		{"thousand", Thousands(1000), "1,000"},
		{"minus hundreds", Thousands(-999), "-999"},
		{"minus thousands", Thousands(-1000), "-1,000"},
		{"counted", Counted(analytics.Count{Count: new(12)}), "12"},
		{"of n", OfN(&analytics.Proportion{Count: new(18), N: new(4000)}), "18 of 4,000"},
		{"of nobody", OfN(&analytics.Proportion{Count: new(0), N: new(0)}), "no patients match"},
		{"of few", OfN(&analytics.Proportion{N: new(40), Suppressed: true}), "hidden"},
		{"share", Share(&analytics.Proportion{Count: new(18), N: new(40), CI95: &analytics.Bounds{Low: 0.3071, High: 0.6017}}), "45.0 % (30.7 to 60.2)"},
		{"share without interval", Share(&analytics.Proportion{Count: new(18), N: new(40)}), "45.0 %"},
		{"share of nobody", Share(&analytics.Proportion{Count: new(0), N: new(0)}), "–"},
		{"hidden share", Share(&analytics.Proportion{Suppressed: true}), "hidden"},
		{"rounded once", Rate(new(76), new(220)), "34.5 %"}, // 34.545, in the answer 34.55
		{"a half", Rate(new(1), new(16)), "6.3 %"},
		{"hidden rate", Rate(nil, new(16)), "hidden"},
		{"half of a tenth", Decimal(65.35), "65.4"}, // which is a bit less in binary
		{"hardly less than nothing", Decimal(-0.04), "0.0"},
		{"hardly less than nothing, two decimals", Fixed(new(-0.004)), "0.00"},
		{"two decimals", Fixed(new(-0.126)), "−0.13"},
		{"two decimals not known", Fixed(nil), "–"},
		{"capital", Capital("östrogen"), "Östrogen"},
		{"mean", Mean(&analytics.Mean{Mean: new(-2.25), CI95: ci, Unstable: true}), "−2.3 (0.0 to 1.3) *"},
		{"mean without interval", Mean(&analytics.Mean{Mean: new(3.0)}), "3.0"},
		{"hidden mean", Mean(&analytics.Mean{Suppressed: true}), "hidden"},
		{"mean not known", Mean(&analytics.Mean{}), "–"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}
