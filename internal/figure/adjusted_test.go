package figure

import (
	"testing"

	"anodyne.example/anodyne/internal/analytics"
)

func TestAdjustedInWords(t *testing.T) {
	t.Parallel()
	ci := &analytics.Bounds{Low: 0.2823, High: 0.5144}
	for _, c := range []struct{ got, want string }{
		{Estimated(new(0.38), ci, nil, true), "38.00 % (28.23 to 51.44)"},
		{Estimated(new(-3.0), &analytics.Bounds{Low: -3.4644, High: -2.5356}, nil, false), "−3.00 (−3.46 to −2.54)"},
		{Estimated(new(1.0), nil, nil, false), "1.00"},
		{Estimated(nil, nil, nil, true), "–"},
		{Estimated(nil, nil, new("suppressed"), true), "hidden"},
		{Estimated(nil, nil, new("empty_stratum"), true), "none: a stratum of the standard has nobody"},
		{Difference(new(0.1667), &analytics.Bounds{Low: -0.0092, High: 0.3288}, nil, true), "16.67 points (−0.92 to 32.88)"},
		{Difference(nil, nil, new("too_few_patients"), true), "too few patients"},
		{Difference(new(-2.0), &analytics.Bounds{Low: -2.7457, High: -1.2543}, nil, false), "−2.00 (−2.75 to −1.25)"},
		{Reason(new("a_new_one")), "a new one"},
		{Term("age_band <18"), "age <18"}, {Term("gender male"), "gender male"}, {Term("ge_50"), "≥ 50 MME a day"}, {Term("responder_30"), "pain 30 % lower or more"},
		{Standard(&analytics.Standardization{Standard: "given"}), "The standard population is the one given in the request."},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
