package export

import (
	"slices"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/pain"
)

// patientColumn is a column of the table of patients.
type patientColumn struct {
	pain.Column
	cell func(who *subject, age int) pain.Cell
}

// patientID is the column that joins the tables.
var patientID = pain.Column{Name: "patient_id", Privacy: pain.Pseudonymous, About: "the patient; joins the tables"}

// patientColumns are the columns of the table of patients. The texts of a
// patient come from their declaration.
var patientColumns = func() []patientColumn {
	list := []patientColumn{
		{patientID, func(who *subject, _ int) pain.Cell { return pain.TextCell(who.patient.ID.String()) }},
		{pain.Column{Name: "name", Privacy: pain.Removed}, func(who *subject, _ int) pain.Cell { return pain.TextCell(who.patient.Name) }},
		{pain.Column{Name: "date_of_birth", Type: pain.DateColumn, Privacy: pain.Removed}, func(who *subject, _ int) pain.Cell { return pain.DateCell(who.patient.DateOfBirth) }},
		{pain.Column{Name: "age", Type: pain.IntegerColumn, Unit: "years", Privacy: pain.AgeTo89, About: "on the day of the export"},
			func(_ *subject, age int) pain.Cell { return pain.NumberCell(float64(age)) }},
		{pain.Column{Name: "age_group", Privacy: pain.Kept, About: "<18, 18-29, 30-44, 45-64, 65-89 or 90+"},
			func(_ *subject, age int) pain.Cell { return pain.TextCell(ageGroup(age)) }},
		{pain.Column{Name: "gender_group", Privacy: pain.Kept, About: "female, male, other or unknown, as in the analytics"},
			func(who *subject, _ int) pain.Cell {
				return pain.TextCell(analytics.FoldGender(who.patient.Gender).String())
			}},
	}
	for _, f := range pain.TextFields() {
		list = append(list, patientColumn{pain.Column{Name: strings.ReplaceAll(f.Name, ".", "_"), Privacy: f.Privacy, About: "as sent"},
			func(who *subject, _ int) pain.Cell { return pain.TextCell(f.Of(&who.patient)) }})
	}
	return append(list,
		patientColumn{pain.Column{Name: "condition_codes", Type: pain.TextsColumn, Privacy: pain.Kept, About: "ICD-10 codes of the patient's own medical history, whether current or resolved"},
			func(who *subject, _ int) pain.Cell { return pain.TextsCell(analytics.PatientOf(&who.patient).Codes) }},
		patientColumn{pain.Column{Name: "identifiers", Privacy: pain.Removed, About: "identifiers of other systems, in JSON"},
			func(who *subject, _ int) pain.Cell { return pain.TextCell(who.patient.Identifiers.JSON()) }},
		patientColumn{pain.Column{Name: "medical_history", Privacy: pain.Removed, About: "the whole medical history, in JSON"},
			func(who *subject, _ int) pain.Cell { return pain.TextCell(who.patient.MedicalHistory.JSON()) }},
		patientColumn{pain.Column{Name: "records", Type: pain.IntegerColumn, Privacy: pain.Kept, About: "the number of active clinical records"},
			func(who *subject, _ int) pain.Cell { return pain.NumberCell(float64(who.records)) }},
		patientColumn{pain.Column{Name: "first_recorded_at", Type: pain.MomentColumn, Privacy: pain.DaysOnly, About: "the clinical time of the first record"},
			func(who *subject, _ int) pain.Cell { return who.moment(who.first) }},
		patientColumn{pain.Column{Name: "last_recorded_at", Type: pain.MomentColumn, Privacy: pain.DaysOnly, About: "the clinical time of the last record"},
			func(who *subject, _ int) pain.Cell { return who.moment(who.last) }},
		patientColumn{pain.Column{Name: "created_at", Type: pain.MomentColumn, Privacy: pain.Removed, About: "when the patient was created"},
			func(who *subject, _ int) pain.Cell { return momentCell(who.patient.CreatedAt) }},
	)
}()

// moment returns the time of a record, if there is one.
func (s *subject) moment(ms int64) pain.Cell {
	if s.records == 0 {
		return pain.Cell{}
	}
	return pain.NumberCell(float64(ms))
}

func momentCell(at time.Time) pain.Cell { return pain.NumberCell(float64(at.UnixMilli())) }

// ageGroup returns the group of an age. The oldest ages share one group.
func ageGroup(age int) string {
	switch {
	case age < 18:
		return "<18"
	case age < 30:
		return "18-29"
	case age < 45:
		return "30-44"
	case age < 65:
		return "45-64"
	case age < 90:
		return "65-89"
	}
	return "90+"
}

// clinicalColumns of the table of patients are computed from clinical data.
var clinicalColumns = []string{"records", "first_recorded_at", "last_recorded_at"}

// patientTable is the table of patients. clinical includes the columns that are
// computed from clinical data.
func patientTable(asOf time.Time, clinical bool) *table {
	t := &table{name: patientsPart, about: "One row for each patient."}
	columns := slices.DeleteFunc(slices.Clone(patientColumns), func(c patientColumn) bool {
		return !clinical && slices.Contains(clinicalColumns, c.Name)
	})
	for i := range columns {
		t.columns = append(t.columns, columns[i].Column)
	}
	today := pain.DateOf(asOf)
	t.rows = func(it item, row []pain.Cell, emit func([]pain.Cell) error) error {
		age := it.who.patient.DateOfBirth.Age(today)
		for i := range columns {
			row = append(row, columns[i].cell(it.who, age))
		}
		return emit(row)
	}
	return t
}
