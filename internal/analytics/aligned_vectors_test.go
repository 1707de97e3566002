package analytics

import (
	"slices"
	"testing"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// The vectors are worked out by hand. The period is 2024, up to its last day;
// people are born in 1956 unless a vector says otherwise.
var year2024 = Request{StartDate: "2024-01-01", EndDate: "2024-12-31"}

func verdictIn(t *testing.T, p *Patient, measure int) string {
	t.Helper()
	o := judged(t, ask(t, year2024), p)
	if c := alignedMeasures[measure].of; o.excluded[c] != "" {
		return "excluded: " + o.excluded[c]
	} else if !o.considered[c] {
		return "not considered"
	}
	return o.decided[measure]
}

type alignedVector struct {
	name    string
	patient *Patient
	want    string
}

func checkVectors(t *testing.T, measure int, vectors []alignedVector) {
	t.Helper()
	for _, v := range vectors {
		if got := verdictIn(t, v.patient, measure); got != v.want {
			t.Errorf("%s, %s: %s, want %s", alignedMeasures[measure].ID, v.name, got, v.want)
		}
	}
}

// from gives a medicine sources.
func from(m series.Medication, prescriber, pharmacy uint32) series.Medication {
	m.Prescriber, m.Pharmacy = prescriber, pharmacy
	return m
}

func TestHighDosageVectors(t *testing.T) {
	op := func(from string, days int, mme float64) series.Medication {
		return prescription(t, drug.Opioid, from, days, mme)
	}
	unknownDose := op("2024-06-01", 10, 0)
	unknownDose.Reason = 8
	mystery := prescription(t, drug.Unclassified, "2024-06-01", 10, 0)
	// From 20 November 42 days are up to 31 December; the refill begins after them.
	supply, refill := op("2024-11-20", 42, 20), op("2024-12-20", 10, 0)
	supply.Supplied, supply.Drug, supply.Product = true, 1, 7
	refill.Supplied, refill.Drug, refill.Product, refill.Reason = true, 1, 7, unknownDose.Reason
	checkVectors(t, highDose, []alignedVector{
		{"14 days: 7 + 7", takes(op("2024-03-01", 7, 100), op("2024-03-10", 7, 100)), "not considered"},
		{"15 days: 7 + 8", takes(op("2024-03-01", 7, 100), op("2024-03-10", 8, 100)), "yes"},
		{"one fill of 30 days", takes(op("2024-03-01", 30, 100)), "not considered"},
		{"two fills on one day", takes(op("2024-03-01", 30, 60), op("2024-03-01", 30, 60)), "not considered"},
		{"two fills, one before the period", takes(op("2023-12-20", 30, 100), op("2024-03-01", 30, 100)), "not considered"},
		{"15 days, one of them in the next year", takes(op("2024-12-01", 7, 100), op("2024-12-25", 8, 100)), "not considered"}, // 7 + 7 to 31 December
		// 10 days of 95 and 10 of 85 are 1,800 of 20 days.
		{"90 on average", takes(op("2024-03-01", 10, 95), op("2024-04-01", 10, 85)), "yes"},
		// 950 + 848 are 1,798: 89.9 a day.
		{"89.9 on average", takes(op("2024-03-01", 10, 95), op("2024-04-01", 10, 84.8)), "no"},
		// 60 for 20 days, twice that on 10 of them: 1,800 of 20 days.
		{"90 by an overlap", takes(op("2024-03-01", 20, 60), op("2024-03-11", 10, 60)), "yes"},
		{"a dose that is not known", takes(op("2024-03-01", 10, 20), op("2024-04-01", 10, 20), unknownDose), "undecided"},
		{"a dose that is not known, carried into the next year", takes(supply, refill), "no"},
		// 3,000 of 20 days with a dose; over 30 days it is 100 still.
		{"so high that nothing lowers it", takes(op("2024-03-01", 10, 150), op("2024-04-01", 10, 150), unknownDose), "yes"},
		// 2,600 of 20 days is 130; over 30 days 86.7.
		{"it may lower it", takes(op("2024-03-01", 10, 130), op("2024-04-01", 10, 130), unknownDose), "undecided"},
		{"a medicine that may be an opioid", takes(op("2024-03-01", 10, 20), op("2024-04-01", 10, 20), mystery), "undecided"},
		{"it may be the second fill", takes(op("2024-03-01", 10, 20), mystery), "undecided"},
		{"8 + 6 days with it are too few", takes(op("2024-03-01", 8, 20), prescription(t, drug.Unclassified, "2024-06-01", 6, 0)), "not considered"},
	})
	// 20 days of 100 are 2,000. From 1 March to 10 April are 31 + 10 = 41 days: 48.8.
	gap := takes(op("2024-03-01", 10, 100), op("2024-04-01", 10, 100))
	// From 1 to 20 March there is no gap.
	none := takes(op("2024-03-01", 10, 100), op("2024-03-11", 10, 100))
	// 10 days of 100, 1 without, 9 of 100: 1,900 of 20 days are 95. With 2 without, 8 of 100: 1,800 are 90; with 3 and 7: 85.
	two, three := takes(op("2024-03-01", 10, 100), op("2024-03-13", 8, 100)), takes(op("2024-03-01", 10, 100), op("2024-03-14", 7, 100))
	checkVectors(t, highDosePeriod, []alignedVector{{"a gap", gap, "no"}, {"no gap", none, "yes"}, {"a gap of 2 days", two, "yes"}, {"a gap of 3 days", three, "no"},
		{"a dose that is not known, in June", takes(append(slices.Clone(none.Series.Medications), unknownDose)...), "undecided"}})
	checkVectors(t, highDose, []alignedVector{{"a gap", gap, "yes"}})
}

func TestExclusionVectors(t *testing.T) {
	with := func(change func(*Patient)) *Patient {
		p := takes(prescription(t, drug.Opioid, "2024-03-01", 60, 100), prescription(t, drug.Opioid, "2024-05-01", 60, 100))
		change(p)
		return p
	}
	exempt := func(e pain.Exemption, since string) func(*Patient) {
		return func(p *Patient) { p.Exempt.Add(e, day(t, since)) }
	}
	reason := func(code series.Reason, n int) func(*Patient) {
		return func(p *Patient) {
			for i := range n {
				p.Series.Medications[i].Reason, p.Series.Medications[i].MME = code, 0
			}
		}
	}
	for _, measure := range []int{highDose, continued15, continued31, manyPrescribers, manyPharmacies, manyBoth, concurrent, highDosePeriod, monitored} {
		checkVectors(t, measure, []alignedVector{
			{"17 at the start", with(func(p *Patient) { p.Born = day(t, "2006-01-02") }), "excluded: under_18"},
			{"cancer", with(exempt(pain.Cancer, "2010-01-01")), "excluded: cancer"},
			{"cancer on the last day", with(exempt(pain.Cancer, "2024-12-31")), "excluded: cancer"},
			{"sickle cell disease", with(exempt(pain.SickleCell, "2010-01-01")), "excluded: sickle_cell"},
			{"palliative care", with(exempt(pain.Palliative, "2024-06-01")), "excluded: palliative_care"},
			{"two of them", with(func(p *Patient) {
				exempt(pain.Palliative, "2024-06-01")(p)
				exempt(pain.Cancer, "2025-01-01")(p)
			}), "excluded: palliative_care"},
			{"under 18 first", with(func(p *Patient) { p.Born = day(t, "2010-01-01"); exempt(pain.Cancer, "2010-01-01")(p) }), "excluded: under_18"},
			{"only buprenorphine", with(reason(1, 2)), "excluded: oud_treatment"},
			{"only methadone for opioid use disorder", with(reason(2, 2)), "excluded: oud_treatment"},
		})
		for name, p := range map[string]*Patient{"18 on the first day": with(func(p *Patient) { p.Born = day(t, "2006-01-01") }),
			"cancer from the next year": with(exempt(pain.Cancer, "2025-01-01")), "buprenorphine and another": with(reason(1, 1))} {
			if got := verdictIn(t, p, measure); got != "yes" && got != "no" {
				t.Errorf("%s, %s: %s", alignedMeasures[measure].ID, name, got)
			}
		}
	}
}

func TestContinuedUseVectors(t *testing.T) {
	op := func(from string, days int) series.Medication { return prescription(t, drug.Opioid, from, days, 20) }
	index := op("2024-07-01", 15)
	mystery := func(from string) series.Medication { return prescription(t, drug.Unclassified, from, 5, 0) }
	// 180 days before 2024-07-01 are 3 January to 30 June: 29+29+31+30+31+30.
	checkVectors(t, continued15, []alignedVector{
		{"15 days", takes(index), "yes"},
		{"14 days", takes(op("2024-07-01", 14)), "no"},
		{"14 days and one on day 30", takes(op("2024-07-01", 14), op("2024-07-30", 1)), "yes"},
		{"14 days and one on day 31", takes(op("2024-07-01", 14), op("2024-07-31", 1)), "no"},
		{"180 clean days", takes(op("2023-12-24", 10), index), "yes"}, // up to 2 January
		{"179 clean days", takes(op("2023-12-24", 11), index), "not considered"},
		{"the second fill is new", takes(op("2023-12-24", 20), op("2024-01-20", 1), op("2024-08-01", 5)), "no"}, // 21 January to 31 July are 193 days
		{"no fill in the period", takes(op("2023-12-24", 20)), "not considered"},
		{"62 days end on the last day", takes(op("2024-10-31", 15)), "yes"}, // 1 + 30 + 31 days
		{"62 days end a day later", takes(op("2024-11-01", 15)), "excluded: episode_not_over"},
		{"what may be an opioid before", takes(mystery("2024-05-01"), index), "undecided"},
		{"what may be an opioid long before", takes(mystery("2023-07-15"), index), "yes"},
		{"what may be an opioid in the 30 days", takes(op("2024-07-01", 12), mystery("2024-07-20")), "undecided"},
		{"it does not make 15 days", takes(op("2024-07-01", 9), mystery("2024-07-20")), "no"},
		{"only what may be one", takes(mystery("2024-07-20")), "undecided"},
	})
	// 62 days from 2024-07-01 are up to 31 August.
	checkVectors(t, continued31, []alignedVector{
		{"31 of 62", takes(op("2024-07-01", 31)), "yes"}, {"30 of 62", takes(op("2024-07-01", 30)), "no"},
		{"30 and the last", takes(op("2024-07-01", 30), op("2024-08-31", 1)), "yes"}, {"30 and the day after", takes(op("2024-07-01", 30), op("2024-09-01", 1)), "no"},
		{"what may be an opioid in the second month", takes(op("2024-07-01", 30), mystery("2024-08-20")), "undecided"},
	})
}

func TestMultipleSourcesVectors(t *testing.T) {
	fills := func(sources ...[2]uint32) *Patient {
		var list []series.Medication
		first := day(t, "2024-02-01")
		for i, s := range sources {
			m := prescription(t, drug.Opioid, dateOf(first+drug.Day(20*i)), 20, 20)
			list = append(list, from(m, s[0], s[1]))
		}
		return takes(list...)
	}
	mystery := from(prescription(t, drug.Unclassified, "2024-09-01", 5, 0), 9, 9)
	four, three := fills([2]uint32{1, 1}, [2]uint32{2, 1}, [2]uint32{3, 2}, [2]uint32{4, 3}), fills([2]uint32{1, 1}, [2]uint32{2, 1}, [2]uint32{3, 2}, [2]uint32{3, 3})
	blank := fills([2]uint32{1, 1}, [2]uint32{2, 2}, [2]uint32{3, 3}, [2]uint32{0, 0})
	few := fills([2]uint32{1, 1}, [2]uint32{0, 0})
	all := fills([2]uint32{1, 1}, [2]uint32{2, 2}, [2]uint32{3, 3}, [2]uint32{4, 4})
	known := fills([2]uint32{1, 1}, [2]uint32{2, 2}, [2]uint32{3, 3}, [2]uint32{4, 4}, [2]uint32{0, 0})
	may := takes(append(slices.Clone(three.Series.Medications), mystery)...)
	checkVectors(t, manyPrescribers, []alignedVector{{"4", four, "yes"}, {"3", three, "no"}, {"3 and one not recorded", blank, "unrecorded"}, {"2 at most", few, "no"},
		{"4 and one not recorded", known, "yes"}, {"3 and what may be an opioid", may, "undecided"}})
	checkVectors(t, manyPharmacies, []alignedVector{{"3", four, "no"}, {"4", all, "yes"}, {"3 and one not recorded", blank, "unrecorded"}})
	checkVectors(t, manyBoth, []alignedVector{{"4 and 3", four, "no"}, {"4 and 4", all, "yes"}, {"3 and one not recorded", blank, "unrecorded"}})
}

func TestConcurrentUseVectors(t *testing.T) {
	opioids := func(others ...series.Medication) *Patient {
		return takes(append([]series.Medication{prescription(t, drug.Opioid, "2024-03-01", 30, 20), prescription(t, drug.Opioid, "2024-03-31", 30, 20)}, others...)...) // to 29 April
	}
	benzo := func(from string, days int) series.Medication {
		return prescription(t, drug.Benzodiazepine, from, days, 0)
	}
	open := benzo("2024-03-05", 1)
	open.Open = true
	checkVectors(t, concurrent, []alignedVector{
		{"15 + 15 days", opioids(benzo("2024-03-01", 15), benzo("2024-04-01", 15)), "yes"},
		{"15 + 14 days", opioids(benzo("2024-03-01", 15), benzo("2024-04-01", 14)), "no"},
		{"15 + 15 days, of which one lies after", opioids(benzo("2024-03-01", 15), benzo("2024-04-16", 15)), "no"}, // 16 to 29 April are 14
		{"29 days, 10 of them twice", opioids(benzo("2024-03-01", 29), benzo("2024-03-10", 10)), "no"},
		{"one fill", opioids(benzo("2024-03-01", 60)), "no"},
		{"two fills on one day", opioids(benzo("2024-03-01", 30), benzo("2024-03-01", 40)), "no"},
		{"vector 8: 26 days", takes(append(vector7(t), benzo("2024-01-10", 30))...), "no"},
		{"an open one", opioids(benzo("2024-03-01", 5), open), "yes"}, // 1 to 4 March, then 5 March to 29 April of its 90 days
		{"what may be the second fill", opioids(benzo("2024-03-01", 28), prescription(t, drug.Unclassified, "2024-04-20", 5, 0)), "undecided"},
		{"what may be it, but not for long enough", opioids(benzo("2024-03-01", 24), prescription(t, drug.Unclassified, "2024-04-20", 5, 0)), "no"},
	})
}

func TestMonitoringVectors(t *testing.T) {
	long := func(days int, screens ...string) *Patient {
		p := takes(prescription(t, drug.Opioid, "2024-03-01", days, 20))
		for _, s := range screens {
			p.Series.Screens = append(p.Series.Screens, day(t, s))
		}
		return p
	}
	doubtful := long(89, "2024-05-01")
	doubtful.Series.Medications = append(doubtful.Series.Medications, prescription(t, drug.Unclassified, "2024-08-01", 1, 0))
	checkVectors(t, monitored, []alignedVector{
		{"89 days", long(89, "2024-05-01"), "not considered"}, {"90 days", long(90, "2024-05-01"), "yes"}, {"no screen", long(90), "no"},
		{"a screen on the first and last day", long(90, "2024-01-01"), "yes"}, {"on the last", long(90, "2024-12-31"), "yes"},
		{"a screen before, and one after", long(90, "2023-12-31", "2025-01-01"), "no"}, {"the 90th day may be one", doubtful, "undecided"},
	})
}

func TestHighImpactVectors(t *testing.T) {
	at := func(date string) int64 { return startOf(day(t, date)) + 12*60*60*1000 }
	answers := func(list ...series.Impact) *Patient {
		return &Patient{Born: -5000, Gender: Female, Series: &series.Series{Impacts: list}}
	}
	pain := func(date string, level series.Level) series.Impact {
		return series.Impact{At: at(date), Asks: series.Frequency, Level: level}
	}
	limits := func(date string, level series.Level) series.Impact {
		return series.Impact{At: at(date), Asks: series.Limits, Level: level}
	}
	scored := func(p *Patient, date string, score uint8) *Patient {
		p.Series.Scores = append(p.Series.Scores, series.Score{At: at(date), Kind: averageNRS, Value: score})
		return p
	}
	// 92 days up to 31 December begin on 1 October: 31 + 30 + 31.
	const some = series.Level(2)
	young := answers(pain("2024-12-01", 4), limits("2024-12-01", 4))
	young.Born = day(t, "2006-01-02")
	checkVectors(t, highImpact, []alignedVector{
		{"both on most days", answers(pain("2024-10-01", series.MostDays), limits("2024-12-01", series.MostDays)), "yes"},
		{"every day", answers(pain("2024-12-01", series.EveryDay), limits("2024-12-01", series.EveryDay)), "yes"},
		{"it limits on some days", answers(pain("2024-12-01", series.EveryDay), limits("2024-12-01", some)), "no"},
		{"pain on some days", answers(pain("2024-12-01", some), limits("2024-12-01", series.EveryDay)), "no"},
		{"the latest counts", answers(pain("2024-11-01", some), limits("2024-11-01", 4), pain("2024-12-01", 4)), "yes"},
		{"93 days ago", answers(pain("2024-09-30", 4), limits("2024-12-01", 4)), "undecided"},
		{"17 years", young, "excluded: under_18"},
		{"nothing at all", answers(), "not considered"},
		{"only scores", scored(answers(), "2024-12-01", 9), "undecided"},
	})
	checkVectors(t, highImpactProxy, []alignedVector{
		{"both answers", answers(pain("2024-12-01", 4), limits("2024-12-01", 4)), "not considered"},
		{"7 of 10", scored(answers(), "2024-10-01", 7), "yes"}, {"6 of 10", scored(answers(), "2024-10-01", 6), "no"},
		{"the score is 93 days old", scored(answers(), "2024-09-30", 9), "undecided"},
		{"one answer says it is seldom", scored(answers(limits("2024-12-01", some)), "2024-12-01", 9), "no"},
		{"one answer says it is often", scored(answers(limits("2024-12-01", 4)), "2024-12-01", 9), "yes"},
		{"one answer, no score", answers(limits("2024-12-01", 4)), "undecided"},
	})
}

// TestMeasureAsAnswered is one measure with all its numbers: 15 patients meet the
// conditions, 1 is under 18, 2 have cancer, of 1 the dose is not known, and of
// the other 11 there are 3 above 90 MME.
func TestMeasureAsAnswered(t *testing.T) {
	var patients []*Patient
	for i := range 15 {
		mme := 50.0
		if i < 3 {
			mme = 100
		}
		p := takes(prescription(t, drug.Opioid, "2024-03-01", 30, mme), prescription(t, drug.Opioid, "2024-05-01", 30, mme))
		switch i {
		case 11:
			p.Born = day(t, "2010-01-01")
		case 12, 13:
			p.Exempt.Add(pain.Cancer, 0)
		case 14:
			p.Series.Medications[0].Reason = 8
		}
		patients = append(patients, p)
	}
	got := population(t, year2024, patients...).Measures[highDose]
	is(t, "hdo", got, `{"id":"hdo","name":"Opioids at high dosage (HDO)","aligned":true,"proxy":false,"direction":"lower_is_better","definition":"hdo","denominator":"`+treatedWords+`",`+
		`"numerator":"average of 90 or more MME a day over the days of the period with a dose","considered":15,"exclusions":[{"reason":"under_18","count":1,"suppressed":false},`+
		`{"reason":"cancer","count":2,"suppressed":false},{"reason":"sickle_cell","count":0,"suppressed":false},{"reason":"palliative_care","count":0,"suppressed":false},`+
		`{"reason":"oud_treatment","count":0,"suppressed":false}],"undetermined":1,"not_recorded":null,"count":3,"n":11,"proportion":0.2727,"percent":27.27,`+
		`"ci95":{"low":0.0975,"high":0.5656},"unstable":false,"suppressed":false,"caveat":"`+MeasureCaveat+`"}`)
}

// Each measure is declared whole, and each exclusion has a name and words.
func TestEveryAlignedMeasureIsDeclared(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for i, m := range AlignedMeasures() {
		if m.ID == "" || m.Name == "" || m.Denominator == "" || m.Numerator == "" || seen[m.ID] {
			t.Errorf("measure %d is %+v", i, m)
		}
		if m.Direction != LowerIsBetter && (m.Direction != HigherIsBetter || i != monitored) {
			t.Errorf("%s: %s", m.ID, m.Direction)
		}
		seen[m.ID] = true
	}
	for why, name := range exclusionNames {
		if name == "" || ExclusionWords[name] == "" {
			t.Errorf("exclusion %d is %q, in words %q", why, name, ExclusionWords[name])
		}
		if !slices.ContainsFunc(crowdExclusions[:], func(list []exclusion) bool { return slices.Contains(list, exclusion(why)) }) {
			t.Errorf("%s is possible in no crowd", name)
		}
	}
	if len(ExclusionWords) != int(exclusions) {
		t.Errorf("%d words for %d exclusions", len(ExclusionWords), exclusions)
	}
}
