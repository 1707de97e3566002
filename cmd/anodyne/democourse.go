package main

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"anodyne/client"
)

type demoMedicine map[string]any

var (
	demoSites = []string{"lower back", "neck", "knee", "shoulder", "hip", "widespread"}
	// demoFirst are what a course begins with, demoSecond what may be added.
	demoFirst = []demoMedicine{
		{"name": "ibuprofen", "dose": 400, "dose_unit": "mg", "route": "oral", "frequency": "TID"},
		{"name": "duloxetine", "dose": 60, "dose_unit": "mg", "route": "oral", "frequency": "QD"},
		{"name": "gabapentin", "dose": 300, "dose_unit": "mg", "route": "oral", "frequency": "TID"},
		{"name": "naproxen", "dose": 500, "dose_unit": "mg", "route": "oral", "frequency": "BID"},
	}
	demoSecond = []demoMedicine{
		{"name": "oxycodone", "dose": 10, "dose_unit": "mg", "route": "oral", "frequency": "BID"},
		{"name": "tramadol", "dose": 50, "dose_unit": "mg", "route": "oral", "frequency": "QID"},
		{"name": "amitriptyline", "dose": 25, "dose_unit": "mg", "route": "oral", "frequency": "QHS"},
		{"name": "morphine", "dose": 30, "dose_unit": "mg", "route": "oral", "frequency": "BID"},
	}
)

// addCourse gives a patient a year of clinical data: pain that gets better,
// comes back for a while and gets better again, medicines, and PEG
// questionnaires at both ends.
func addCourse(ctx context.Context, c *client.Client, patientID, key string, random *rand.Rand, now time.Time) error {
	day := func(n int) time.Time { return now.UTC().Truncate(24*time.Hour).AddDate(0, 0, n-365).Add(9 * time.Hour) }
	course := newDemoCourse(random)
	var records []client.NewRecord
	visits := 10 + random.IntN(11)
	for i := range visits {
		on := i*360/visits + random.IntN(7)
		records = append(records, client.NewRecord{DataType: "pain_scores", RecordedAt: day(on), Source: "patient",
			Value: map[string]any{"score": course.pain(on, random), "aspect": "average", "recall": "7d", "body_site": course.site}})
	}
	for _, on := range []int{0, 355} {
		level := course.pain(on, random)
		records = append(records, client.NewRecord{DataType: "assessments", RecordedAt: day(on), Source: "patient",
			Value: map[string]any{"instrument": "peg", "items": map[string]int{"1": level, "2": max(0, level-1), "3": min(10, level+1)}}})
	}
	records = append(records, prescription(demoFirst[random.IntN(len(demoFirst))], day(1), 350))
	if random.IntN(2) == 0 { // for the time of the relapse
		records = append(records, prescription(demoSecond[random.IntN(len(demoSecond))], day(course.relapse), 60))
	}
	_, err := c.AddRecords(ctx, patientID, records, client.WithIdempotencyKey(key))
	return err
}

func prescription(m demoMedicine, at time.Time, days int) client.NewRecord {
	value := map[string]any{"days_supply": days, "status": "completed"}
	for name, v := range m {
		value[name] = v
	}
	return client.NewRecord{DataType: "medications", RecordedAt: at, Source: "clinician", Value: value}
}

// demoCourse is how a patient's pain goes over a year.
type demoCourse struct {
	site       string
	start, end float64
	relapse    int // the day on which it comes back
	peak       float64
}

func newDemoCourse(random *rand.Rand) demoCourse {
	start := 6 + 3*random.Float64()
	return demoCourse{
		site:  demoSites[random.IntN(len(demoSites))],
		start: start, end: max(0, start-1-4*random.Float64()),
		relapse: 150 + random.IntN(60), peak: 1 + 2*random.Float64(),
	}
}

// pain is the score of a day, from 0 to 10.
func (d *demoCourse) pain(day int, random *rand.Rand) int {
	level := d.end + (d.start-d.end)*math.Exp(-float64(day)/80)
	if since := float64(day - d.relapse); since >= 0 {
		level += d.peak * math.Exp(-since/40)
	}
	level += random.Float64() - 0.5
	return int(math.Round(min(10, max(0, level))))
}
