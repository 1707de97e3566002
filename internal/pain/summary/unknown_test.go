package summary

import (
	"testing"

	"anodyne.example/anodyne/internal/pain/drug"
)

// An unclassified medicine may be an opioid of any dose, a benzodiazepine, a
// gabapentinoid or naloxone.
func TestUnclassified(t *testing.T) {
	// 10 mg x 90 / 30 days x 1.5 = 45 MME; 25 mcg/h x 2.4 = 60; 40 mg x 4.7 = 188.
	oxycodone := medicineLine("2024-06-20", `{"name":"oxycodone","strength":10,"strength_unit":"mg","quantity":90,"days_supply":30}`)
	patch := medicineLine("2024-06-20", `{"name":"fentanyl","route":"transdermal","strength":25,"strength_unit":"mcg/h","quantity":10,"days_supply":30}`)
	methadone := medicineLine("2024-06-20", `{"name":"methadone","dose":40,"dose_unit":"mg","frequency":"QD","days_supply":30}`)
	lorazepam := medicineLine("2024-06-20", `{"name":"lorazepam","days_supply":30}`)
	naloxone := medicineLine("2024-06-20", `{"name":"naloxone"}`)
	unknown := medicineLine("2024-06-20", `{"name":"Zzyzx 100 mg","strength":100,"strength_unit":"mg","quantity":90,"days_supply":30}`)
	another := medicineLine("2024-06-25", `{"name":"Qorvexin"}`)
	over := medicineLine("2024-03-01", `{"name":"Zzyzx","days_supply":10}`)
	stated := medicineLine("2024-06-20", `{"name":"Zzyzx","drug_class":"other","days_supply":30}`)
	for _, c := range []struct {
		name, current, band, peak, ge50, ge90, benzo, gaba, gap, reasons string
		lines                                                            []string
	}{
		{"it alone", "null", "unknown", "null", "null", "null", "false", "false", "null", `["unclassified_medicine"]`, []string{unknown}},
		{"two of them", "null", "unknown", "null", "null", "null", "null", "null", "null", `["unclassified_medicine"]`, []string{unknown, another}},
		{"with 45 MME", "45", "unknown", "45", "null", "null", "null", "null", "null", `["unclassified_medicine"]`, []string{oxycodone, unknown}},
		{"with 60 MME", "60", "unknown", "60", "true", "null", "null", "null", "null", `["unclassified_medicine"]`, []string{patch, unknown}},
		{"with 188 MME", "188", ">=90", "188", "true", "true", "null", "null", "null", `["unclassified_medicine"]`, []string{methadone, unknown}},
		{"with a benzodiazepine", "null", "unknown", "null", "null", "null", "null", "false", "null", `["unclassified_medicine"]`, []string{lorazepam, unknown}},
		{"with naloxone", "null", "unknown", "null", "null", "null", "false", "false", "false", `["unclassified_medicine"]`, []string{naloxone, unknown}},
		{"long before", "45", "20-<50", "45", "false", "false", "false", "false", "false", `["unclassified_medicine"]`, []string{oxycodone, over}},
		{"long before, and it may have been naloxone", "60", "50-<90", "60", "true", "false", "false", "false", "null", `["unclassified_medicine"]`, []string{patch, over}},
		{"stated to be another", "0", "0", "0", "false", "false", "false", "false", "false", `[]`, []string{stated}},
		{"and all is known", "105", ">=90", "105", "true", "true", "true", "false", "true", `[]`, []string{oxycodone, patch, lorazepam}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := of(t, chart(t, c.lines...), "2024-06-30")
			is(t, "current", s.MME.Current, c.current)
			if s.MME.CurrentBand == nil || *s.MME.CurrentBand != c.band {
				t.Errorf("the band is %s, want %s", shown(t, s.MME.CurrentBand), c.band)
			}
			is(t, "peak", s.MME.Peak, c.peak)
			for flag, want := range map[string]string{"ge_50": c.ge50, "ge_90": c.ge90, "opioid_benzo_overlap": c.benzo, "opioid_gabapentinoid_overlap": c.gaba, "naloxone_gap": c.gap} {
				is(t, flag, flagNamed(t, s, flag).Active, want)
			}
			is(t, "reasons", s.MME.IncompleteReasons, c.reasons)
			if s.MME.Incomplete != (c.reasons != "[]") {
				t.Errorf("incomplete is %v", s.MME.Incomplete)
			}
		})
	}
}

