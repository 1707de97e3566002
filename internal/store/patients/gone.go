package patients

import (
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
)

// The kinds of patients that are gone, as stored.
const (
	goneMerged = 1
	goneErased = 2
)

// absent returns the error for a patient that was not found: where its data is
// now if it was merged, and otherwise that there is none.
func (o Org) absent(tx engine.Tx, patientID id.Patient) error {
	into, err := o.mergedInto(tx, patientID)
	if err != nil {
		return err
	}
	if into.IsZero() {
		return fault.Missing("patient", patientID.String())
	}
	return fault.New(fault.PatientMerged, "This patient was merged into another one. Use the patient in details.into.", "id", patientID.String(), "into", into.String())
}

// absentRecord returns the error for a record that the patient does not have.
func (o Org) absentRecord(tx engine.Tx, patientID id.Patient, recordID id.Record) error {
	if err := o.absent(tx, patientID); !fault.Is(err, fault.NotFound) {
		return err
	}
	return fault.Missing("clinical record", recordID.String())
}

// mergedInto returns the patient that has the data of a merged one, or the zero
// identifier.
func (o Org) mergedInto(tx engine.Tx, patientID id.Patient) (into id.Patient, err error) {
	err = tx.Query(`SELECT merged_into FROM patient_gone WHERE org_no = $1 AND id = $2 AND kind = $3`, func(r engine.Row) (err error) {
		into, err = id.FromBytes[id.PatientKind](r.Raw(0))
		return err
	}, int64(o.org), patientID.Bytes(), int64(goneMerged))
	return into, err
}

// recordGone returns the statement that records that a patient was merged or
// erased. into is zero unless the patient was merged.
func (o Org) recordGone(patientNo int64, patientID, into id.Patient, at time.Time) engine.Stmt {
	kind, merged := int64(goneErased), any(nil)
	if !into.IsZero() {
		kind, merged = goneMerged, into.Bytes()
	}
	return engine.Stmt{SQL: `INSERT INTO patient_gone (org_no, patient_no, id, kind, merged_into, gone_at) VALUES ($1, $2, $3, $4, $5, $6)`,
		Args: []any{int64(o.org), patientNo, patientID.Bytes(), kind, merged, engine.Millis(at)}}
}
