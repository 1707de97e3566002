package summary

import (
	"slices"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
	"anodyne.example/anodyne/internal/pain/timeline"
)

// Opioids holds the opioid stewardship figures of one patient, by the rules of
// the summary. Numbers are not rounded. The window is the period examined; its
// last day is the current day.
type Opioids struct {
	Age   int
	Names []string // distinct names of the current opioids
	// Exposed and Current report whether an opioid is taken in the window and
	// on the day. They are nil if only an unclassified medicine may be one.
	Exposed, Current *bool
	// Unclassified lists the unclassified medicines of the window.
	Unclassified []string
	// MME is that of the current opioids: 0 without one, nil if none counts. If
	// something is missing from it, Band is unknown and MMEIncomplete is set.
	MME           *float64
	Band          *string
	MMEIncomplete bool
	// Peak and Average are definitions 4 and 2 over the window. In
	// PeakOverlapped, early refills count on top of the current supply.
	Peak, PeakOverlapped, Average *float64
	// Incomplete is set if the dose of an opioid in the window is unknown, or a
	// medicine in it may be an opioid.
	Incomplete bool
	// AssumedDays are the days of the window with an assumed medicine, and
	// MMEAssumed reports whether the current day is one.
	AssumedDays int
	MMEAssumed  bool
	Days        int // days of the window covered by an opioid
	MostDays    int // days covered by an opioid or a medicine that may be one
	// Overlap with benzodiazepines; nil if the available data does not decide
	// it.
	Overlap         *bool
	OverlapDays     int
	NaloxoneGap     *bool
	NaloxoneReasons []string
	LastNaloxone    *drug.Day // within a year
	LastPEG         *drug.Day
	// Prescribers and Pharmacies count those of opioids that cover a day of the
	// window; MostPrescribers includes medicines that may be opioids.
	Prescribers, Pharmacies, MostPrescribers int
	OutOfScope                               bool
}

// OpioidsOver returns a patient's opioid figures for a period. It returns an
// error if stored data cannot be read.
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

// decide returns yes or no, or nil if it depends on an unclassified medicine.
func decide(is, may bool) *bool {
	if may && !is {
		return nil
	}
	return &is
}

// MayTakeOpioid reports whether an opioid, or a medicine that may be one, is
// taken on a day of a period.
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

// opioidSources returns the names of the current opioids, and the numbers of
// prescribers and pharmacies in the window.
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
	delete(prescribing, "") // unnamed prescribers are not counted
	delete(dispensing, "")
	delete(possibly, "")
	return names, len(prescribing), len(dispensing), len(possibly)
}

// lastScored returns the day of the latest scored assessment with an
// instrument.
func (e *evidence) lastScored(of series.Instrument) *drug.Day {
	var last *drug.Day
	for i := range e.Series.Assessments {
		if a := &e.Series.Assessments[i]; a.Instrument == of && a.At < e.before && a.Score.Known {
			last = new(dayOf(a.At))
		}
	}
	return last
}

// DrugScreen is the latest urine drug screen.
type DrugScreen struct {
	Day drug.Day
	// Unexpected is set if a result of that day differs from the expected one.
	Unexpected bool
}

// LastDrugScreen returns the latest drug screen up to and including a day, or
// nil. It ignores records of other types.
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
