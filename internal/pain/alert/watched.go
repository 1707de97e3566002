package alert

import (
	"math"
	"slices"

	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
	"anodyne.example/anodyne/internal/pain/timeline"
)

// Watched holds a patient's prescriptions of opioids and benzodiazepines, on
// the days of the timeline.
type Watched struct {
	recorded        []series.Medication
	opioids         []drug.Course
	benzodiazepines []drug.Span
}

var (
	opioid         = series.ClassOf(drug.Opioid)
	benzodiazepine = series.ClassOf(drug.Benzodiazepine)
)

// Concerns reports whether any of the medicines is relevant for alerts.
func Concerns(medications []series.Medication) bool {
	return slices.ContainsFunc(medications, func(m series.Medication) bool { return isWatched(&m) })
}

func isWatched(m *series.Medication) bool { return m.Class == opioid || m.Class == benzodiazepine }

// Add adds the relevant medicines. This may change the days of those already
// present.
func (w *Watched) Add(medications []series.Medication) {
	known := len(w.recorded)
	for i := range medications {
		if m := &medications[i]; isWatched(m) {
			w.recorded = append(w.recorded, *m)
		}
	}
	if len(w.recorded) > known {
		w.layOut()
	}
}

// layOut computes the days of all prescriptions.
func (w *Watched) layOut() {
	list := slices.Clone(w.recorded)
	timeline.Lay(list)
	w.take(list)
}

// take stores prescriptions with their days.
func (w *Watched) take(list []series.Medication) {
	w.opioids, w.benzodiazepines = w.opioids[:0], w.benzodiazepines[:0]
	for i := range list {
		switch m := &list[i]; {
		case m.Last < m.First: // counts on no day
		case m.Class == opioid:
			w.opioids = append(w.opioids, m.Course())
		default:
			w.benzodiazepines = append(w.benzodiazepines, m.Span)
		}
	}
}

// reading is the situation of a patient on one day.
type reading struct {
	level   int // highest threshold reached by the day's dose, or 0
	overlap bool
}

// on returns the situation on a day.
func (w *Watched) on(day drug.Day) (r reading) {
	today := drug.Span{First: day, Last: day}
	dose := drug.Measure(w.opioids, today)
	for _, threshold := range Thresholds {
		if drug.AtLeast(dose.Peak, float64(threshold)) {
			r.level = threshold
		}
	}
	r.overlap = dose.OpioidDays > 0 && slices.ContainsFunc(w.benzodiazepines, func(s drug.Span) bool {
		_, covers := s.Within(today)
		return covers
	})
	return r
}

// least returns what two days have in common.
func (r reading) least(other reading) reading {
	return reading{min(r.level, other.level), r.overlap && other.overlap}
}

// Never is a day in the infinite future.
const Never drug.Day = math.MaxInt32

// starts returns the first day after the given one on which a prescription
// begins.
func (w *Watched) starts(after drug.Day) drug.Day { return w.next(after, false) }

// changes returns the first day after the given one that may differ from the
// previous day.
func (w *Watched) changes(after drug.Day) drug.Day { return w.next(after, true) }

func (w *Watched) next(after drug.Day, ends bool) drug.Day {
	next := Never
	take := func(s drug.Span) {
		if s.First > after {
			next = min(next, s.First)
		} else if ends && s.Last >= after {
			next = min(next, s.Last+1)
		}
	}
	for i := range w.opioids {
		take(w.opioids[i].Span)
	}
	for _, s := range w.benzodiazepines {
		take(s)
	}
	return next
}
