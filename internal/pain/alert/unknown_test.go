package alert

import (
	"testing"

	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// What is not understood raises nothing, and hides nothing that is known.
func TestUnclassifiedRaisesNothing(t *testing.T) {
	t.Parallel()
	const today = drug.Day(20000)
	of := func(class drug.Class, mme float64) series.Medication {
		m := series.Medication{Span: drug.Span{First: today - 5, Last: today + 5}, Class: series.ClassOf(class), MME: mme}
		if class == drug.Unclassified {
			m.Reason = 9
		}
		return m
	}
	for name, c := range map[string]struct {
		medications []series.Medication
		alerts      int
	}{
		"it alone":              {[]series.Medication{of(drug.Unclassified, 0), of(drug.Unclassified, 0)}, 0},
		"with 49 MME":           {[]series.Medication{of(drug.Opioid, 49), of(drug.Unclassified, 0)}, 0},
		"with a benzodiazepine": {[]series.Medication{of(drug.Benzodiazepine, 0), of(drug.Unclassified, 0)}, 0},
		"with 50 MME":           {[]series.Medication{of(drug.Opioid, 50), of(drug.Unclassified, 0)}, 1},
		"with both":             {[]series.Medication{of(drug.Opioid, 90), of(drug.Benzodiazepine, 0), of(drug.Unclassified, 0)}, 2},
	} {
		var none, now Watched
		now.Add(c.medications)
		if stands, alerts := Judge(Standing{Day: today}, &none, &now, today); len(alerts) != c.alerts || (stands.Level > 0 || stands.Overlap) != (c.alerts > 0) {
			t.Errorf("%s: %v, and it stands as %+v", name, alerts, stands)
		}
	}
	if Concerns([]series.Medication{of(drug.Unclassified, 0)}) {
		t.Error("it concerns alerts")
	}
}
