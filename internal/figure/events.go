package figure

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/chart"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
	"anodyne.example/anodyne/internal/pain/timeline"
)

// refillGap is the maximum number of days between two prescriptions of one
// course: a refill a week late is not a stop.
const refillGap = 14

// course is a medicine taken without interruption.
type course struct {
	drug.Span
	name  string
	going bool // no recorded end: only assumed, up to its last day
}

// events lists when medicines were started and stopped, by the timeline, and
// the procedures, from from to to.
func events(records []pain.Record, from, to time.Time) ([]chart.Event, error) {
	var list []chart.Event
	add := func(at time.Time, kind chart.EventKind, label string) {
		if !at.Before(from) && at.Before(to.AddDate(0, 0, 1)) {
			list = append(list, chart.Event{At: at, Kind: kind, Label: label})
		}
	}
	var medicines []series.Medication
	var names []string
	last := pain.DateOf(to).DayNumber()
	for i := range records {
		rec := &records[i]
		switch rec.Type {
		case pain.TypeMedications:
			v, err := pain.ReadMedication(rec.Value)
			if err != nil {
				return nil, err
			}
			if m, ok := series.MedicationOf(&v, rec.RecordedAt); ok && m.First <= last {
				medicines, names = append(medicines, m), append(names, v.Name)
			}
		case pain.TypeProcedures:
			v, err := pain.ReadProcedure(rec.Value)
			if err != nil {
				return nil, err
			}
			add(rec.RecordedAt, chart.Procedural, strings.TrimSpace(Words(v.ProcedureType)+" "+v.Level))
		}
	}
	courses := coursesOf(medicines, names)
	for _, name := range slices.Sorted(maps.Keys(courses)) {
		for _, c := range joined(courses[name]) {
			add(dayOf(pain.DateOfDay(c.First)), chart.Started, c.name)
			if !c.going && c.Last < last {
				add(dayOf(pain.DateOfDay(c.Last)), chart.Ended, c.name)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b chart.Event) int { return a.At.Compare(b.At) })
	return list, nil
}

// coursesOf groups prescriptions into courses by name, ignoring spelling
// variants.
func coursesOf(medicines []series.Medication, names []string) map[string][]course {
	timeline.Lay(medicines)
	courses := map[string][]course{}
	for i := range medicines {
		m := &medicines[i]
		if m.Last < m.First {
			continue
		}
		// A delayed refill was prescribed before the current supply was used
		// up.
		span := drug.Span{First: m.Start, Last: m.Last}
		going := m.Open && m.Last == m.First+timeline.AssumedDays-1
		key := strings.ToLower(names[i])
		courses[key] = append(courses[key], course{span, names[i], going})
	}
	return courses
}

// joined merges consecutive prescriptions.
func joined(list []course) []course {
	slices.SortStableFunc(list, func(a, b course) int { return cmp.Compare(a.First, b.First) })
	var out []course
	for _, c := range list {
		n := len(out) - 1
		if n < 0 || c.First > out[n].Last+refillGap+1 {
			out = append(out, c)
			continue
		}
		if c.Last >= out[n].Last {
			out[n].Last, out[n].going = c.Last, c.going
		}
	}
	return out
}