// The days of an unclassified medicine have no total, and those of an opioid
// beside it at least its own.
func TestUnclassifiedDays(t *testing.T) {
	// 30 mg x 2 = 60 MME from the 1st to the 30th; what is unknown from the 21st
	// to February 4th.
	c := chart(t, vector7[0], medicineLine("2024-01-21", `{"name":"Zzyzx","days_supply":15}`))
	m := of(t, c, "2024-02-10").MME
	is(t, "timeline", m.Timeline, `[{"from":"2024-01-01","to":"2024-01-20","mme":60,"incomplete":false,"assumed":false},{"from":"2024-01-21","to":"2024-01-30","mme":60,"incomplete":true,"assumed":false},`+
		`{"from":"2024-01-31","to":"2024-02-04","mme":null,"incomplete":true,"assumed":false}]`)
	is(t, "numbers", []any{m.Current, m.CurrentBand, m.Peak, m.Average, m.CoveredDays, m.DaysFrom50, m.DaysFrom90, m.Incomplete}, `[0,"0",60,60,30,30,0,true]`)
	on := of(t, c, "2024-02-04").MME
	is(t, "on its last day", []any{on.Current, on.CurrentBand}, `[null,"unknown"]`)
}

func TestStewardshipOfTheUnclassified(t *testing.T) {
	c := chart(t, medicineLine("2024-06-20", `{"name":"Zzyzx","days_supply":30,"prescriber_id":"a"}`), medicineLine("2024-06-20", `{"name":"Zzyzx","days_supply":30,"prescriber_id":"b"}`))
	day := drug.Day(19904) // 2024-06-30
	o, err := OpioidsOver(c, drug.Span{First: day - 99, Last: day})
	if err != nil {
		t.Fatal(err)
	}
	is(t, "it", []any{o.Exposed, o.Current, o.Unclassified, o.MME, o.Band, o.MMEIncomplete, o.Incomplete, o.Days, o.MostDays, o.Prescribers, o.MostPrescribers, o.Overlap, o.NaloxoneGap},
		`[null,null,["Zzyzx"],null,"unknown",true,true,0,11,0,2,null,null]`)
	later, err := OpioidsOver(c, drug.Span{First: day + 100, Last: day + 200})
	if err != nil {
		t.Fatal(err)
	}
	is(t, "later", []any{later.Exposed, later.Current, later.MME, later.Band, later.Incomplete}, `[false,false,0,"0",false]`)
}

// Before its first day the dose may have been as high: the medicine of that time
// is not understood. It is so long ago that the figures of the year are complete.
func TestSinceMayBeEarlier(t *testing.T) {
	high := `{"name":"morphine 30 mg","dose":60,"dose_unit":"mg","doses_per_day":2,"end_date":"2024-06-30"}` // 120 MME
	s := of(t, chart(t, medicineLine("2023-01-01", `{"name":"Zzyzx","end_date":"2023-02-28"}`), medicineLine("2023-03-01", high)), "2024-06-30")
	is(t, "unknown before", []any{s.MME.Incomplete, flagNamed(t, s, "ge_90").Since, flagNamed(t, s, "ge_90").Basis["since_incomplete"]}, `[false,"2023-03-01",true]`)
	s = of(t, chart(t, medicineLine("2023-01-01", `{"name":"Zzyzx","end_date":"2023-02-27"}`), medicineLine("2023-03-01", high)), "2024-06-30")
	is(t, "a day between", flagNamed(t, s, "ge_90").Basis["since_incomplete"], `false`)
	s = of(t, chart(t, medicineLine("2023-01-01", `{"name":"Zzyzx","end_date":"2023-03-05"}`), medicineLine("2023-03-01", high)), "2024-06-30")
	is(t, "both for some days", []any{flagNamed(t, s, "ge_90").Since, flagNamed(t, s, "ge_90").Basis["since_incomplete"]}, `["2023-03-01",true]`)
}
