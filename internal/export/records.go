package export

import (
	"fmt"

	"anodyne.example/anodyne/internal/pain"
)

// When a record was stored is removed from de-identified data: records that
// were imported together share that day, and whoever knows it could count back
// to all others.

// The columns that every table of a data type has, before and after those of
// its values, none of which may have the same name.
var (
	beforeValue = []pain.Column{
		patientID,
		{Name: "record_id", Privacy: pain.Pseudonymous, About: "the clinical record"},
		{Name: "recorded_at", Type: pain.MomentColumn, Privacy: pain.DaysOnly, About: "clinical time, in UTC"},
	}
	afterValue = []pain.Column{
		{Name: "notes", Privacy: pain.Removed},
		{Name: "source", Privacy: pain.Kept, About: "patient, clinician, device or import"},
		{Name: "author", Privacy: pain.Removed},
		{Name: "encounter_id", Privacy: pain.Removed},
		{Name: "record_status", Privacy: pain.Kept, About: "final, or amended if it replaces another record"},
		{Name: "corrects", Privacy: pain.Pseudonymous, About: "the record that it replaces"},
		{Name: "created_at", Type: pain.MomentColumn, Privacy: pain.Removed, About: "when it was stored, in UTC"},
	}
)

// recordTable returns the table of a data type.
func recordTable(of pain.DataTypeInfo, deidentify bool) *table {
	appendCells := pain.AppendCells
	if deidentify {
		appendCells = pain.AppendSafeCells
	}
	t := &table{name: of.Name, about: of.About}
	t.columns = append(t.columns, beforeValue...)
	t.columns = append(t.columns, pain.Columns(of.Type)...)
	t.columns = append(t.columns, afterValue...)
	t.rows = func(it item, row []pain.Cell, emit func([]pain.Cell) error) (err error) {
		rec := it.rec
		row = append(row, pain.TextCell(rec.PatientID.String()), pain.TextCell(rec.ID.String()), momentCell(rec.RecordedAt))
		if row, err = appendCells(row, rec.Type, rec.Value); err != nil {
			return fmt.Errorf("record %s: %w", rec.ID, err)
		}
		corrects := pain.Cell{}
		if !rec.Corrects.IsZero() {
			corrects = pain.TextCell(rec.Corrects.String())
		}
		return emit(append(row, pain.TextCell(rec.Notes), pain.TextCell(rec.Source), pain.TextCell(rec.Author), pain.TextCell(rec.EncounterID),
			pain.TextCell(string(rec.Status)), corrects, momentCell(rec.CreatedAt)))
	}
	return t
}
