package figure

import (
	"testing"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/summary"
)

func TestDosage(t *testing.T) {
	for want, m := range map[string]pain.Medication{
		"":                             {},
		"10 mg, BID, oral":             {Dose: pain.Some(10.0), DoseUnit: "mg", Strength: pain.Some(5.0), StrengthUnit: "mg", Frequency: "BID", DosesPerDay: pain.Some(2.0), Route: "oral"},
		"0.025 mg, 3 a day, as needed": {Strength: pain.Some(0.025), StrengthUnit: "mg", DosesPerDay: pain.Some(3.0), PRN: pain.Some(true)},
	} {
		if got := Dosage(&m); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestBasis(t *testing.T) {
	for _, basis := range drug.Bases() {
		want := map[drug.Basis]string{drug.ByAlias: "by an alias: oxycodone and acetaminophen", drug.ByStated: "as stated"}[basis]
		if got := Basis(&pain.Medication{Derived: pain.MedicationDerived{Basis: string(basis), Ingredients: []string{"oxycodone", "acetaminophen"}}}); got != want {
			t.Errorf("%s: %q", basis, got)
		}
	}
}

func TestCondition(t *testing.T) {
	for want, h := range map[string]pain.HistoryEntry{
		"":                          {Condition: "x"},
		"in remission":              {Status: "remission"},
		"active, since 2019-06":     {Status: "active", OnsetDate: "2019-06"},
		"resolved, until 2020":      {Status: "resolved", ResolvedDate: "2020"},
		"family history, active":    {Category: "family", Status: "active"},
		"in remission, since 2011":  {Category: "substance_use", Status: "remission", OnsetDate: "2011"},
		"since 2019, until 2020-01": {OnsetDate: "2019", ResolvedDate: "2020-01"},
	} {
		if got := Condition(&h); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestFlag(t *testing.T) {
	since := "2026-01-02"
	for want, f := range map[string]summary.Flag{
		Words("ge_90") + " since 2026-01-02: 120 MME a day, assumed to be taken, not all of the dose is known": {Flag: "ge_90", Since: &since, Basis: map[string]any{"mme": new(120.0), "incomplete": true, "assumed": true}},
		Words("naloxone_gap"): {Flag: "naloxone_gap", Basis: map[string]any{"reasons": []string{}}},
		Words("opioid_benzo_overlap") + ": 3 shared days, 2 of them assumed, both current, medicines not recognised: 1": {Flag: "opioid_benzo_overlap", Basis: map[string]any{"shared_days": 3, "assumed_days": 2, "current": true, "unclassified": []string{"x"}}},
	} {
		if got := Flag(&f); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
