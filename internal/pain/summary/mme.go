package summary

import (
	"cmp"
	"math"
	"slices"

	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/timeline"
)

// Caveat goes with every MME that is shown.
const Caveat = "MME is for risk assessment, not for converting between opioids."

// MME is the daily opioid dose over the window.
type MME struct {
	Definitions Definitions `json:"definitions"`
	Table       string      `json:"table"`
	From        string      `json:"from"`
	To          string      `json:"to"`
	// Current is the dose of the last day of the timeline. It, Peak and Average
	// are of opioids whose MME is known: 0 when there is no opioid and nothing
	// that may be one, null when there is none that counts. Average is null
	// without covered days too.
	Current *float64 `json:"current"`
	// CurrentBand is unknown when something is missing from the current dose,
	// unless what is known alone is in the highest band.
	CurrentBand *string  `json:"current_band"`
	Peak        *float64 `json:"peak"`
	// PeakOverlapped is the peak when early refills are not carried forward, but
	// count beside the supply at hand.
	PeakOverlapped *float64 `json:"peak_overlapped"`
	Average        *float64 `json:"average"`
	CoveredDays    int      `json:"covered_days"`
	// AssumedDays are the days of the timeline on which an opioid, or what may be
	// one, is assumed to be taken: it has neither supply nor end.
	AssumedDays int `json:"assumed_days"`
	DaysFrom50  int `json:"days_ge_50"`
	DaysFrom90  int `json:"days_ge_90"`
	// Incomplete is set when the MME of an opioid, or its days, are not known, or
	// a medicine is not understood and may be an opioid: the numbers may then be
	// too low. IncompleteReasons says why.
	Incomplete        bool     `json:"incomplete"`
	IncompleteReasons []string `json:"incomplete_reasons"`
	Timeline          []Run    `json:"timeline"`
	Caveat            string   `json:"caveat"`
}

// Definitions names what the numbers are: there are four published ways.
type Definitions struct {
	Peak           string `json:"peak"`
	PeakOverlapped string `json:"peak_overlapped"`
	Average        string `json:"average"`
}

// Run is days with the same dose. Days that neither an opioid covers nor what
// may be one are left out; MME is null when nothing of the days counts. Assumed
// is set when one of the medicines is assumed to be taken on them.
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

// UnknownBand is the band of a dose that is not known.
const UnknownBand = "unknown"

// band is the exposure band; nil when no opioid counts, and none should.
func (d *dose) band() *string {
	switch {
	case d.incomplete && !drug.AtLeast(d.mme, 90): // there is no band above
		return new(UnknownBand)
	case d.known:
		return new(drug.Band(d.mme))
	}
	return nil
}

// peakOf is the highest dose of a single day; nil when it is not known.
func peakOf(over *drug.Exposure) *float64 {
	if over.CoveredDays > 0 || over.OpioidDays == 0 && !over.Incomplete {
		return &over.Peak
	}
	return nil
}

// overlappedPeak is the peak when no supply is carried. Days that are carried into
// a window may make the other one higher; the higher counts.
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

// assumedDays is on how many days of a window something is assumed.
func (e *evidence) assumedDays(window drug.Span) (days int) {
	for _, d := range e.doses {
		if span, ok := d.Within(window); ok && d.assumed {
			days += span.Days()
		}
	}
	return days
}

// incompleteReasons says why something is missing from the dose of a window,
// each reason once.
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

// prescribed is the dose of the day. Without an opioid, and without anything
// that may be one, it is 0.
func (e *evidence) prescribed() dose {
	if n := len(e.doses) - 1; n >= 0 && e.doses[n].Last == e.day {
		return e.doses[n]
	}
	return dose{known: true}
}

// dose is what opioids amount to on each day of a span.
type dose struct {
	drug.Span
	mme        float64
	known      bool // an opioid of the days counts
	incomplete bool // one does not, and should
	assumed    bool // one is assumed to be taken
}

func (d *dose) shown() *float64 {
	if !d.known {
		return nil
	}
	return rounded(d.mme, 1)
}

// step is what changes on a day.
type step struct {
	day                               drug.Day
	mme                               float64
	known, incomplete, assumed, count int
}

// dosesByDay sums the opioids, and what may be one, up for each calendar day up
// to the last. Runs are in order; days without any are left out.
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

// runsOf is the days between steps in order, those that are alike together.
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

// tidy takes the noise of binary fractions out of a sum.
func tidy(f float64) float64 { return math.Round(f*1e6) / 1e6 }
