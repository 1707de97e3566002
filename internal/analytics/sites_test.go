package analytics

import (
	"testing"

	"anodyne.example/anodyne/internal/pain/series"
)

var (
	leftKnee  = series.Kind{Scale: 1, Aspect: series.Average, Site: 20, Side: 1}
	rightKnee = series.Kind{Scale: 1, Aspect: series.Average, Site: 20, Side: 2}
	lowerBack = series.Kind{Scale: 1, Aspect: series.Average, Site: 13}
)

// A patient is compared within one site and side: that with the most scores at
// baseline, then the worst. The index date is that of the patient, by all sites.
func TestSitesAndSidesApart(t *testing.T) {
	for _, c := range []struct {
		name    string
		patient *Patient
		want    string // where, baseline, follow-up, responders, and the median day of response
	}{
		// Together they would be 8 -> 2. The right knee has 2 scores at baseline,
		// (8 + 6) / 2 = 7, and 7 after: no response.
		{"the sides of a knee", join(at(scores(0, 9, 90, 2), leftKnee), at(scores(-1, 8, 0, 6, 90, 7), rightKnee)), `["knee, right",7,7,0,null]`},
		// One score each: the left, 9, is the worse, and falls by 7 of 9 on day 90.
		{"the worse of two", join(at(scores(0, 9, 90, 2), leftKnee), at(scores(0, 6, 30, 7, 90, 7), rightKnee)), `["knee, left",9,2,1,90]`},
		// 2 scores with mean 5 go before 1 score of 9.
		{"more before worse", join(at(scores(0, 9, 90, 2), leftKnee), at(scores(0, 4, 0, 6, 90, 3), rightKnee)), `["knee, right",5,3,1,90]`},
		// One score of 6 each: the first in the order of sites.
		{"neither more nor worse", join(at(scores(0, 6, 90, 2), leftKnee), at(scores(0, 6, 90, 3), lowerBack)), `["lower back",6,3,1,90]`},
		// What begins later has no score at baseline, however many follow.
		{"later and often", join(at(scores(0, 4, 90, 4), leftKnee), at(scores(1, 9, 1, 9, 1, 9, 90, 1), rightKnee)), `["knee, left",4,4,0,null]`},
		// The index date is day 0, by the left knee. The right one has 3 scores in
		// the 14 days up to it, mean 7, all before the period, and one in it on day
		// 20; the window is 60 to 120 days after day 0.
		{"a baseline before the period", join(at(scores(0, 9), leftKnee), at(scores(-13, 6, -12, 7, -11, 8, 20, 4, 120, 3), rightKnee)), `["knee, right",7,3,1,20]`},
		// Scores of the baseline count only for what is scored in the period too.
		{"none in the period", join(at(scores(0, 9, 90, 5), leftKnee), at(scores(-13, 6, -12, 7), rightKnee)), `["knee, left",9,5,1,90]`},
		// 14 days before the index date is too early: 1 score against 1.
		{"14 days before", join(at(scores(0, 5, 90, 5), leftKnee), at(scores(-14, 9, 0, 4, 90, 1), rightKnee)), `["knee, left",5,5,0,null]`},
		{"no site", scores(0, 5, 90, 5), `["not stated",5,5,0,null]`},
	} {
		for range 2 { // by the series, then by its gist
			out := outcomes(t, Request{}, c.patient)
			sites := out.Cohort.BySite.Groups
			if sites[0].Group != "not stated" || len(sites) != 1+1-*sites[0].Count {
				t.Fatalf("%s: %+v", c.name, sites)
			}
			is(t, c.name, []any{sites[len(sites)-1].Group, out.Baseline.Mean, out.FollowUp.Pain.Mean, out.Response.Responder30.Count, out.TimeToResponse.MedianDays}, c.want)
			c.patient.Gist = new(Gist)
			GistOf(c.patient.Series, c.patient.Gist)
		}
	}
}

// The answer says where the pain of how many is, in the order of sites.
func TestSitesAreCounted(t *testing.T) {
	out := outcomes(t, Request{}, at(scores(0, 5), rightKnee), at(scores(0, 5), leftKnee), at(scores(0, 6), rightKnee), scores(0, 6), at(scores(0, 6), lowerBack), scores())
	is(t, "sites", out.Cohort.BySite, `{"definition":"primary_outcome_site","denominator":"`+ofScored+`","n":5,"groups":[`+
		`{"group":"not stated","count":1,"percent":20,"suppressed":false},{"group":"lower back","count":1,"percent":20,"suppressed":false},`+
		`{"group":"knee, left","count":1,"percent":20,"suppressed":false},{"group":"knee, right","count":2,"percent":40,"suppressed":false}],"suppressed":false}`)
	is(t, "nobody", outcomes(t, Request{}).Cohort.BySite.Groups, `[{"group":"not stated","count":0,"percent":null,"suppressed":false}]`)
}

// Every site and side has a name of its own.
func TestPlacesHaveNames(t *testing.T) {
	seen := map[string]int{}
	for place := range placeCodes {
		if series.Site(place/sideCodes).String() == "" && place >= sideCodes || series.Side(place%sideCodes).String() == "" && place%sideCodes > 0 {
			continue // no such
		}
		seen[placeName(place)]++
	}
	if len(seen) != 26*5 || seen["knee, left"] != 1 || seen["not stated"] != 1 || seen["not stated, bilateral"] != 1 || seen["other"] != 1 {
		t.Errorf("%d places: %v", len(seen), seen)
	}
}

