package report

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

// readRecords takes the medicines and the events of the period out of the
// records.
func (p *patientPages) readRecords() error {
	courses := map[string][]course{} // by their names, however written
	for i := range p.Chart.Records {
		rec := &p.Chart.Records[i]
		switch rec.Type {
		case pain.TypeMedications:
			v, err := pain.ReadMedication(rec.Value)
			if err != nil {
				return err
			}
			p.medicines[rec.ID.String()] = v
			if m, ok := series.MedicationOf(&v, rec.RecordedAt); ok {
				key := strings.ToLower(v.Name)
				courses[key] = append(courses[key], course{m.Span, v.Name, m.Open})
			}
		case pain.TypeProcedures:
			v, err := pain.ReadProcedure(rec.Value)
			if err != nil {
				return err
			}
			p.event(rec.RecordedAt, chart.Procedural, strings.TrimSpace(words(v.ProcedureType)+" "+v.Level))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(courses)) {
		for _, c := range joined(courses[name]) {
			p.event(dayOf(pain.DateOfDay(c.First)), chart.Started, c.name)
			if !c.going && c.Last < p.To.DayNumber() {
				p.event(dayOf(pain.DateOfDay(c.Last)), chart.Ended, c.name)
			}
		}
	}
	slices.SortStableFunc(p.events, func(a, b chart.Event) int { return a.At.Compare(b.At) })
	return nil
}

// event keeps what was done on a day of the period.
func (p *patientPages) event(at time.Time, kind chart.EventKind, label string) {
	if !at.Before(p.from) && at.Before(p.to.AddDate(0, 0, 1)) {
		p.events = append(p.events, chart.Event{At: at, Kind: kind, Label: label})
	}
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
