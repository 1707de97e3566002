package analytics

import (
	"testing"

	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// TestSharedDays checks whether two medicines share a day of a period.
func TestSharedDays(t *testing.T) {
	period := drug.Span{First: 100, Last: 199}
	of := func(class series.Class, first, last drug.Day) Medication {
		return Medication{Span: drug.Span{First: first, Last: last}, class: class}
	}
	for name, c := range map[string]struct {
		opioid, other Medication
		want          bool
	}{
		"both cover a day":       {of(opioid, 100, 120), of(benzodiazepine, 120, 130), true},
		"one after the other":    {of(opioid, 100, 119), of(benzodiazepine, 120, 130), false},
		"only before the period": {of(opioid, 80, 110), of(benzodiazepine, 70, 99), false},
		"one has no day":         {of(opioid, 100, 120), of(benzodiazepine, 110, 109), false},
		"another class":          {of(opioid, 100, 120), of(gabapentinoid, 100, 120), false},
	} {
		both := []Medication{c.opioid, c.other} // in order of the classes, as a gist has them
		if got := shared(ofClass(both, opioid), ofClass(both, benzodiazepine), period); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
