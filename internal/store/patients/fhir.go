package patients

import (
	"context"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/engine"
)

// FHIRPatient is a patient with what its FHIR resources need beside it.
type FHIRPatient struct {
	pain.Patient
	UpdatedAt time.Time
	// Kept has the elements of received resources for which there is no field:
	// a JSON object by resource, such as "Patient/" or "Condition/<part>"; ""
	// if there are none.
	Kept string
}

// FHIRRecord is a record with what its FHIR resources need beside it.
type FHIRRecord struct {
	pain.Record
	// Root is the first record of the chain of corrections.
	Root id.Record
	// Number is the place in the chain, from 1. A retraction, which adds no
	// record, counts as one more.
	Number int64
	// UpdatedAt is the time of the latest change, also of derived values and of
	// the patient.
	UpdatedAt time.Time
	// Kept is like that of [FHIRPatient].
	Kept string
}

// Rederived reports whether the record changed without a new version: its
// derived values, or the patient.
func (r *FHIRRecord) Rederived() bool {
	return r.Status.Active() && r.UpdatedAt.After(r.CreatedAt)
}

// The statements and columns of patients and records with the columns for FHIR
// in front.
var (
	readFHIRPatient = withTexts(`SELECT kept, updated_at, version, created_at, name, date_of_birth, medical_history, identifiers/*, texts*/
		FROM patient WHERE org_no = $1 AND id = $2`, 0)
	versionsOfRecord = `SELECT p.id, r.` + strings.ReplaceAll(fhirRecordColumns, ", ", ", r.") + ` FROM clinical_record r
		JOIN patient p ON p.org_no = r.org_no AND p.patient_no = r.patient_no
		WHERE r.org_no = $1 AND (r.id = $2 OR r.root = $2) ORDER BY COALESCE(r.version, 1)`
)

const (
	readFHIRRecord = `SELECT ` + fhirRecordColumns + ` FROM clinical_record WHERE org_no = $1 AND id = $3
		AND patient_no = (SELECT patient_no FROM patient WHERE org_no = $1 AND id = $2)`
	beforePatient     = 2 // columns for FHIR
	fhirRecordColumns = `kept, updated_at, root, version, ` + recordColumns
	beforeRecord      = 4 // columns for FHIR
)

// scanFHIRPatient reads kept and updated_at, and then the columns of
// readPatient.
func scanFHIRPatient(r engine.Row, patientID id.Patient) (p FHIRPatient, err error) {
	p.Patient, err = scanPatient(engine.Shift(r, beforePatient), patientID)
	p.UpdatedAt = p.CreatedAt
	if !r.IsNull(0) {
		p.Kept = r.Text(0)
	}
	if !r.IsNull(1) {
		p.UpdatedAt = engine.FromMillis(r.Int(1))
	}
	return p, err
}

// scanFHIRRecord reads fhirRecordColumns.
func scanFHIRRecord(r engine.Row, patientID id.Patient) (rec FHIRRecord, err error) {
	rec.Record, err = scanRecord(engine.Shift(r, beforeRecord), patientID)
	rec.Root, rec.Number, rec.UpdatedAt = rec.ID, 1, rec.CreatedAt
	if !r.IsNull(0) {
		rec.Kept = r.Text(0)
	}
	if !r.IsNull(1) {
		rec.UpdatedAt = engine.FromMillis(r.Int(1))
	}
	if !r.IsNull(2) && err == nil {
		rec.Root, err = id.FromBytes[id.RecordKind](r.Raw(2))
	}
	if !r.IsNull(3) {
		rec.Number = r.Int(3)
	}
	if rec.Status == pain.EnteredInError {
		rec.Number++
	}
	return rec, err
}

// FHIRPatient reads one patient.
func (o Org) FHIRPatient(ctx context.Context, patientID id.Patient) (FHIRPatient, error) {
	return engine.Get(ctx, o.db, func(tx engine.Tx) (FHIRPatient, error) { return o.fhirPatient(tx, patientID) })
}

func (o Org) fhirPatient(tx engine.Tx, patientID id.Patient) (FHIRPatient, error) {
	return onePatient(tx, o, readFHIRPatient, patientID, scanFHIRPatient)
}

// FHIRVersions reads all versions of a record, oldest first. The identifier is
// that of the first one.
func (o Org) FHIRVersions(ctx context.Context, root id.Record) ([]FHIRRecord, error) {
	return engine.Get(ctx, o.db, func(tx engine.Tx) ([]FHIRRecord, error) { return o.fhirVersions(tx, root) })
}

func (o Org) fhirVersions(tx engine.Tx, root id.Record) (chain []FHIRRecord, err error) {
	err = tx.Query(versionsOfRecord, func(r engine.Row) error {
		patientID, err := id.FromBytes[id.PatientKind](r.Raw(0))
		if err != nil {
			return err
		}
		rec, err := scanFHIRRecord(engine.Shift(r, 1), patientID)
		chain = append(chain, rec)
		return err
	}, int64(o.org), root.Bytes())
	if err == nil && (len(chain) == 0 || chain[0].Root != root) { // a later one of a chain has no resource of its own
		return nil, fault.Missing("clinical record", root.String())
	}
	return chain, err
}
