package analytics

import (
	"encoding/json"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

var now = time.Date(2024, time.December, 31, 12, 0, 0, 0, time.UTC)

// ask checks a valid request as of the last day of 2024.
func ask(t testing.TB, r Request) *Params {
	t.Helper()
	var fields fault.Fields
	p := r.Params(pain.DateOf(now), &fields)
	if err := fields.Err(); err != nil {
		t.Fatal(err)
	}
	return &p
}

func day(t testing.TB, date string) drug.Day {
	t.Helper()
	d, err := pain.ParseDate(date)
	if err != nil {
		t.Fatal(err)
	}
	return d.DayNumber()
}

// point is a score on 0 to 10.
type point struct {
	at    int64
	score float64
}

var averageNRS = series.Kind{Scale: 1, Aspect: series.Average}

// scores are average pain of 0 to 10 at noon, each so many days after the
// second of January of 2024, the first of the last 365.
func scores(list ...int) *Patient {
	var s series.Series
	first := time.Date(2024, time.January, 2, 12, 0, 0, 0, time.UTC).UnixMilli()
	for i := 0; i < len(list); i += 2 {
		s.Scores = append(s.Scores, series.Score{At: first + int64(list[i])*millisecondsPerDay, Kind: averageNRS, Value: uint8(list[i+1])})
	}
	return &Patient{Born: -5000, Gender: Female, Series: &s}
}

// prescription is a medicine for some days.
func prescription(t testing.TB, class drug.Class, from string, days int, mme float64) series.Medication {
	first := day(t, from)
	return series.Medication{Span: drug.Span{First: first, Last: first + drug.Day(days) - 1}, Class: series.ClassOf(class), MME: mme}
}

func takes(medications ...series.Medication) *Patient {
	return &Patient{Born: -5000, Gender: Female, Series: &series.Series{Medications: medications}}
}

func outcomes(t testing.TB, r Request, patients ...*Patient) *Outcomes {
	t.Helper()
	q := ask(t, r)
	return outcomesTally(q, patients).ResultAgainst(outcomesTally(q.Earlier(), patients), now)
}

func population(t testing.TB, r Request, patients ...*Patient) *Population {
	t.Helper()
	q := ask(t, r)
	return populationTally(q, patients).ResultAgainst(populationTally(q.Earlier(), patients), now)
}

// outcomesTally and populationTally count patients; nil for no parameters.
func outcomesTally(q *Params, patients []*Patient) *OutcomesTally {
	if q == nil {
		return nil
	}
	tally := NewOutcomesTally(q)
	for _, p := range patients {
		tally.Add(p)
	}
	return tally
}

func populationTally(q *Params, patients []*Patient) *PopulationTally {
	if q == nil {
		return nil
	}
	tally := NewPopulationTally(q)
	for _, p := range patients {
		tally.Add(p)
	}
	return tally
}

// is compares the JSON form of what came out.
func is(t testing.TB, what string, got any, want string) {
	t.Helper()
	b, err := json.Marshal(got)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if string(b) != want {
		t.Errorf("%s is\n%s, want\n%s", what, b, want)
	}
}

// near compares numbers but for the noise of binary fractions.
func near(t testing.TB, what string, got, want, within float64) {
	t.Helper()
	if d := got - want; !(d <= within && d >= -within) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}
