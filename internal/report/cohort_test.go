package report

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/figure"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
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
	d := outcomes(t, 300, analytics.Request{})
	file := written(t, "outcomes", d)
	tidy(t, file)
	text := strings.Join(pages(t, file), " ")
	r := d.Result
	says(t, text, "Outcomes", "of 300 patients", "Pain at follow-up after 90 days (± 30)", "Cohort", "missing: due, without a score in the window", "Trend", "severe ≥ 7",
		"Time to response", fmt.Sprintf("median: day %d", *r.TimeToResponse.MedianDays), "at risk", "Questionnaires", "PEG 300", "Before and after procedures", "epidural steroid",
		"Uncontrolled: patients are compared with themselves", "Before and after a class of medicines began", "Definitions", "nothing is carried forward",
		"30 % improvement or more", figure.OfN(&r.Response.Responder30), figure.OfN(&r.Response.NonresponderImputation.Responder50),
		figure.Decimal(*r.FollowUp.Change.Mean), interval(r.FollowUp.Change.CI95), percentInterval(&r.Response.Responder30))
	if strings.Contains(text, "…") {
		t.Error("something is shortened")
	}
}

func TestPopulation(t *testing.T) {
	d := population(t, 300, analytics.Request{})
	file := written(t, "population", d)
	tidy(t, file)
	text := strings.Join(pages(t, file), " ")
	r := d.Result
	says(t, text, "Population health", "ACTIVE PATIENTS", "of 300 patients", "In words", "Severity of pain", "none", "mild", "moderate", "severe", "n = 300", "Age at the end of the period", "45-64", "Gender", "female",
		"50 MME", "90 MME", "peak: the highest single day (definition 4)", figure.OfN(&r.Opioids.AtLeast50), figure.Share(&r.Opioids.AtLeast90), "naloxone coverage", "MME is for risk assessment",
		"Patients with a medicine of the class", "NSAID", "Differences between groups", "difference in percentage points", "reference,", "aligned, not certified")
	for _, in := range r.Insights {
		says(t, text, strings.Join(strings.Fields(in.Text)[:5], " "))
	}
	if strings.Contains(text, "…") {
		t.Error("something is shortened")
	}
}

// TestOfFew is about cohorts with no results, or none that may be shown.
func TestOfFew(t *testing.T) {
	for _, c := range []struct {
		name string
		n    int
		r    analytics.Request
		want string
	}{
		{"nobody", 0, analytics.Request{}, "no patients match"},
		{"one", 1, analytics.Request{}, "of 1 patients"},
		{"hidden", 20, analytics.Request{MinCellSize: "11"}, "hidden"},
		{"by day", 30, analytics.Request{Interval: "day"}, "of 30 patients"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, d := range map[string]document{"outcomes": outcomes(t, c.n, c.r), "population": population(t, c.n, c.r)} {
				file := written(t, name+"-"+c.name, d)
				tidy(t, file)
				text := strings.Join(pages(t, file), " ")
				says(t, text, c.want)
				if strings.Contains(text, "NaN") || strings.Contains(text, "%!") {
					t.Error(text)
				}
			}
		})
	}
}

// Under min_cell_size what is hidden is in no word of the document.
func TestHiddenStaysHidden(t *testing.T) {
	d := population(t, 60, analytics.Request{MinCellSize: "11"})
	for _, g := range d.Result.AgeBands.Groups {
		if g.Suppressed != (g.Count == nil) {
			t.Fatalf("%+v", g)
		}
	}
	text := strings.Join(pages(t, written(t, "hidden", d)), " ")
	for _, g := range d.Result.AgeBands.Groups {
		if g.Suppressed {
			says(t, text, g.Group+" "+figure.Hidden)
		}
	}
}
