package summary

import (
	"cmp"
	"slices"

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
	StartDate string `json:"start_date"`
	// EndDate is the last day that is covered; null when that is not known.
	EndDate *string `json:"end_date"`
	// MMEPerDay is null of what is no opioid, and of an opioid with a reason.
	MMEPerDay         *float64 `json:"mme_per_day"`
	MMEExcludedReason *string  `json:"mme_excluded_reason"`
}

// medicine is a prescription with the days it covers or may cover.
type medicine struct {
	series.Medication
	record               *pain.Record
	name                 string
	ends                 bool // has an end date
	prescriber, pharmacy string
}

func (e *evidence) readMedicine(rec *pain.Record) error {
	v, err := pain.ReadMedication(rec.Value)
	if err != nil {
		return err
	}
	if entry, ok := series.MedicationOf(&v, rec.RecordedAt); ok && entry.First <= e.day {
		e.medicines = append(e.medicines, medicine{entry, rec, v.Name, v.EndDate != (pain.Date{}), v.PrescriberID, v.PharmacyID})
	}
	return nil
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
		item := Medication{RecordID: m.record.ID.String(), Name: m.name, DrugClass: m.Class.String(), Status: m.Status.String(), StartDate: date(m.First)}
		if !m.Open {
			item.EndDate = new(date(m.Last))
		}
		if m.Class == opioid {
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

// courses are the opioids, open ones up to the day.
func (e *evidence) courses() []drug.Course {
	var list []drug.Course
	for i := range e.medicines {
		if m := &e.medicines[i]; m.Class == opioid {
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

// anyCurrent reports whether a medicine of a class is taken on the day.
func (e *evidence) anyCurrent(class series.Class) bool {
	for i := range e.medicines {
		if m := &e.medicines[i]; m.Class == class && m.isCurrent(e.day) {
			return true
		}
	}
	return false
}
