package analytics

import (
	"testing"

	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// Ten patients, of whom five have an unclassified medicine.
func TestUnclassified(t *testing.T) {
	t.Parallel()
	unknown := func(from string, days int) series.Medication {
		return prescription(t, drug.Unclassified, from, days, 0)
	}
	opioid60 := prescription(t, drug.Opioid, "2024-06-01", 30, 60)
	p := population(t, Request{StartDate: "2024-06-01", EndDate: "2024-06-30"},
		takes(prescription(t, drug.NSAID, "2024-06-01", 30, 0)), // no opioid
		takes(opioid60), // 60
		takes(prescription(t, drug.Opioid, "2024-06-01", 30, 20)),                                                   // 20
		takes(unknown("2024-06-10", 5)),                                                                             // nobody knows
		takes(opioid60, unknown("2024-06-10", 5)),                                                                   // at least 60
		takes(prescription(t, drug.Opioid, "2024-06-01", 30, 120), unknown("2024-06-10", 5)),                        // at least 120
		takes(opioid60, prescription(t, drug.NSAID, "2024-06-01", 30, 0), unknown("2023-08-01", 5)),                 // 60; it may have been naloxone
		takes(prescription(t, drug.Benzodiazepine, "2024-06-01", 30, 0), unknown("2024-06-10", 5)),                  // nobody knows, nor of the overlap
		takes(opioid60, prescription(t, drug.Benzodiazepine, "2024-06-01", 30, 0)),                                  // 60, overlap
		takes(prescription(t, drug.Opioid, "2024-01-01", 30, 60), prescription(t, drug.Other, "2024-06-01", 30, 0)), // an opioid before
	)
	share := func(of *Proportion) []any { return []any{*of.Count, *of.N, *of.Undetermined} }
	o := &p.Opioids
	// Of 10 active, 6 had an opioid, 2 had none, and of 2 it is not known.
	is(t, "exposure", share(&o.Exposure), `[6,8,2]`)
	// Opioids cover at most 30 days, or 35 including the unclassified ones.
	is(t, "long-term", share(&o.LongTerm), `[0,10,0]`)
	// 60, 60, 120, 60 and 60 reach 50; 20 does not; the two of exposure may.
	is(t, "50", share(&o.AtLeast50), `[5,6,2]`)
	// 120 reaches 90; 60, 20, 60 and 60 do not; 60 and what is unknown may.
	is(t, "90", share(&o.AtLeast90), `[1,5,3]`)
	is(t, "benzodiazepine", share(&o.BenzodiazepineOverlap), `[1,4,4]`)
	is(t, "gabapentinoid", share(&o.GabapentinoidOverlap), `[0,4,4]`)
	is(t, "naloxone", share(&o.NaloxoneCoverage), `[0,3,5]`)
	bands := func(d *Distribution) (list []int) {
		for _, g := range d.Bands.Groups {
			list = append(list, *g.Count)
		}
		return list
	}
	// 0; below 20; from 20; from 50; from 90; unknown.
	is(t, "peaks", bands(&o.MME.Peak), `[2,0,1,3,1,3]`)
	is(t, "averages", bands(&o.MME.Average), `[2,0,1,3,0,4]`)
	is(t, "mean of those known", []any{*o.MME.Peak.N, *o.MME.Peak.Mean}, `[4,50]`) // 60, 20, 60, 60
	is(t, "incomplete", *o.MME.Incomplete.Count, `2`)
	mix := []int{}
	for _, g := range p.Treatments.Exclusive.Groups {
		mix = append(mix, *g.Count)
	}
	// opioid only: 60, 20, 60 with a benzodiazepine; others only; both; none; undetermined.
	is(t, "mix", mix, `[3,1,1,1,4]`)
	for _, c := range p.Treatments.Classes {
		switch c.Definition {
		case "treatment_mix.nsaid": // 2 of the 6 without what is unknown in the period
			is(t, c.Definition, share(&c), `[2,6,4]`)
		case "treatment_mix.benzodiazepine":
			is(t, c.Definition, share(&c), `[2,7,3]`)
		case "treatment_mix.other":
			is(t, c.Definition, share(&c), `[1,6,4]`)
		case "treatment_mix.unclassified":
			is(t, c.Definition, []any{*c.Count, *c.N, c.Undetermined}, `[4,10,null]`)
		}
	}
	filtered := population(t, Request{StartDate: "2024-06-01", EndDate: "2024-06-30", MedicationClass: "nsaid"}, takes(unknown("2024-06-10", 5)), takes(opioid60),
		takes(prescription(t, drug.NSAID, "2024-06-01", 30, 0)))
	is(t, "filtered", []any{*filtered.Cohort.Patients.Count, *filtered.Cohort.Undetermined.Count}, `[1,1]`)
	before := outcomes(t, Request{StartDate: "2024-06-01", EndDate: "2024-06-30"}, takes(unknown("2024-02-15", 20)), takes(unknown("2024-02-01", 20)))
	is(t, "in the washout", *before.ClassesUndetermined.Count, `1`) // up to 2024-03-05, and to 2024-02-20; the washout is from 2024-03-03
}