// hours is a score of average pain at an hour of the day, so many days after the
// second of January; after says by its context that it follows a procedure.
func hours(day, hour, value int, after bool) series.Score {
	at := startOf(19724) + int64(day)*millisecondsPerDay + int64(hour)*3600_000
	return series.Score{At: at, Kind: averageNRS, Value: uint8(value), After: after}
}

// A score after a procedure on its day is not before it, where both times of day
// are known; nor is one that is recorded as after a procedure. Midnight is a time
// of day that is not known.
func TestSameDayTreatment(t *testing.T) {
	for _, c := range []struct {
		name      string
		procedure int // the hour on day 20
		scores    []series.Score
		want      string // no baseline, before, after
	}{
		{"before it", 10, []series.Score{hours(20, 9, 8, false)}, `[0,8,4]`},
		{"at its time", 10, []series.Score{hours(20, 10, 8, false)}, `[0,8,4]`},
		{"after it", 10, []series.Score{hours(20, 15, 2, false)}, `[1,null,null]`},
		{"both: 8, not (8 + 2) / 2", 10, []series.Score{hours(20, 9, 8, false), hours(20, 15, 2, false)}, `[0,8,4]`},
		{"both, and days before: (8 + 7) / 2", 10, []series.Score{hours(7, 9, 7, false), hours(20, 9, 8, false), hours(20, 15, 2, false)}, `[0,7.5,4]`},
		{"after it, else the nearest of 30 days", 10, []series.Score{hours(1, 9, 6, false), hours(5, 9, 7, false), hours(20, 15, 2, false)}, `[0,7,4]`},
		{"the procedure's time is not known: (8 + 2) / 2", 0, []series.Score{hours(20, 9, 8, false), hours(20, 15, 2, false)}, `[0,5,4]`},
		{"the score's time is not known", 10, []series.Score{hours(20, 0, 2, false)}, `[0,2,4]`},
		{"by its context", 10, []series.Score{hours(20, 9, 2, true)}, `[1,null,null]`},
		{"by its context, without times", 0, []series.Score{hours(20, 0, 8, false), hours(20, 0, 2, true)}, `[0,8,4]`},
		{"after another procedure, by its context: 7, not (7 + 1) / 2", 10, []series.Score{hours(12, 9, 7, false), hours(15, 9, 1, true)}, `[0,7,4]`},
		{"the nearest is not one after a procedure", 10, []series.Score{hours(1, 9, 6, false), hours(3, 9, 1, true)}, `[0,6,4]`},
		{"the day after is after", 10, []series.Score{hours(21, 0, 3, false)}, `[1,null,null]`},
	} {
		// Another kind of the same aspect makes the period decide.
		for _, more := range [][]series.Score{nil, {{At: startOf(19724 + 300), Kind: lowerBack, Value: 1}}} {
			s := &series.Series{Scores: append(append(c.scores[:len(c.scores):len(c.scores)], hours(110, 9, 4, false)), more...)}
			s.Procedures = []series.Procedure{
				{At: startOf(19724+20) + int64(c.procedure)*3600_000, Type: 5}, {At: startOf(19724+20) + 23*3600_000, Type: 5}, // of a day the first counts
			}
			out := outcomes(t, Request{}, &Patient{Born: -5000, Series: s})
			got := out.Procedures[0]
			is(t, c.name, []any{got.NoBaseline.Count, got.Before.Mean, got.After.Mean}, c.want)
		}
	}
}

// A score after a procedure, by its context, is a follow-up like any other.
func TestAfterAProcedureIsAFollowUp(t *testing.T) {
	s := &series.Series{Scores: []series.Score{hours(20, 9, 8, false), hours(110, 9, 2, true)}}
	s.Procedures = []series.Procedure{{At: startOf(19724+20) + 10*3600_000, Type: 5}}
	got := outcomes(t, Request{}, &Patient{Born: -5000, Series: s}).Procedures[0]
	is(t, "after", []any{got.Before.Mean, got.After.Mean}, `[8,2]`)
}

// Medicines have days only: all scores of the first day count as before.
func TestSameDayMedicine(t *testing.T) {
	s := &series.Series{Scores: []series.Score{hours(20, 9, 8, false), hours(20, 15, 2, false), hours(20, 16, 0, true), hours(110, 9, 4, false)}}
	s.Medications = []series.Medication{prescription(t, "nsaid", "2024-01-22", 10, 0)}
	got := outcomes(t, Request{}, &Patient{Born: -5000, Series: s}).MedicationClasses[0]
	is(t, "before", []any{got.Before.Mean, got.After.Mean}, `[5,4]`) // (8 + 2) / 2
}

// Of scores at the same time, the last in the series is the latest and the
// first the earliest: the series is ordered by identifier.
func TestTiesAreInOrder(t *testing.T) {
	for _, values := range [][2]int{{2, 8}, {8, 2}} {
		first, last := values[0], values[1]
		s := &series.Series{Scores: []series.Score{hours(0, 9, 8, false), hours(90, 9, first, false), hours(90, 9, last, false)}}
		p := &Patient{Born: -5000, Series: s}
		is(t, "the earlier is the follow-up", outcomes(t, Request{}, p).FollowUp.Pain.Mean, string(rune('0'+first)))
		band := map[int]int{2: 1, 8: 3}[last] // mild, severe
		is(t, "the latest is the severity", population(t, Request{}, p).Severity.Bands.Groups[band].Count, `1`)
	}
}
