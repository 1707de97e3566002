package chart

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

func day(s string) time.Time {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return t
}

var (
	jan1, dec31 = day("2025-01-01"), day("2025-12-31")
	bands       = Bands{Moderate: 4, Severe: 7}
)

// hostile are texts that a label may turn out to be.
var hostile = []string{`<script>alert(1)</script>`, "a\u202eb\u200f&\"'", strings.Repeat("very long ", 40), "Ωμέγα Щука Łódź", "שלום 你好 😀", "\x00\x1b\n\t"}

func scores(n int, every time.Duration) (list []PainPoint) {
	for i := range n {
		list = append(list, PainPoint{jan1.Add(time.Duration(i) * every), math.Round(5 + 5*math.Sin(float64(i)/9))})
	}
	return list
}

func events(n, days int) (list []Event) {
	for i := range n {
		list = append(list, Event{jan1.AddDate(0, 0, i*days%365), EventKind(i % int(eventKinds)), hostile[i%len(hostile)]})
	}
	return list
}

// examples are charts as they come, and as they should never come.
func examples() map[string]Chart {
	trend := func(n int, step func(int) time.Time) *Trend {
		c := &Trend{Title: "Trend", Bands: bands}
		for i := range n {
			p := TrendPoint{Start: step(i), N: new(i * 37)}
			if i%5 != 4 {
				m := 5 + 4*math.Sin(float64(i)/5)
				p.Mean, p.Low, p.High = &m, new(m-1.5), new(m+1.5)
			}
			c.Points = append(c.Points, p)
		}
		return c
	}
	usage := func(n int) *Usage {
		c := &Usage{Title: "Requests"}
		for i := range n {
			c.Hours = append(c.Hours, UsageHour{jan1.Add(time.Duration(i) * time.Hour), i * 7, i % 3, i % 5 * 40, i % 7})
		}
		return c
	}
	var groups []SeverityRow
	var shares []Proportion
	var effects []Effect
	for i, name := range hostile {
		groups = append(groups, SeverityRow{name, [4]*int{new(i), new(3 * i), new(100), new(7)}})
		shares = append(shares, Proportion{name, new(float64(i) / 5), new(0.0), new(1.0), "18 of 40"})
		effects = append(effects, Effect{name, new(float64(i - 3)), new(float64(-i * 9)), new(float64(i * 11)), "n = 40"})
	}
	crowd := &Severity{Title: "Severity"}
	for i := range 60 {
		crowd.Rows = append(crowd.Rows, SeverityRow{fmt.Sprintf("group %d", i), [4]*int{new(1), new(2), new(3), new(4)}})
	}
	survival := &Survival{Title: "Time", Event: "a response", Median: new(300.0)}
	for i := range 200 {
		survival.Steps = append(survival.Steps, SurvivalStep{float64(2 * i), 123456 - i, 1, i % 3, 1 - float64(i)/260, new(max(0, 0.95-float64(i)/260)), new(1 - float64(i)/300)})
	}
	growth := &Growth{Title: "Cost", Size: "patients", Cost: "microseconds a request"}
	crowded := &Growth{Title: "Cost", Size: hostile[2], Cost: hostile[0]}
	for i := range 14 {
		l := GrowthLine{Label: fmt.Sprintf("path %d", i)}
		for size := 1e3; size <= 1e6; size *= 10 {
			l.Points = append(l.Points, GrowthPoint{size, float64(10+i) * math.Pow(size/1e3, float64(i%3)/2)})
		}
		growth.Lines = append(growth.Lines, l)
	}
	for i := range 60 {
		crowded.Lines = append(crowded.Lines, GrowthLine{hostile[i%len(hostile)], []GrowthPoint{{1, 5}, {1e300, 1e300}, {7, 0}, {math.NaN(), 1}, {-3, math.Inf(1)}, {3, 1e-300}}})
	}
	return map[string]Chart{
		"pain": &Pain{Title: "Pain", From: jan1, To: dec31, Points: scores(60, 144*time.Hour), Bands: bands, Baseline: new(7.5), Events: []Event{
			{day("2025-02-01"), Started, "oxycodone"}, {day("2025-02-01"), Started, "gabapentin"}, {day("2025-06-01"), Procedural, "epidural steroid L4-L5"},
			{day("2025-06-20"), Ended, "oxycodone"}, {day("2025-12-30"), Started, "naproxen"}}},
		"pain, none":       &Pain{Title: "Pain", From: jan1, To: dec31, Bands: bands},
		"pain, one":        &Pain{Title: "Pain", From: jan1, To: jan1, Points: scores(1, 0), Bands: bands, Events: events(1, 1)},
		"pain, 2000":       &Pain{Title: "Pain", From: jan1, To: dec31, Points: scores(2000, 4*time.Hour), Bands: bands, Baseline: new(0.0), Events: events(40, 9)},
		"pain, one day":    &Pain{Title: "Pain", From: jan1, To: jan1, Points: scores(20, time.Hour), Bands: bands, Events: events(30, 365)},
		"pain, 90 years":   &Pain{Title: "Pain", From: day("1935-01-01"), To: dec31, Points: scores(5, 240*time.Hour), Bands: bands, Events: events(9, 40)},
		"mme":              &MME{"MME", jan1, dec31, []MMERun{{jan1, day("2025-03-01"), new(45.0), false}, {day("2025-03-02"), day("2025-05-01"), new(105.0), true}, {day("2025-07-01"), dec31, nil, true}}},
		"pain, outside":    &Pain{Title: "Pain", From: day("2025-03-01"), To: day("2025-03-31"), Points: scores(60, 144*time.Hour), Bands: bands, Events: events(12, 30)},
		"mme, outside":     &MME{"MME", day("2025-03-01"), day("2025-03-31"), []MMERun{{jan1, day("2025-02-01"), new(45.0), false}, {day("2025-02-20"), day("2025-05-01"), new(105.0), true}, {day("2025-07-01"), dec31, nil, true}}},
		"mme, none":        &MME{"MME", jan1, dec31, nil},
		"mme, high":        &MME{"MME", jan1, dec31, []MMERun{{jan1, jan1, new(12345.5), false}}},
		"severity":         &Severity{"Severity", []SeverityRow{{"all", [4]*int{new(12), new(140), new(230), new(90)}}, {"male", [4]*int{nil, new(20), new(20), nil}}, {"none", [4]*int{new(0), new(0), new(0), new(0)}}}},
		"severity, odd":    &Severity{"Severity", groups},
		"severity, many":   crowd,
		"proportions":      &Proportions{"Responders", []Proportion{{"30 % better", new(0.45), new(0.3071), new(0.6017), "18 of 40"}, {"worse", nil, nil, nil, "hidden"}}},
		"proportions, odd": &Proportions{"Responders", shares},
		"proportions none": &Proportions{"Responders", nil},
		"forest":           &Forest{"Groups", "difference in percentage points", []Effect{{"female", new(16.7), new(-0.9), new(32.9), "n = 60"}, {"male", nil, nil, nil, "reference"}}},
		"forest, odd":      &Forest{hostile[0], hostile[2], effects},
		"forest, none":     &Forest{"Groups", "difference", nil},
		"trend":            trend(12, func(i int) time.Time { return jan1.AddDate(0, i, 0) }),
		"trend, one":       trend(1, func(int) time.Time { return jan1 }),
		"trend, none":      trend(0, nil),
		"trend, days":      trend(365, func(i int) time.Time { return jan1.AddDate(0, 0, i) }),
		"histogram":        &Histogram{"Dose", []Bin{{0, 20, new(12), false}, {20, 50, nil, false}, {50, 90, new(3), false}, {90, 130, new(0), true}}, nil},
		"histogram, apart": &Histogram{"Dose", []Bin{{0, 20, new(12), false}, {20, 90, new(3), true}}, []Apart{{"not known", new(14)}, {"maybe", nil}}},
		"histogram, many":  &Histogram{"Dose", []Bin{{0, 20, new(1234567), false}, {20, 100, new(1), false}}, nil},
		"histogram, none":  &Histogram{"Dose", nil, nil},
		"survival":         &Survival{"Time", "a response", []SurvivalStep{{14, 6, 1, 0, .8333, new(.2731), new(.9747)}, {28, 5, 1, 0, .6667, new(.1946), new(.9044)}, {42, 3, 1, 1, .4444, new(.0662), new(.7849)}, {84, 1, 1, 1, 0, nil, nil}}, new(42.0)},
		"survival, long":   survival,
		"survival, none":   &Survival{Title: "Time", Event: "a response"},
		"growth":           growth,
		"growth, crowded":  crowded,
		"growth, one":      &Growth{"Cost", "patients", "µs", []GrowthLine{{"get", []GrowthPoint{{10_000, 31}}}}},
		"growth, none":     &Growth{Title: "Cost"},
		"usage":            usage(24),
		"usage, week":      usage(168),
		"usage, none":      usage(0),
		"sparkline":        &Sparkline{"Line", []*float64{new(8.0), new(7.0), nil, new(3.0)}, 0, 10},
		"sparkline, odd":   &Sparkline{"Line", []*float64{nil, new(math.NaN()), new(99.0)}, 0, 10},
	}
}

var frames = []Frame{{Width: 720, Height: 340, Text: 12}, {Width: 515, Height: 188, Text: 7.5}, {Width: 515, Height: 90, Text: 7.5}, {Width: 360, Height: 260}}

// eachExample runs a test on every example in every frame.
func eachExample(t *testing.T, test func(t *testing.T, c Chart, s *Scene)) {
	for name, c := range examples() {
		for _, f := range frames {
			t.Run(fmt.Sprintf("%s/%gx%g", name, f.Width, f.Height), func(t *testing.T) { test(t, c, c.Draw(f)) })
		}
	}
}
