package analytics

import (
	"slices"
	"strconv"

	"pgregory.net/rapid"

	"anodyne/internal/pain/drug"
	"anodyne/internal/pain/series"
)

// The random patients live in the two years before the end of 2024.
const lastDay = drug.Day(20088) // 2024-12-31

func drawAt(t *rapid.T) int64 {
	return startOf(lastDay-rapid.Custom(func(t *rapid.T) drug.Day { return drug.Day(rapid.IntRange(-20, 700).Draw(t, "day")) }).Draw(t, "ago")) +
		int64(rapid.IntRange(0, 1439).Draw(t, "minute"))*60_000
}

func drawValue(t *rapid.T) series.Value {
	return series.Value{Number: float64(rapid.IntRange(0, 30).Draw(t, "number")) / 3, Known: rapid.IntRange(0, 4).Draw(t, "known") > 0}
}

var aPatient = rapid.Custom(func(t *rapid.T) *Patient {
	s := &series.Series{}
	kinds := []series.Kind{averageNRS, {Scale: 1, Aspect: series.Current}, {Scale: 2, Aspect: series.Average}, {Scale: 1, Aspect: series.Average, Site: 20}, {Scale: 3, Aspect: series.Average}, {Scale: 1, Aspect: 3}}
	for range rapid.IntRange(0, 20).Draw(t, "scores") {
		e := series.Score{At: drawAt(t), Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Value: uint8(rapid.IntRange(0, 10).Draw(t, "value"))}
		s.Scores = append(s.Scores, e)
	}
	for range rapid.IntRange(0, 5).Draw(t, "assessments") {
		s.Assessments = append(s.Assessments, series.Assessment{At: drawAt(t), Instrument: rapid.SampledFrom([]series.Instrument{1, 5, 6, 6, 12}).Draw(t, "instrument"), Score: drawValue(t)})
	}
	for range rapid.IntRange(0, 3).Draw(t, "procedures") {
		s.Procedures = append(s.Procedures, series.Procedure{At: drawAt(t), Type: series.ProcedureType(rapid.IntRange(1, 3).Draw(t, "type")), Pre: drawValue(t), Post: drawValue(t)})
	}
	for range rapid.IntRange(0, 4).Draw(t, "medications") {
		first := dayOf(drawAt(t))
		m := series.Medication{Span: drug.Span{First: first, Last: first + drug.Day(rapid.IntRange(0, 120).Draw(t, "days"))},
			Open: rapid.IntRange(0, 5).Draw(t, "open") == 0, Class: rapid.SampledFrom([]series.Class{1, 1, 1, 2, 3, 4, 9}).Draw(t, "class"), Status: series.MedicationStatus(rapid.SampledFrom([]int{0, 1, 4, 6}).Draw(t, "status"))}
		if m.Class == opioid {
			m.Reason = series.Reason(rapid.SampledFrom([]int{0, 0, 0, 1, 8}).Draw(t, "reason"))
			if m.Reason == 0 {
				m.MME = float64(rapid.IntRange(1, 12).Draw(t, "mme")) * 10
			}
		}
		if m.Class == 9 {
			m.Ingredient = naloxone
		}
		s.Medications = append(s.Medications, m)
	}
	s.Sort()
	return &Patient{
		Born: drug.Day(rapid.IntRange(-15000, 19000).Draw(t, "born")), Gender: Gender(rapid.IntRange(0, int(genders)-1).Draw(t, "gender")), Series: s,
		Codes: rapid.SliceOfN(rapid.SampledFrom([]string{"M54.50", "M54.2", "G89.29", "C50.911", "C97", "D57.1", "Z51.5"}), 0, 2).Draw(t, "codes"),
	}
})

var somePatients = rapid.SliceOfN(aPatient, 0, 40)

var aRequest = rapid.Custom(func(t *rapid.T) Request {
	word := func(name string, words ...string) string { return rapid.SampledFrom(words).Draw(t, name) }
	start := lastDay - drug.Day(rapid.IntRange(0, 700).Draw(t, "start"))
	end := start + drug.Day(rapid.IntRange(0, 720).Draw(t, "length"))
	r := Request{StartDate: dateOf(start), EndDate: dateOf(end), Interval: word("interval", "", "day", "week", "month"), FollowUp: word("follow_up", "", "30", "90", "180", "365"),
		Gender: word("gender", "", "", "", "male", "unknown"), Condition: word("condition", "", "", "", "M54", "G", "C50.9"), MedicationClass: word("class", "", "", "", "opioid", "nsaid")}
	if rapid.IntRange(0, 3).Draw(t, "ages") == 0 {
		ages := []int{rapid.IntRange(0, 90).Draw(t, "a"), rapid.IntRange(0, 90).Draw(t, "b")}
		slices.Sort(ages)
		r.AgeMin, r.AgeMax = strconv.Itoa(ages[0]), strconv.Itoa(ages[1])
	}
	return r
})
