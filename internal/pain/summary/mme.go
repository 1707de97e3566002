package summary

import (
	"cmp"
	"slices"

	"anodyne.example/anodyne/internal/decimal"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/timeline"
)

// Caveat is shown with every MME.
const Caveat = "MME is for risk assessment, not for converting between opioids."

// MME is the daily opioid dose over the window.
type MME struct {
	Definitions Definitions `json:"definitions"`
	Table       string      `json:"table"`
	From        string      `json:"from"`
	To          string      `json:"to"`
	// Current is the dose on the last day of the timeline. Current, Peak and
	// Average cover opioids with known MME. They are 0 if there is neither an
	// opioid nor a medicine that may be one, and null if none counts. Average
	// is also null without covered days.
	Current *float64 `json:"current"`
	// CurrentBand is unknown if something is missing from the current dose,
	// unless the known part alone is in the highest band.
	CurrentBand *string  `json:"current_band"`
	Peak        *float64 `json:"peak"`
	// PeakOverlapped is the peak if early refills count on top of the current
	// supply instead of being carried forward.
	PeakOverlapped *float64 `json:"peak_overlapped"`
	Average        *float64 `json:"average"`
	CoveredDays    int      `json:"covered_days"`
	// AssumedDays are the days of the timeline on which an opioid, or a
	// medicine that may be one, is assumed to be taken because it has neither
	// supply nor end date.
	AssumedDays int `json:"assumed_days"`
	DaysFrom50  int `json:"days_ge_50"`
	DaysFrom90  int `json:"days_ge_90"`
	// Incomplete is set if the MME or the days of an opioid are unknown, or an
	// unclassified medicine may be an opioid. The figures may then be too low.
	// IncompleteReasons lists the reasons.
	Incomplete        bool     `json:"incomplete"`
	IncompleteReasons []string `json:"incomplete_reasons"`
	Timeline          []Run    `json:"timeline"`
	Caveat            string   `json:"caveat"`
}

// Definitions names the definitions behind the figures; four have been
// published.
type Definitions struct {
	Peak           string `json:"peak"`
	PeakOverlapped string `json:"peak_overlapped"`
	Average        string `json:"average"`
}

// Run is a range of days with the same dose. Days covered by neither an opioid
// nor a medicine that may be one are omitted. MME is null if nothing on these
// days counts. Assumed is set if a medicine is assumed to be taken.
type Run struct {
	From       string   `json:"from"`
	To         string   `json:"to"`
	MME        *float64 `json:"mme"`
	Incomplete bool     `json:"incomplete"`
	Assumed    bool     `json:"assumed"`
}

func (e *evidence) mme() MME {
	window := e.window()
	m := MME{
		Definitions: Definitions{"definition 4: the highest single day, early refills carried forward", "definition 4: the highest single day, early refills added to the current supply", "definition 2: total MME divided by the covered calendar days"},
		Table:       drug.MMETable, From: date(window.First), To: date(window.Last), Timeline: []Run{}, Caveat: Caveat,
	}
	courses := e.courses()
	exposure := drug.Measure(courses, window)
	m.CoveredDays, m.DaysFrom50, m.DaysFrom90, m.Incomplete = exposure.CoveredDays, exposure.DaysFrom50, exposure.DaysFrom90, exposure.Incomplete
	m.IncompleteReasons = incompleteReasons(courses, window)
	overlapped := drug.Measure(e.overlappedCourses(), window)
	m.Peak, m.PeakOverlapped, m.AssumedDays = shownDose(peakOf(&exposure)), shownDose(overlappedPeak(&exposure, &overlapped)), e.assumedDays(window)
	if average, ok := exposure.Average(); ok {
		m.Average = rounded(average, 1)
	}
	for _, d := range e.doses {
		if span, ok := d.Within(window); ok {
			m.Timeline = append(m.Timeline, Run{date(span.First), date(span.Last), d.shown(), d.incomplete, d.assumed})
		}
	}
	now := e.prescribed()
	m.Current, m.CurrentBand = now.shown(), now.band()
	return m
}

// UnknownBand is the band of an unknown dose.
const UnknownBand = "unknown"

// band returns the exposure band, or nil if no opioid counts and none should.
func (d *dose) band() *string {
	switch {
	case d.incomplete && !drug.AtLeast(d.mme, 90): // already in the highest band
		return new(UnknownBand)
	case d.known:
		return new(drug.Band(d.mme))
	}
	return nil
}

