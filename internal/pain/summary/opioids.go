package summary

import (
	"slices"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
	"anodyne.example/anodyne/internal/pain/timeline"
)

// Opioids is what opioid stewardship asks about one patient, by the rules of
// the summary. Numbers are not rounded. The window is the period that is
// looked at, its last day the day.
type Opioids struct {
	Age   int
	Names []string // of the current ones, each once
	// Exposed and Current say whether an opioid is taken in the window, and on
	// the day; nil when only a medicine that is not understood may be one.
	Exposed, Current *bool
	// Unclassified names the medicines of the window that are not understood.
	Unclassified []string
	// MME is of the current opioids: 0 without one, nil when none counts. Band
	// is unknown when something is missing from it, and MMEIncomplete says so.
	MME           *float64
	Band          *string
	MMEIncomplete bool
	// Peak and Average are definitions 4 and 2, over the window; of
	// PeakOverlapped early refills count beside the supply at hand.
	Peak, PeakOverlapped, Average *float64
	// Incomplete is set when the dose of an opioid of the window is not known, or
	// a medicine of it may be an opioid.
	Incomplete bool
	// AssumedDays are the days of the window on which something is assumed to be
	// taken, and MMEAssumed says whether the day is one.
	AssumedDays int
	MMEAssumed  bool
	Days        int // of the window that an opioid covers
	MostDays    int // that an opioid or what may be one covers
	// Overlap with benzodiazepines; nil when what is known does not decide it.
	Overlap         *bool
	OverlapDays     int
	NaloxoneGap     *bool
	NaloxoneReasons []string
	LastNaloxone    *drug.Day // within a year
	LastPEG         *drug.Day
	// Prescribers and Pharmacies are of opioids that cover a day of the window,
	// and MostPrescribers of what may be one too.
	Prescribers, Pharmacies, MostPrescribers int
	OutOfScope                               bool
}

// OpioidsOver says how a patient takes opioids. The error says that something
// stored cannot be read.
func OpioidsOver(c *Chart, period drug.Span) (Opioids, error) {
	e := evidenceOf(c, period)
	if err := e.read(); err != nil {
		return Opioids{}, err
	}
	now, exposure := e.prescribed(), drug.Measure(e.courses(), period)
	overlapped := drug.Measure(e.overlappedCourses(), period)
	possible := drug.CoveredDays(append(e.spans(opioid), e.spans(series.Unclassified)...))
	overlap, gap := e.overlapFlag("opioid_benzo_overlap", benzodiazepine), e.naloxoneGap()
	o := Opioids{
		Age: e.age(), Exposed: decide(len(e.spans(opioid)) > 0, len(e.spans(series.Unclassified)) > 0),
		Current: decide(e.anyCurrent(opioid), e.anyCurrent(series.Unclassified)), Unclassified: e.notUnderstood(period),
		Band: now.band(), MMEIncomplete: now.incomplete, Incomplete: exposure.Incomplete, AssumedDays: e.assumedDays(period), MMEAssumed: now.assumed, Days: exposure.OpioidDays, MostDays: possible,
		Overlap: overlap.Active, OverlapDays: overlap.Basis["shared_days"].(int),
		NaloxoneGap: gap.Active, NaloxoneReasons: gap.Basis["reasons"].([]string), LastNaloxone: e.lastNaloxone(), Peak: peakOf(&exposure), PeakOverlapped: overlappedPeak(&exposure, &overlapped),
		LastPEG: e.lastScored(series.InstrumentOf("peg")), OutOfScope: *e.guidelineScope().Active,
	}
	if now.known {
		o.MME = &now.mme
	}
	if average, ok := exposure.Average(); ok {
		o.Average = &average
	}
	o.Names, o.Prescribers, o.Pharmacies, o.MostPrescribers = e.opioidSources()
	return o, nil
}

// decide is yes, no, or nil when what is not understood may make it so.
func decide(is, may bool) *bool {
	if may && !is {
		return nil
	}
	return &is
}

// MayTakeOpioid reports whether an opioid is taken on a day of a period, or a
// medicine that may be one.
func MayTakeOpioid(s *series.Series, period drug.Span) bool {
	var list []series.Medication
	for i := range s.Medications {
		if m := &s.Medications[i]; m.Class == opioid || m.Class == series.Unclassified {
			list = append(list, *m)
		}
	}
	timeline.Lay(list)
	return slices.ContainsFunc(list, func(m series.Medication) bool {
		_, ok := m.Within(period)
		return ok
	})
}

// opioidSources names the current opioids, and counts who prescribed and who
// dispensed those of the window.
func (e *evidence) opioidSources() (names []string, prescribers, pharmacies, mostPrescribers int) {
	prescribing, dispensing, possibly := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i := range e.medicines {
		m := &e.medicines[i]
		if !m.mayBeOpioid() {
			continue
		}
		_, inWindow := m.Within(e.window())
		if inWindow {
			possibly[m.prescriber] = true
		}
		if m.Class != opioid {
			continue
		}
		if m.isCurrent(e.day) && !slices.Contains(names, m.name) {
			names = append(names, m.name)
		}
		if inWindow {
			prescribing[m.prescriber], dispensing[m.pharmacy] = true, true
		}
	}
	delete(prescribing, "") // who is not named is not counted
	delete(dispensing, "")
	delete(possibly, "")
	return names, len(prescribing), len(dispensing), len(possibly)
}

// lastScored is the day of the newest scored answers to an instrument.
func (e *evidence) lastScored(of series.Instrument) *drug.Day {
	var last *drug.Day
	for i := range e.Series.Assessments {
		if a := &e.Series.Assessments[i]; a.Instrument == of && a.At < e.before && a.Score.Known {
			last = new(dayOf(a.At))
		}
	}
	return last
}

// DrugScreen is the newest urine drug screen of some laboratory results.
type DrugScreen struct {
	Day drug.Day
	// Unexpected is set when a result of that day is not what was expected.
	Unexpected bool
}

// LastDrugScreen finds it, up to and including a day; nil when there is none.
// Records of other types are passed over.
func LastDrugScreen(records []pain.Record, day drug.Day) (*DrugScreen, error) {
	var last *DrugScreen
	for i := range records {
		if records[i].Type != pain.TypeLabs {
			continue
		}
		lab, err := pain.ReadLab(records[i].Value)
		if err != nil {
			return nil, err
		}
		on := pain.DateOf(records[i].RecordedAt).DayNumber()
		if lab.Analyte == "" || lab.Result == "" || on > day || last != nil && on < last.Day {
			continue
		}
		if last == nil || last.Day < on {
			last = &DrugScreen{Day: on}
		}
		if consistent, known := lab.Derived.Consistent.Get(); known && !consistent {
			last.Unexpected = true
		}
	}
	return last, nil
}
