// Package series holds the comparable part of a patient's records: pain
// scores, instruments, procedures, medicines, drug screens and the impact of
// pain, reduced to what analytics need and packed into a few bytes each, so
// that measures over a hundred thousand patients do not read the records.
//
// A series is built from the active records of one patient and year. Every
// entry, including a medicine, belongs to the UTC year of its record's
// clinical time, regardless of the days it covers. So a year is built from one
// range of records, and analyses of medicines read all years of a patient. The
// packed form is canonical: the same records result in the same bytes,
// provided that records with equal times are added in the order of their
// identifiers.
//
// The package has no I/O; internal/store stores the bytes in the transaction
// of each write.
package series

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/instrument"
)

// Series is the comparable part of some records, with each kind in order.
type Series struct {
	Scores      []Score
	Assessments []Assessment
	Procedures  []Procedure
	Medications []Medication
	Impacts     []Impact
	Screens     []drug.Day // days with a drug screen, distinct
}

// Score is a pain score. Scores are comparable if scale, aspect, site and side
// are the same.
type Score struct {
	At int64 // milliseconds since 1970
	Kind
	Value uint8 // on its own scale
	After bool  // taken after a procedure, according to its context
}

// Kind is what comparable scores have in common.
type Kind struct {
	Scale  Scale
	Aspect Aspect
	Site   Site
	Side   Side
}

// Assessment is an answered instrument.
type Assessment struct {
	At         int64
	Instrument Instrument
	Status     Status
	Safety     Truth // answer to the safety item needs attention
	Score      Value
}

// Procedure is an intervention with pain before and after.
type Procedure struct {
	At        int64
	Type      ProcedureType
	Site      Site
	Pre, Post Value
}

// Medication is a prescription that covers or may cover some days.
type Medication struct {
	// Span is the days covered. For an open prescription, which has neither
	// supply nor end date, only the first day is known; Last is then the day of
	// the record, on which it was still taken or, according to its status, had
	// ended.
	drug.Span
	Open       bool
	Class      Class
	Ingredient Ingredient // the ingredient that determines the class
	Status     MedicationStatus
	Reason     Reason // why an opioid has no MME
	// Supplied is set if the days are those of a supply, which an early refill
	// carries forward. HasEnd is set if the prescription is known to have ended
	// on the day End: by its end date or, for a stopped supply, on the day
	// before the record of the stop.
	Supplied, HasEnd bool
	Release          drug.Release // of an oral opioid
	End              drug.Day
	// Start is the first day according to the record, after package timeline
	// has set Span to the days that count. It is not stored.
	Start drug.Day
	MME   float64
	// Drug is shared by prescriptions of the same ingredient and route, and
	// Product by those with the same strength as well. It is 0 if the strength
	// is unknown.
	Drug, Product uint32
	// Prescriber and Pharmacy are hashes of the names; 0 if not recorded.
	Prescriber, Pharmacy uint32
}

// Impact is an answer about how often there was pain, or how often it limited
// life or work.
type Impact struct {
	At    int64
	Asks  Question
	Level Level
}

// Value is an optional number.
type Value struct {
	Number float64
	Known  bool
}

// Truth is true, false or unknown.
type Truth uint8

// The values of Truth.
const (
	NotSaid Truth = iota
	False
	True
)

// Types are the data types included in a series.
var Types = []pain.DataType{pain.TypePainScores, pain.TypeMedications, pain.TypeAssessments, pain.TypeProcedures, pain.TypeFunctionalStatus, pain.TypeLabs}

// Takes reports whether records of this type are included in a series.
func Takes(t pain.DataType) bool { return slices.Contains(Types, t) }

// YearOf returns the year that a record belongs to.
func YearOf(at time.Time) int { return at.UTC().Year() }

