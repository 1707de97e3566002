package report

import (
	"math/rand/v2"
	"testing"
	"time"

	"anodyne/internal/analytics"
	"anodyne/internal/fault"
	"anodyne/internal/pain"
	"anodyne/internal/pain/drug"
	"anodyne/internal/pain/series"
)

// people makes patients who get better, some of them with opioids. They are
// the same each time.
func people(n int) []analytics.Patient {
	random := rand.New(rand.NewPCG(1, 2))
	start := time.Date(2025, 1, 16, 8, 0, 0, 0, time.UTC)
	list := make([]analytics.Patient, n)
	for i := range list {
		s := &series.Series{}
		at := start.AddDate(0, 0, random.IntN(120))
		level := 5 + 5*random.Float64()
		for range 4 + random.IntN(14) {
			s.Scores = append(s.Scores, series.Score{At: at.UnixMilli(), Kind: series.Kind{Scale: 1, Aspect: series.Average}, Value: uint8(min(max(level+random.NormFloat64(), 0), 10))})
			at = at.AddDate(0, 0, 3+random.IntN(24))
			level *= 0.93
		}
		for k := range 2 {
			at := start.AddDate(0, 0, 20+k*90+random.IntN(20))
			s.Assessments = append(s.Assessments, series.Assessment{At: at.UnixMilli(), Instrument: series.InstrumentOf("peg"), Status: 1, Score: series.Value{Number: float64(random.IntN(8)) + float64(2-2*k), Known: true}})
			if i%3 == 0 {
				s.Procedures = append(s.Procedures, series.Procedure{At: at.UnixMilli(), Type: series.ProcedureType(1 + random.IntN(4)), Pre: series.Value{Number: 7, Known: true}, Post: series.Value{Number: 4, Known: true}})
			}
		}
		first := pain.DateOf(start).DayNumber() + drug.Day(random.IntN(200))
		for k := range 3 {
			class := series.Class(3 + random.IntN(6))
			m := series.Medication{Span: drug.Span{First: first, Last: first + 60}, Class: class, Status: 1}
			if i%3 == 0 && k == 0 {
				m.Class, m.Ingredient, m.MME = series.ClassOf(drug.Opioid), 6, float64(10*(1+random.IntN(13)))
			}
			s.Medications = append(s.Medications, m)
		}
		s.Sort()
		list[i] = analytics.Patient{Born: drug.Day(random.IntN(21_000) - 10_000), Gender: analytics.Gender(min(random.IntN(5), 3)), Codes: []string{"M54.50"}, Series: s}
		if list[i].Gender == analytics.OtherGender && i%4 != 0 {
			list[i].Gender = analytics.Female
		}
	}
	return list
}

func params(t testing.TB, r analytics.Request) *analytics.Params {
	t.Helper()
	var fields fault.Fields
	p := r.Params(pain.DateOf(asOf), &fields)
	if err := fields.Err(); err != nil {
		t.Fatal(err)
	}
	return &p
}

func outcomes(t testing.TB, n int, r analytics.Request) *Outcomes {
	tally := analytics.NewOutcomesTally(params(t, r))
	for _, p := range people(n) {
		tally.Add(&p)
	}
	return &Outcomes{Head: head(), Result: tally.Result(asOf)}
}

func population(t testing.TB, n int, r analytics.Request) *Population {
	tally := analytics.NewPopulationTally(params(t, r))
	for _, p := range people(n) {
		tally.Add(&p)
	}
	return &Population{Head: head(), Result: tally.Result(asOf)}
}

func TestOutcomes(t *testing.T) {
	written(t, "outcomes", outcomes(t, 300, analytics.Request{}))
}

func TestPopulation(t *testing.T) {
	written(t, "population", population(t, 300, analytics.Request{}))
}
