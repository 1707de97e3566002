package cohort

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// hundredThousand is as many patients with a year of fifty records each: a
// score every ten days, prescriptions, questionnaires and procedures.
var hundredThousand = sync.OnceValue(func() (panels []*panel) {
	random := rand.New(rand.NewPCG(11, 12))
	codes := []string{"C50.911", "G89.4", "M54.50", "M79.7"}
	minute := today.UnixMilli() - 365*24*3_600_000
	for range 100_000 {
		if len(panels) == 0 || panels[len(panels)-1].len() == panelSize {
			panels = append(panels, &panel{})
		}
		p := panels[len(panels)-1]
		p.heads = append(p.heads, head{born: drug.Day(-random.IntN(20_000) + 10_000), gender: analytics.Gender(random.IntN(4)), here: true})
		p.codes.items = append(p.codes.items, codes[random.IntN(len(codes))])
		begin, pain := uint8(4+random.IntN(5)), series.Kind{Scale: 1, Aspect: series.Average, Site: 13}
		at := func(i, of int) int64 { return minute + int64(i*360+random.IntN(360))*24*3_600_000/int64(of) }
		for i := range 35 {
			p.last.Scores = append(p.last.Scores, series.Score{At: at(i, 35), Kind: pain, Value: begin - uint8(i/20) + uint8(random.IntN(3))})
		}
		for i := range 8 {
			first := drug.Day(at(i, 8) / (24 * 3_600_000))
			p.last.Medications = append(p.last.Medications, series.Medication{Span: drug.Span{First: first, Last: first + 29}, Class: series.Class(1 + random.IntN(8)), Ingredient: 7, Status: 1, MME: 30})
		}
		for i := range 5 {
			p.last.Assessments = append(p.last.Assessments, series.Assessment{At: at(i, 5), Instrument: 1, Status: 1, Score: series.Value{Number: float64(begin), Known: true}})
		}
		for i := range 2 {
			p.last.Procedures = append(p.last.Procedures, series.Procedure{At: at(i, 2), Type: series.ProcedureType(1 + random.IntN(4)), Site: 13, Pre: series.Value{Number: 7, Known: true}, Post: series.Value{Number: 5, Known: true}})
		}
		p.closeCodes()
		p.closeSeries()
	}
	for i := range panels {
		panels[i] = panels[i].fit()
	}
	return panels
})

// BenchmarkScan measures 100,000 patients with 5 million records in memory, on
// all CPUs. It also reports the 99th percentile.
func BenchmarkScan(b *testing.B) {
	panels := hundredThousand()
	for _, filter := range []analytics.Request{{}, {Interval: "day"}, {Gender: "female"}, {AgeMin: "30", AgeMax: "64"}, {Condition: "M54"}, {MedicationClass: "opioid"}, {MinCellSize: "11"}} {
		p := checked(b, filter)
		name := fmt.Sprintf("%s%s%s%s%s%s", filter.Interval, filter.Gender, filter.AgeMin, filter.Condition, filter.MedicationClass, filter.MinCellSize)
		measure(b, "outcomes/"+name, panels, func(ctx context.Context, s *scans) error {
			t, _, err := countAll(ctx, s, inMemory(panels), groupSize, nil, p, analytics.NewOutcomesTally)
			if err == nil {
				t.Result(today)
			}
			return err
		})
		measure(b, "population/"+name, panels, func(ctx context.Context, s *scans) error {
			t, _, err := countAll(ctx, s, inMemory(panels), groupSize, nil, p, analytics.NewPopulationTally)
			if err == nil {
				t.Result(today)
			}
			return err
		})
	}
}

// BenchmarkAgain repeats a query, after no change and after a change of one
// patient.
func BenchmarkAgain(b *testing.B) {
	p := checked(b, analytics.Request{})
	for _, changes := range []int{0, 1} {
		panels, cs, turn := slices.Clone(hundredThousand()), New(plenty, nil), 0
		next := func() source {
			for range changes {
				turn = (turn + 37) % len(panels)
				panels[turn] = panels[turn].fit()
			}
			return inMemory(panels)
		}
		measure(b, fmt.Sprintf("outcomes/%d changes", changes), panels, func(ctx context.Context, _ *scans) error {
			t, err := answer(ctx, cs, 1, next(), "outcomes", p, analytics.NewOutcomesTally)
			if err == nil {
				t.Result(today)
			}
			return err
		})
		measure(b, fmt.Sprintf("population/%d changes", changes), panels, func(ctx context.Context, _ *scans) error {
			t, err := answer(ctx, cs, 1, next(), "population", p, analytics.NewPopulationTally)
			if err == nil {
				t.Result(today)
			}
			return err
		})
	}
}

func measure(b *testing.B, name string, panels []*panel, ask func(context.Context, *scans) error) {
	b.Run(name, func(b *testing.B) {
		s := newScans()
		var times []time.Duration
		used := processorTime()
		b.ReportAllocs()
		for b.Loop() {
			start := time.Now()
			if err := ask(b.Context(), s); err != nil {
				b.Fatal(err)
			}
			times = append(times, time.Since(start))
		}
		b.ReportMetric(float64((processorTime()-used).Microseconds())/1000/float64(len(times)), "cpu-ms")
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
		b.ReportMetric(float64(times[0].Microseconds())/1000, "least-ms")
		b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
		b.ReportMetric(float64(sizeOf(panels))/100_000, "B/patient")
	})
}

// BenchmarkPanelChange packs a panel again after one patient in it changed.
func BenchmarkPanelChange(b *testing.B) {
	panels := hundredThousand()
	b.ReportAllocs()
	for b.Loop() {
		changed := []member{{no: 200, in: panels[7], slot: 5}}
		if _, ok := withChanges(panels, changed, panelSize, func() *panel { return &panel{} }); !ok {
			b.Fatal("the change does not fit")
		}
	}
}

// processorTime is what the process has taken of all processors.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