// Add appends a record; [Series.Sort] then moves it after those with the same
// time. Records of other types, and medicines that cover no day, are ignored.
// It returns an error if the stored value does not match its type.
func (s *Series) Add(rec *pain.Record) (err error) {
	switch rec.Type {
	case pain.TypePainScores:
		err = s.addScore(rec)
	case pain.TypeMedications:
		err = s.addMedication(rec)
	case pain.TypeAssessments:
		err = s.addAssessment(rec)
	case pain.TypeProcedures:
		err = s.addProcedure(rec)
	case pain.TypeFunctionalStatus:
		err = s.addImpact(rec)
	case pain.TypeLabs:
		err = s.addScreen(rec)
	}
	return err
}

func (s *Series) addScore(rec *pain.Record) error {
	p, err := rec.PainScore()
	if err != nil {
		return err
	}
	score, ok := p.Score.Get()
	if !ok || score < 0 || score > 255 || score != float64(uint8(score)) {
		return fmt.Errorf("stored value: not a pain score")
	}
	s.Scores = append(s.Scores, Score{
		At: rec.RecordedAt.UnixMilli(), Value: uint8(score), After: p.Context == "post_procedure",
		Kind: Kind{Scale(scales.code(p.Scale)), Aspect(aspects.code(p.Aspect)), Site(sites.code(p.BodySite)), Side(sides.code(p.Laterality))},
	})
	return nil
}

func (s *Series) addAssessment(rec *pain.Record) error {
	a, err := rec.Assessment()
	if err != nil {
		return err
	}
	entry := Assessment{At: rec.RecordedAt.UnixMilli(), Instrument: Instrument(instruments.code(a.Instrument)), Status: Status(statuses.code(a.Status)), Score: valueOf(a.Score)}
	info := instrument.Find(a.Instrument)
	if safety, ok := a.Derived.SafetyFlag.Get(); ok && info != nil && info.Safety > 0 && a.Items.Answers[info.Safety-1] != instrument.Missing {
		entry.Safety = False
		if safety {
			entry.Safety = True
		}
	}
	s.Assessments = append(s.Assessments, entry)
	return nil
}

func (s *Series) addProcedure(rec *pain.Record) error {
	p, err := rec.Procedure()
	if err != nil {
		return err
	}
	s.Procedures = append(s.Procedures, Procedure{
		At: rec.RecordedAt.UnixMilli(), Type: ProcedureType(procedureTypes.code(p.ProcedureType)), Site: Site(sites.code(p.BodySite)),
		Pre: valueOf(p.PreScore), Post: valueOf(p.PostScore),
	})
	return nil
}

func (s *Series) addMedication(rec *pain.Record) error {
	m, err := rec.Medication()
	if err != nil {
		return err
	}
	if entry, ok := MedicationOf(m, rec.RecordedAt); ok {
		s.Medications = append(s.Medications, entry)
	}
	return nil
}

// MedicationOf returns the entry of a prescription. It is not ok if the
// prescription covers no day, because it was cancelled, is a draft or ends
// before it begins.
func MedicationOf(m *pain.Medication, at time.Time) (_ Medication, ok bool) {
	entry := Medication{
		Class: Class(classes.code(m.Derived.DrugClass)), Ingredient: Ingredient(ingredients.code(leading(m))),
		Status: MedicationStatus(medicationStatuses.code(m.Status)), Reason: Reason(reasons.code(m.Derived.MMEExcludedReason)),
		MME: m.Derived.MMEPerDay.Or(0), HasEnd: m.EndDate != (pain.Date{}), End: endOf(m),
		Prescriber: nameOf(m.PrescriberID), Pharmacy: nameOf(m.PharmacyID),
	}
	_, entry.Supplied = m.DaysSupply.Get()
	entry.Drug, entry.Product = identity(m)
	entry.Release = m.Release()
	on := pain.DateOf(at)
	covered, ok := m.Covered(on)
	if ok {
		entry.Span = covered
		entry.stopSupply(stopOf(m, on, covered.First))
		return entry, true
	}
	if entry.Ended() && entry.HasEnd && m.StartDate == (pain.Date{}) {
		// It ended on a day before the record; nothing else is known.
		entry.Span = drug.Span{First: entry.End, Last: entry.End}
		entry.Supplied = false
		return entry, true
	}
	if !m.Open() {
		return Medication{}, false
	}
	entry.Open = true
	entry.First = on.DayNumber()
	if m.StartDate != (pain.Date{}) {
		entry.First = m.StartDate.DayNumber()
	}
	entry.Last = max(entry.First, stopOf(m, on, entry.First))
	return entry, true
}

