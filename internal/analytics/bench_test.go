package analytics

import (
	"math/rand/v2"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

const (
	benchPatients = 100_000
	benchScores   = 50 // each
)

// benchPatient is a patient with its series, packed one after the other as
// the cohort keeps them.
type benchPatient struct {
	born   drug.Day
	gender Gender
	codes  []string
	packed [][]byte // a year each
}

// benchCohort is patients with 5 million scores over two years, of whom every
// third takes an opioid.
func benchCohort() []benchPatient {
	random := rand.New(rand.NewPCG(1, 2))
	start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli() / 60_000
	codes := [][]string{{"M54.50"}, {"G89.29", "M79.7"}, {"C50.911"}, nil}
	patients := make([]benchPatient, benchPatients)
	packed := make([]byte, 0, benchPatients*benchScores*8)
	for i := range patients {
		years := map[int]*series.Series{}
		year := func(at int64) *series.Series {
			y := series.YearOf(time.UnixMilli(at))
			if years[y] == nil {
				years[y] = &series.Series{}
			}
			return years[y]
		}
		kind := series.Kind{Scale: 1, Aspect: series.Average}
		minute := start + random.Int64N(365*1440)
		for range benchScores {
			at := minute * 60_000
			minute += 1 + random.Int64N(14*1440)
			if random.IntN(10) == 0 {
				kind.Aspect = series.Current + series.Aspect(random.IntN(2))
			}
			s := year(at)
			s.Scores = append(s.Scores, series.Score{At: at, Kind: kind, Value: uint8(random.IntN(11))})
		}
		for n := range 4 {
			at := (start + random.Int64N(700*1440)) * 60_000
			s := year(at)
			s.Assessments = append(s.Assessments, series.Assessment{At: at, Instrument: series.InstrumentOf("peg"), Status: 1, Score: series.Value{Number: float64(random.IntN(31)) / 3, Known: true}})
			if n == 0 && i%2 == 0 {
				s.Procedures = append(s.Procedures, series.Procedure{At: at, Type: series.ProcedureType(1 + random.IntN(14))})
			}
			class := series.Class(2 + random.IntN(9))
			if i%3 == 0 {
				class = opioid
			}
			first := dayOf(at)
			s.Medications = append(s.Medications, series.Medication{Span: drug.Span{First: first, Last: first + 29}, Class: class, Ingredient: 6, Status: 1, MME: float64(10 * (1 + random.IntN(10)))})
		}
		p := &patients[i]
		p.born, p.gender, p.codes = drug.Day(random.IntN(20_000)-10_000), Gender(random.IntN(int(genders))), codes[random.IntN(len(codes))]
		for y := 2024; y < 2030; y++ {
			if s := years[y]; s != nil {
				s.Sort()
				from := len(packed)
				packed = s.Encode(packed)
				p.packed = append(p.packed, packed[from:])
			}
		}
	}
	return patients
}

// tally is either of the two.
type tally interface{ Add(*Patient) }

// scan runs a tally over a cohort, as the cohort does on each core.
func scan(tb testing.TB, cohort []benchPatient, to tally) {
	var s series.Series
	var patient Patient
	for i := range cohort {
		p := &cohort[i]
		s.Scores, s.Assessments, s.Procedures, s.Medications = s.Scores[:0], s.Assessments[:0], s.Procedures[:0], s.Medications[:0]
		for _, packed := range p.packed {
			if err := s.Decode(packed); err != nil {
				tb.Fatal(err)
			}
		}
		patient = Patient{Born: p.born, Gender: p.gender, Codes: p.codes, Series: &s}
		to.Add(&patient)
	}
}

type nothing struct{}

func (nothing) Add(*Patient) {}

func benchParams(tb testing.TB, r Request) *Params {
	var fields fault.Fields
	p := r.Params(pain.Date{Year: 2025, Month: time.June, Day: 30}, &fields)
	if err := fields.Err(); err != nil {
		tb.Fatal(err)
	}
	return &p
}

// BenchmarkScan is 100,000 patients with 5 million scores on one core, the
// decoding of their series counted in; decode is that alone.
func BenchmarkScan(b *testing.B) {
	cohort := benchCohort()
	for _, c := range []struct {
		name    string
		request Request
		begin   func(*Params) tally
		end     func(tally)
	}{
		{"decode", Request{}, func(*Params) tally { return nothing{} }, func(tally) {}},
		{"outcomes", Request{}, func(p *Params) tally { return NewOutcomesTally(p) }, func(t tally) { t.(*OutcomesTally).Result(time.Time{}) }},
		{"outcomes/hidden", Request{MinCellSize: "11", Interval: "day"}, func(p *Params) tally { return NewOutcomesTally(p) }, func(t tally) { t.(*OutcomesTally).Result(time.Time{}) }},
		{"population", Request{}, func(p *Params) tally { return NewPopulationTally(p) }, func(t tally) { t.(*PopulationTally).Result(time.Time{}) }},
		{"population/hidden", Request{MinCellSize: "11"}, func(p *Params) tally { return NewPopulationTally(p) }, func(t tally) { t.(*PopulationTally).Result(time.Time{}) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			params := benchParams(b, c.request)
			b.ReportAllocs()
			for b.Loop() {
				t := c.begin(params)
				scan(b, cohort, t)
				c.end(t)
			}
		})
	}
}

// BenchmarkModels fits both models to as many rows as there can be.
func BenchmarkModels(b *testing.B) {
	t := newMixTally()
	for i := range t.cells {
		n := int32(20 + i%50)
		t.cells[i] = mixCell{n: n, above: n, yes: n * int32(3+i%4) / 10, change: int64(n) * fraction * int64(-1-i%3)}
		t.squares.add(product(int64(n)*fraction, 4*fraction))
	}
	for b.Loop() {
		var mean AdjustedMean
		var rate AdjustedRate
		mean.fill(t, t, false, 0)
		rate.fill(t, t, false, 0)
		if mean.Reason != nil || rate.Reason != nil {
			b.Fatal(mean.Reason, rate.Reason)
		}
	}
}