// peakOf returns the highest daily dose, or nil if unknown.
func peakOf(over *drug.Exposure) *float64 {
	if over.CoveredDays > 0 || over.OpioidDays == 0 && !over.Incomplete {
		return &over.Peak
	}
	return nil
}

// overlappedPeak returns the peak if no supply is carried forward. Days
// carried into a window may make the other peak higher; the higher one counts.
func overlappedPeak(carried, overlapped *drug.Exposure) *float64 {
	peak, other := peakOf(carried), peakOf(overlapped)
	if peak == nil || other != nil && *other > *peak {
		return other
	}
	return peak
}

func shownDose(mme *float64) *float64 {
	if mme == nil {
		return nil
	}
	return rounded(*mme, 1)
}

// assumedDays returns the number of days in a window with an assumed medicine.
func (e *evidence) assumedDays(window drug.Span) (days int) {
	for _, d := range e.doses {
		if span, ok := d.Within(window); ok && d.assumed {
			days += span.Days()
		}
	}
	return days
}

// incompleteReasons returns the distinct reasons why something is missing from
// the dose in a window.
func incompleteReasons(courses []drug.Course, window drug.Span) []string {
	there := map[drug.Reason]bool{}
	for i := range courses {
		if _, ok := courses[i].Within(window); ok && courses[i].Reason.Incomplete() {
			there[courses[i].Reason] = true
		}
	}
	reasons := []string{}
	for _, r := range drug.Reasons() {
		if there[r] {
			reasons = append(reasons, string(r))
		}
	}
	return reasons
}

// prescribed returns the dose of the day. It is 0 without an opioid or a
// medicine that may be one.
func (e *evidence) prescribed() dose {
	if n := len(e.doses) - 1; n >= 0 && e.doses[n].Last == e.day {
		return e.doses[n]
	}
	return dose{known: true}
}

// dose is the opioid dose on each day of a span.
type dose struct {
	drug.Span
	mme        float64
	known      bool // an opioid on these days counts
	incomplete bool // an opioid does not count but should
	assumed    bool // an opioid is assumed to be taken
}

func (d *dose) shown() *float64 {
	if !d.known {
		return nil
	}
	return rounded(d.mme, 1)
}

// step is a change on a day.
type step struct {
	day                               drug.Day
	mme                               float64
	known, incomplete, assumed, count int
}

// dosesByDay returns the total of opioids, and of medicines that may be
// opioids, for each calendar day up to the current one. Runs are in order;
// days without any are omitted.
func (e *evidence) dosesByDay() []dose {
	var steps []step
	upTo := drug.Span{First: drug.Always.First, Last: e.day}
	for i := range e.medicines {
		m := &e.medicines[i]
		c := m.Course()
		span, ok := c.Within(upTo)
		if !ok || !m.mayBeOpioid() {
			continue
		}
		s := step{day: span.First, count: 1}
		switch {
		case c.Reason == "":
			s.known, s.mme = 1, c.MME
		case c.Reason.Incomplete():
			s.incomplete = 1
		}
		steps = append(steps, s, step{span.Last + 1, -s.mme, -s.known, -s.incomplete, 0, -s.count})
		if assumed, ok := timeline.Assumed(&m.Medication); ok && assumed.First <= e.day {
			steps = append(steps, step{day: assumed.First, assumed: 1}, step{day: span.Last + 1, assumed: -1})
		}
	}
	slices.SortFunc(steps, func(a, b step) int { return cmp.Compare(a.day, b.day) })
	return runsOf(steps)
}

// runsOf returns the days between steps in order, with equal neighbours
// merged.
func runsOf(steps []step) (runs []dose) {
	var sum step
	for i, s := range steps {
		sum.mme += s.mme
		sum.known += s.known
		sum.incomplete += s.incomplete
		sum.assumed += s.assumed
		sum.count += s.count
		if i+1 == len(steps) || steps[i+1].day == s.day || sum.count == 0 {
			continue
		}
		d := dose{drug.Span{First: s.day, Last: steps[i+1].day - 1}, tidy(sum.mme), sum.known > 0, sum.incomplete > 0, sum.assumed > 0}
		if n := len(runs) - 1; n >= 0 && runs[n].Last+1 == d.First && runs[n].same(d) {
			runs[n].Last = d.Last
		} else {
			runs = append(runs, d)
		}
	}
	return runs
}

func (d dose) same(other dose) bool {
	d.Span = other.Span
	return d == other
}

// tidy removes binary rounding noise from a sum.
func tidy(f float64) float64 { return decimal.Round(f, 6) }
