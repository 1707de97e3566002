package summary

import (
	"cmp"
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
	"anodyne.example/anodyne/internal/pain/timeline"
)

// Medications are the patient's medicines.
type Medications struct {
	Current []Medication `json:"current"`
}

// Medication is a medicine that is taken on the day according to the timeline.
type Medication struct {
	RecordID  string `json:"record_id"`
	Name      string `json:"name"`
	DrugClass string `json:"drug_class"`
	Status    string `json:"status"`
	// FirstStartDate is the first day of any recorded prescription of the same
	// medicine, and LastStartDate that of the latest up to the day. StartDate
	// is that of this prescription. A refill may begin later, when the previous
	// supply is used up.
	FirstStartDate string `json:"first_start_date"`
	LastStartDate  string `json:"last_start_date"`
	StartDate      string `json:"start_date"`
	// EndDate is the last day covered, or null if unknown. In that case the
	// medicine is assumed to be taken after its first day, until AssumedUntil.
	EndDate      *string `json:"end_date"`
	Assumed      bool    `json:"assumed"`
	AssumedUntil *string `json:"assumed_until"`
	// MMEPerDay is null for a medicine that is not an opioid, and null with a
	// reason for an opioid without MME or a medicine that may be an opioid.
	MMEPerDay         *float64 `json:"mme_per_day"`
	MMEExcludedReason *string  `json:"mme_excluded_reason"`
}

// medicine is a prescription with the days on which it counts.
type medicine struct {
	series.Medication
	overlapped           drug.Span // days if no supply is carried forward
	record               *pain.Record
	name                 string
	same                 string // shared by prescriptions of the same medicine
	prescriber, pharmacy string
}

func (e *evidence) readMedicine(rec *pain.Record) error {
	v, err := pain.ReadMedication(rec.Value)
	if err != nil {
		return err
	}
	if entry, ok := series.MedicationOf(&v, rec.RecordedAt); ok && entry.First <= e.day {
		e.medicines = append(e.medicines, medicine{entry, drug.Span{}, rec, v.Name, sameAs(&v), v.PrescriberID, v.PharmacyID})
	}
	return nil
}

// layOut determines the days of the medicines.
func (e *evidence) layOut() {
	list := make([]series.Medication, len(e.medicines))
	for i := range e.medicines {
		list[i] = e.medicines[i].Medication
	}
	var planner timeline.Planner
	planner.Lay(list)
	for i := range e.medicines {
		e.medicines[i].Medication, e.medicines[i].overlapped = list[i], planner.Overlapped[i]
	}
}

// sameAs returns a key shared by prescriptions of the same medicine: the
// ingredients, or the name if they are unknown.
func sameAs(v *pain.Medication) string {
	if len(v.Derived.Ingredients) == 0 {
		return strings.ToLower(v.Name)
	}
	return strings.Join(slices.Sorted(slices.Values(v.Derived.Ingredients)), "\n")
}

// starts returns the first and last day on which a prescription of the same
// medicine begins.
func (e *evidence) starts(m *medicine) (first, last drug.Day) {
	first, last = m.Start, m.Start
	for i := range e.medicines {
		if other := &e.medicines[i]; other.same == m.same {
			first = min(first, other.Start)
			if !other.Ended() {
				last = max(last, other.Start)
			}
		}
	}
	return first, last
}

// isCurrent reports whether a medicine is taken on the day.
func (m *medicine) isCurrent(day drug.Day) bool { return m.First <= day && day <= m.Last }

func (e *evidence) current() []Medication {
	list := []Medication{}
	for i := range e.medicines {
		m := &e.medicines[i]
		if !m.isCurrent(e.day) {
			continue
		}
		first, last := e.starts(m)
		item := Medication{RecordID: m.record.ID.String(), Name: m.name, DrugClass: m.Class.String(), Status: m.Status.String(), FirstStartDate: date(first), LastStartDate: date(last), StartDate: date(m.Start)}
		if m.Open {
			item.Assumed, item.AssumedUntil = true, new(date(m.Last))
		} else {
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

// The classes used in flags.
var (
	opioid         = series.ClassOf(drug.Opioid)
	benzodiazepine = series.ClassOf(drug.Benzodiazepine)
	gabapentinoid  = series.ClassOf(drug.Gabapentinoid)
)

// mayBeOpioid reports whether a medicine is an opioid or unclassified.
func (m *medicine) mayBeOpioid() bool { return m.Class == opioid || m.Class == series.Unclassified }

// courses returns the days and doses of opioids and of medicines that may be
// opioids.
func (e *evidence) courses() []drug.Course {
	var list []drug.Course
	for i := range e.medicines {
		if m := &e.medicines[i]; m.mayBeOpioid() {
			list = append(list, m.Course())
		}
	}
	return list
}

// overlappedCourses is courses with no supply carried forward.
func (e *evidence) overlappedCourses() []drug.Course {
	var list []drug.Course
	for i := range e.medicines {
		if m := &e.medicines[i]; m.mayBeOpioid() {
			c := m.Course()
			c.Span = m.overlapped
			list = append(list, c)
		}
	}
	return list
}

// spans returns the days of the window on which medicines of a class are
// taken.
func (e *evidence) spans(class series.Class) []drug.Span {
	return e.spansOf(class, func(m *medicine) drug.Span { return m.Span })
}

// certainSpans is spans without assumed days.
func (e *evidence) certainSpans(class series.Class) []drug.Span {
	return e.spansOf(class, func(m *medicine) drug.Span {
		certain := m.Span
		if m.Open {
			certain.Last = min(certain.Last, certain.First)
		}
		return certain
	})
}

// spansOf returns the days of the window, of those that days returns for the
// medicines of a class.
func (e *evidence) spansOf(class series.Class, days func(*medicine) drug.Span) (list []drug.Span) {
	for i := range e.medicines {
		m := &e.medicines[i]
		if m.Class != class {
			continue
		}
		if span, ok := days(m).Within(e.window()); ok {
			list = append(list, span)
		}
	}
	return list
}

// possiblyShared returns the number of days on which an opioid and a medicine
// of another class may both have been taken. An unclassified medicine may be
// either, but not both.
func (e *evidence) possiblyShared(class series.Class) int {
	opioids, others, unknown := e.spans(opioid), e.spans(class), e.spans(series.Unclassified)
	days := drug.Shared(opioids, others)
	if len(unknown) > 0 {
		days = slices.Concat(days, drug.Shared(opioids, unknown), drug.Shared(unknown, others), drug.Twice(unknown))
	}
	return drug.CoveredDays(days)
}

// notUnderstood lists the names of the unclassified medicines taken in a span,
// without duplicates.
func (e *evidence) notUnderstood(in drug.Span) []string {
	return e.unclassified(func(m *medicine) bool {
		_, ok := m.Within(in)
		return ok
	})
}

// unclassified lists the names of the unclassified medicines for which counts
// is true.
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
