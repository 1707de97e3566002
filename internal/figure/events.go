package figure

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"anodyne/internal/chart"
	"anodyne/internal/pain"
	"anodyne/internal/pain/drug"
	"anodyne/internal/pain/series"
)

// refillGap is how many days may lie between two prescriptions of a medicine
// that are still one course: who fills a week late has not stopped.
const refillGap = 14

// course is a medicine taken without a break.
type course struct {
	drug.Span
	name  string
	going bool // it has no end that is known
}

// events lists when medicines began and ended and what was done, within the
// days from and to.
func events(records []pain.Record, from, to time.Time) ([]chart.Event, error) {
	var list []chart.Event
	add := func(at time.Time, kind chart.EventKind, label string) {
		if !at.Before(from) && at.Before(to.AddDate(0, 0, 1)) {
			list = append(list, chart.Event{At: at, Kind: kind, Label: label})
		}
	}
	courses := map[string][]course{} // by their names, however written
	for i := range records {
		rec := &records[i]
		switch rec.Type {
		case pain.TypeMedications:
			v, err := pain.ReadMedication(rec.Value)
			if err != nil {
				return nil, err
			}
			if m, ok := series.MedicationOf(&v, rec.RecordedAt); ok {
				key := strings.ToLower(v.Name)
				courses[key] = append(courses[key], course{m.Span, v.Name, m.Open})
			}
		case pain.TypeProcedures:
			v, err := pain.ReadProcedure(rec.Value)
			if err != nil {
				return nil, err
			}
			add(rec.RecordedAt, chart.Procedural, strings.TrimSpace(Words(v.ProcedureType)+" "+v.Level))
		}
	}
	last := pain.DateOf(to).DayNumber()
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

// joined puts prescriptions that follow one another together.
func joined(list []course) []course {
	slices.SortStableFunc(list, func(a, b course) int { return cmp.Compare(a.First, b.First) })
	var out []course
	for _, c := range list {
		if n := len(out) - 1; n >= 0 && (out[n].going || c.First <= out[n].Last+refillGap+1) {
			out[n].Last, out[n].going = max(out[n].Last, c.Last), out[n].going || c.going
		} else {
			out = append(out, c)
		}
	}
	return out
}
