package summary

import (
	"cmp"
	"slices"
	"strings"

	"anodyne/internal/pain"
	"anodyne/internal/pain/drug"
	"anodyne/internal/pain/series"
)

// Medications are the patient's medicines.
type Medications struct {
	Current []Medication `json:"current"`
}

// Medication is a medicine that covers the day, or that nobody says has ended.
type Medication struct {
	RecordID  string `json:"record_id"`
	Name      string `json:"name"`
	DrugClass string `json:"drug_class"`
	Status    string `json:"status"`
	// FirstStartDate is the first day of any prescription of the same medicine
	// on record; StartDate is that of this one, which may be a refill.
	FirstStartDate string `json:"first_start_date"`
	StartDate      string `json:"start_date"`
	// EndDate is the last day that is covered; null when that is not known.
	EndDate *string `json:"end_date"`
	// MMEPerDay is null of what is no opioid, and with a reason of an opioid and
	// of a medicine that may be one.
	MMEPerDay         *float64 `json:"mme_per_day"`
	MMEExcludedReason *string  `json:"mme_excluded_reason"`
}

// medicine is a prescription with the days it covers or may cover.
type medicine struct {
	series.Medication
	record               *pain.Record
	name                 string
	same                 string // what prescriptions of the same medicine share
	ends                 bool   // has an end date
	prescriber, pharmacy string
}

func (e *evidence) readMedicine(rec *pain.Record) error {
	v, err := pain.ReadMedication(rec.Value)
	if err != nil {
		return err
	}
	if entry, ok := series.MedicationOf(&v, rec.RecordedAt); ok && entry.First <= e.day {
		e.medicines = append(e.medicines, medicine{entry, rec, v.Name, sameAs(&v), v.EndDate != (pain.Date{}), v.PrescriberID, v.PharmacyID})
	}
	return nil
}

// sameAs is what prescriptions of the same medicine share: the ingredients, or
// the name when they are not known.
func sameAs(v *pain.Medication) string {
	if len(v.Derived.Ingredients) == 0 {
		return strings.ToLower(v.Name)
	}
	return strings.Join(slices.Sorted(slices.Values(v.Derived.Ingredients)), "\n")
}

// firstStart is the first day of any prescription of the same medicine.
func (e *evidence) firstStart(m *medicine) drug.Day {
	first := m.First
	for i := range e.medicines {
		if other := &e.medicines[i]; other.same == m.same {
			first = min(first, other.First)
		}
	}
	return first
}

// isCurrent reports whether a medicine is taken on the day: it covers it, or
// it is open and goes on. One that ended, nobody says when, is not.
func (m *medicine) isCurrent(day drug.Day) bool {
	if m.Ended() && !m.ends {
		return false
	}
	return m.Open || day <= m.Last // it has begun
}

func (e *evidence) current() []Medication {
	list := []Medication{}
	for i := range e.medicines {
		m := &e.medicines[i]
		if !m.isCurrent(e.day) {
			continue
		}
		item := Medication{RecordID: m.record.ID.String(), Name: m.name, DrugClass: m.Class.String(), Status: m.Status.String(), FirstStartDate: date(e.firstStart(m)), StartDate: date(m.First)}
		if !m.Open {
			item.EndDate = new(date(m.Last))
		}
		if m.mayBeOpioid() {
			if m.Reason == 0 {
				item.MMEPerDay = rounded(m.MME, 1)
			} else {
				item.MMEExcludedReason = new(m.Reason.String())
			}
		}
		list = append(list, item)
	}
	slices.SortStableFunc(list, func(a, b Medication) int {
		return cmp.Or(cmp.Compare(a.StartDate, b.StartDate), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// The classes that are asked for.
var (
	opioid         = series.ClassOf(drug.Opioid)
	benzodiazepine = series.ClassOf(drug.Benzodiazepine)
	gabapentinoid  = series.ClassOf(drug.Gabapentinoid)
)

// mayBeOpioid reports whether a medicine is an opioid, or nobody knows what it
// is.
func (m *medicine) mayBeOpioid() bool { return m.Class == opioid || m.Class == series.Unclassified }

// courses are the opioids and what may be one, open ones up to the day.
func (e *evidence) courses() []drug.Course {
	var list []drug.Course
	for i := range e.medicines {
		if m := &e.medicines[i]; m.mayBeOpioid() {
			list = append(list, m.Course(e.day))
		}
	}
	return list
}

// spans are the days in the window that medicines of a class cover, or, if
// possible is set, may cover.
func (e *evidence) spans(class series.Class, possible bool) []drug.Span {
	var list []drug.Span
	for i := range e.medicines {
		m := &e.medicines[i]
		if m.Class != class || m.Open && !possible {
			continue
		}
		if span, ok := m.Possible(e.day).Within(e.window()); ok {
			list = append(list, span)
		}
	}
	return list
}

// possiblyShared is on how many days an opioid and a medicine of another class
// may both have been taken: one that is not understood may be either, but not
// both.
func (e *evidence) possiblyShared(class series.Class) int {
	opioids, others, unknown := e.spans(opioid, true), e.spans(class, true), e.spans(series.Unclassified, true)
	days := drug.Shared(opioids, others)
	if len(unknown) > 0 {
		days = slices.Concat(days, drug.Shared(opioids, unknown), drug.Shared(unknown, others), drug.Twice(unknown))
	}
	return drug.CoveredDays(days)
}

// notUnderstood names the medicines that are, or may be, taken in a span and of
// which nobody knows what they are, each once.
func (e *evidence) notUnderstood(in drug.Span) []string {
	return e.unclassified(func(m *medicine) bool {
		_, ok := m.Possible(e.day).Within(in)
		return ok
	})
}

// unclassified names those of the medicines that are not understood.
func (e *evidence) unclassified(counts func(*medicine) bool) []string {
	names := []string{}
	for i := range e.medicines {
		if m := &e.medicines[i]; m.Class == series.Unclassified && counts(m) && !slices.Contains(names, m.name) {
			names = append(names, m.name)
		}
	}
	return names
}

// anyCurrent reports whether a medicine of a class is taken on the day.
func (e *evidence) anyCurrent(class series.Class) bool {
	for i := range e.medicines {
		if m := &e.medicines[i]; m.Class == class && m.isCurrent(e.day) {
			return true
		}
	}
	return false
}
