package analytics

import (
	"testing"

	"anodyne/internal/pain/drug"
	"anodyne/internal/pain/series"
)

// TestSharedDays tells days that two medicines surely share from those that
// they may: the days of an open one are not known.
func TestSharedDays(t *testing.T) {
	period := drug.Span{First: 100, Last: 199}
	of := func(class series.Class, first, last drug.Day, open bool) series.Medication {
		return series.Medication{Span: drug.Span{First: first, Last: last}, Class: class, Open: open, Status: 1}
	}
	const open, closed = true, false
	for name, c := range map[string]struct {
		opioid, other     series.Medication
		certain, possible bool
	}{
		"both cover a day":            {of(opioid, 100, 120, closed), of(benzodiazepine, 120, 130, closed), true, true},
		"one after the other":         {of(opioid, 100, 119, closed), of(benzodiazepine, 120, 130, closed), false, false},
		"only before the period":      {of(opioid, 80, 110, closed), of(benzodiazepine, 70, 99, closed), false, false},
		"the other is open":           {of(opioid, 100, 120, closed), of(benzodiazepine, 90, 90, open), false, true},
		"the opioid is open":          {of(opioid, 90, 90, open), of(benzodiazepine, 100, 120, closed), false, true},
		"both are open":               {of(opioid, 90, 90, open), of(benzodiazepine, 95, 95, open), false, true},
		"open, but it began too late": {of(opioid, 100, 120, closed), of(benzodiazepine, 121, 121, open), false, false},
		"another class":               {of(opioid, 100, 120, closed), of(gabapentinoid, 100, 120, closed), false, false},
	} {
		both := []series.Medication{c.opioid, c.other} // in order of the classes, as a gist has them
		certain, possible := shared(ofClass(both, opioid), ofClass(both, benzodiazepine), period)
		if certain != c.certain || possible != c.possible {
			t.Errorf("%s: certain %v, possible %v; want %v, %v", name, certain, possible, c.certain, c.possible)
		}
	}
}