// stopOf returns the day on which a medicine is known to have been stopped:
// that of the record or, if that is not after the first day, the day on which
// the stop was recorded.
func stopOf(m *pain.Medication, on pain.Date, first drug.Day) drug.Day {
	if on.DayNumber() <= first && m.Derived.StopRecordedOn != (pain.Date{}) {
		return m.Derived.StopRecordedOn.DayNumber()
	}
	return on.DayNumber()
}

// stopSupply ends a supply that was stopped on an unknown day: it was taken up
// to the day before the record. A record on the first day does not tell when.
func (m *Medication) stopSupply(on drug.Day) {
	if status := m.Status.String(); m.HasEnd || on <= m.First || on > m.Last || status != "stopped" && status != "on-hold" {
		return
	}
	m.Last = on - 1
	m.HasEnd, m.End = true, m.Last
}

func valueOf(n pain.Number) Value {
	f, ok := n.Get()
	return Value{f, ok}
}

// Join appends all entries of another series.
func (s *Series) Join(other *Series) {
	s.Scores = append(s.Scores, other.Scores...)
	s.Assessments = append(s.Assessments, other.Assessments...)
	s.Procedures = append(s.Procedures, other.Procedures...)
	s.Medications = append(s.Medications, other.Medications...)
	s.Impacts = append(s.Impacts, other.Impacts...)
	s.Screens = append(s.Screens, other.Screens...)
}

// Reset empties the series and keeps its memory.
func (s *Series) Reset() {
	s.Scores, s.Assessments, s.Procedures, s.Medications = s.Scores[:0], s.Assessments[:0], s.Procedures[:0], s.Medications[:0]
	s.Impacts, s.Screens = s.Impacts[:0], s.Screens[:0]
}

// Empty reports whether the series has no entries.
func (s *Series) Empty() bool {
	return len(s.Scores)+len(s.Assessments)+len(s.Procedures)+len(s.Medications)+len(s.Impacts)+len(s.Screens) == 0
}

// Sort puts the entries in the order that Encode requires: by time, and those
// with the same time in the order in which they were added. Medicines are
// sorted by day and then by all other fields.
func (s *Series) Sort() {
	slices.SortStableFunc(s.Scores, func(a, b Score) int { return cmp.Compare(a.At, b.At) })
	slices.SortStableFunc(s.Assessments, func(a, b Assessment) int { return cmp.Compare(a.At, b.At) })
	slices.SortStableFunc(s.Procedures, func(a, b Procedure) int { return cmp.Compare(a.At, b.At) })
	slices.SortStableFunc(s.Impacts, func(a, b Impact) int { return cmp.Compare(a.At, b.At) })
	slices.SortFunc(s.Medications, func(a, b Medication) int { return a.Compare(&b) })
	slices.Sort(s.Screens)
	s.Screens = slices.Compact(s.Screens)
}

// Compare orders medicines by first day, then by all other fields.
func (m *Medication) Compare(other *Medication) int {
	if m.First != other.First {
		return cmp.Compare(m.First, other.First)
	}
	return cmp.Or(cmp.Compare(m.length(), other.length()), cmp.Compare(m.Class, other.Class), cmp.Compare(m.Ingredient, other.Ingredient),
		cmp.Compare(m.Status, other.Status), cmp.Compare(m.Reason, other.Reason), cmp.Compare(m.MME, other.MME), cmp.Compare(m.flags(), other.flags()),
		cmp.Compare(m.End, other.End), cmp.Compare(m.Drug, other.Drug), cmp.Compare(m.Product, other.Product),
		cmp.Compare(m.Prescriber, other.Prescriber), cmp.Compare(m.Pharmacy, other.Pharmacy))
}

// length encodes the number of days and whether the prescription is open.
func (m *Medication) length() uint64 {
	days := uint64(m.Days()) << 1
	if m.Open {
		days |= 1
	}
	return days
}
