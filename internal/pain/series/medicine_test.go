package series

import (
	"testing"
	"time"

	"anodyne.example/anodyne/internal/pain"
)

// Prescriptions are of the same product, or of the same medicine, or of neither,
// however they are written.
func TestSameMedicine(t *testing.T) {
	const name, supply = `{"name":"`, `,"quantity":60,"days_supply":30}`
	stated := `","strength":10,"strength_unit":"mg","route":"oral"`
	for _, c := range []struct {
		a, b          string
		drug, product bool
	}{
		{name + `oxycodone 10 mg tablet"`, name + `OxyContin 10 mg"`, true, true},
		{name + `oxycodone 10 mg tablet"`, name + `oxycodone` + stated, true, true},
		{name + `Percocet 10-325"`, name + `oxycodone` + stated, true, true},
		{name + `oxycodone 10 mg tablet"`, name + `oxycodone 5 mg tablet"`, true, false},
		{name + `oxycodone"`, name + `oxycodone"`, true, false},
		{name + `oxycodone 10 mg tablet"`, name + `morphine 10 mg tablet"`, false, false},
		{name + `fentanyl 25 mcg/hr patch"`, name + `fentanyl","strength":25,"strength_unit":"mcg/h"`, true, true},
		{name + `morphine","strength":10,"strength_unit":"mg/mL","route":"iv"`, name + `morphine","strength":10,"strength_unit":"mg/mL","route":"oral"`, false, false},
		{name + `House mixture"`, name + `house MIXTURE"`, true, false},
		{name + `House mixture"`, name + `House mixture 2"`, false, false},
	} {
		var s Series
		add(t, &s, "2024-01-12T09:00:00Z", "medications", c.a+supply)
		add(t, &s, "2024-01-12T09:00:00Z", "medications", c.b+supply)
		a, b := s.Medications[0], s.Medications[1]
		if got := a.Drug == b.Drug; got != c.drug || a.Drug == 0 {
			t.Errorf("%s and %s are the same medicine: %v", c.a, c.b, got)
		}
		if got := a.Product != 0 && a.Product == b.Product; got != c.product {
			t.Errorf("%s and %s are the same product: %v", c.a, c.b, got)
		}
	}
}

func TestEndAndSupply(t *testing.T) {
	var s Series
	add(t, &s, "2024-01-12T09:00:00Z", "medications", `{"name":"oxycodone","days_supply":30,"end_date":"2024-01-20","prescriber_id":"a","pharmacy_id":"b"}`)
	add(t, &s, "2024-01-12T09:00:00Z", "medications", `{"name":"oxycodone","end_date":"2024-01-20","prescriber_id":"b"}`)
	a, b := s.Medications[0], s.Medications[1]
	if !a.Supplied || !a.HasEnd || a.End != a.Last || a.Days() != 9 || a.Prescriber == 0 || a.Pharmacy != b.Prescriber {
		t.Errorf("with supply and end: %+v", a)
	}
	if b.Supplied || !b.HasEnd || b.End != a.End || b.Pharmacy != 0 {
		t.Errorf("with an end only: %+v", b)
	}
}

// Nobody says when it was stopped; it was not taken after the stop was recorded.
func TestStopRecordedLater(t *testing.T) {
	for _, c := range []struct {
		value string
		open  bool
		days  int // up to the day before, or that of the record of an open one
	}{
		{`{"name":"morphine 15 mg","quantity":60,"days_supply":30,"status":"stopped","derived":{"drug_class":"opioid","mme_per_day":30,"stop_recorded_on":"2024-01-22"}}`, false, 10},
		{`{"name":"morphine 15 mg","quantity":60,"days_supply":30,"status":"stopped","derived":{"drug_class":"opioid","mme_per_day":30,"stop_recorded_on":"2024-03-22"}}`, false, 30},
		{`{"name":"morphine 15 mg","quantity":60,"days_supply":30,"status":"stopped","derived":{"drug_class":"opioid","mme_per_day":30}}`, false, 30},
		{`{"name":"morphine 15 mg","status":"stopped","derived":{"drug_class":"opioid","mme_per_day":30,"stop_recorded_on":"2024-01-22"}}`, true, 11},
		{`{"name":"morphine 15 mg","status":"stopped","derived":{"drug_class":"opioid","mme_per_day":30}}`, true, 1},
	} {
		m, err := pain.ReadMedication(pain.StoredValue(c.value))
		if err != nil {
			t.Fatal(err)
		}
		entry, ok := MedicationOf(&m, time.Date(2024, 1, 12, 9, 0, 0, 0, time.UTC))
		if !ok || entry.Open != c.open || int(entry.Days()) != c.days {
			t.Errorf("%s counts on %d days, open %v", c.value, entry.Days(), entry.Open)
		}
	}
}
