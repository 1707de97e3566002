package patients

import (
	"context"

	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/engine"
)

// FHIRQuery selects what is read of patients for FHIR.
type FHIRQuery struct {
	// Types are the types of records to read. If empty, none are read.
	Types []pain.DataType
	// InError includes records entered in error, and the earlier versions of
	// those that can lose a part.
	InError bool
}

// highest returns the highest stored status to read.
func (q *FHIRQuery) highest() int64 {
	if q.InError {
		return lastStatus
	}
	return lastActive
}

// types returns the selected types as a bit set.
func (q *FHIRQuery) types() (types int64) {
	for _, t := range q.Types {
		types |= 1 << t
	}
	return types
}

// FHIRChart reads a patient and the selected records, ordered by clinical time
// and identifier, in one snapshot.
func (o Org) FHIRChart(ctx context.Context, patientID id.Patient, q FHIRQuery) (c FHIRChart, err error) {
	err = o.db.Snapshot(ctx, func(tx engine.Tx) error {
		c = FHIRChart{}
		c.Patient, err = o.fhirPatient(tx, patientID)
		if err != nil || len(q.Types) == 0 {
			return err
		}
		return tx.Query(fhirRecords, func(r engine.Row) error {
			rec, err := scanFHIRRecord(r, patientID)
			c.add(rec)
			return err
		}, int64(o.org), patientID.Bytes(), q.types(), q.highest())
	})
	return c, err
}

const fhirRecords = `SELECT ` + fhirRecordColumns + ` FROM clinical_record WHERE org_no = $1
	AND patient_no = (SELECT patient_no FROM patient WHERE org_no = $1 AND id = $2)
	AND (CAST(1 AS BIGINT) << CAST(data_type AS INTEGER)) & $3 <> 0 AND status <= $4 ORDER BY recorded_at, id`

// FHIRChart is a patient with selected records, ordered by clinical time and
// identifier.
type FHIRChart struct {
	No      int64 // 0 for a single chart
	Patient FHIRPatient
	Records []FHIRRecord
	// Earlier are the superseded versions of records that can lose a part, if
	// records entered in error were asked for.
	Earlier []FHIRRecord
}

// scanFHIRChart reads the columns of fhirPatients.
func scanFHIRChart(r engine.Row) (c FHIRChart, err error) {
	patientID, err := id.FromBytes[id.PatientKind](r.Raw(1))
	if err != nil {
		return c, err
	}
	c.No = r.Int(0)
	c.Patient, err = scanFHIRPatient(engine.Shift(r, 2), patientID)
	return c, err
}

func (c *FHIRChart) add(rec FHIRRecord) {
	switch {
	case rec.Status != pain.Superseded:
		c.Records = append(c.Records, rec)
	case fhir.HasParts(rec.Type):
		c.Earlier = append(c.Earlier, rec)
	}
}

// FHIRCharts calls each for the patients numbered first to last, in order, and
// returns the highest number given to a patient, all from one snapshot.
func (o Org) FHIRCharts(ctx context.Context, first, last int64, q FHIRQuery, each func(*FHIRChart) error) (highest int64, err error) {
	var charts []FHIRChart
	err = o.db.Snapshot(ctx, func(tx engine.Tx) error {
		charts = nil
		if highest, err = o.lastNo(tx); err != nil {
			return err
		}
		if err := tx.Query(fhirPatients, func(r engine.Row) error {
			c, err := scanFHIRChart(r)
			charts = append(charts, c)
			return err
		}, int64(o.org), first, last); err != nil || len(q.Types) == 0 {
			return err
		}
		at := 0
		return tx.Query(fhirRecordsIn, func(r engine.Row) error {
			for charts[at].No != r.Int(0) {
				at++
			}
			rec, err := scanFHIRRecord(engine.Shift(r, 1), charts[at].Patient.ID)
			charts[at].add(rec)
			return err
		}, int64(o.org), first, last, q.types(), q.highest())
	})
	for i := range charts {
		if err == nil {
			err = each(&charts[i])
		}
	}
	return highest, err
}

// FHIRChartsOf calls each for the patients with some numbers, in their order,
// from one snapshot. Numbers that no patient has are skipped.
func (o Org) FHIRChartsOf(ctx context.Context, numbers []int64, q FHIRQuery, each func(*FHIRChart) error) error {
	charts := make([]FHIRChart, len(numbers))
	err := o.db.Snapshot(ctx, func(tx engine.Tx) error {
		clear(charts)
		var stmts []engine.Stmt
		for i, no := range numbers {
			c := &charts[i]
			stmts = append(stmts, engine.Stmt{SQL: fhirPatients, Args: []any{int64(o.org), no, no}, Each: func(r engine.Row) error {
				patientID, err := id.FromBytes[id.PatientKind](r.Raw(1))
				if err != nil {
					return err
				}
				c.No = no
				c.Patient, err = scanFHIRPatient(engine.Shift(r, 2), patientID)
				return err
			}})
			if len(q.Types) > 0 {
				stmts = append(stmts, engine.Stmt{SQL: fhirRecordsIn, Args: []any{int64(o.org), no, no, q.types(), q.highest()}, Each: func(r engine.Row) error {
					rec, err := scanFHIRRecord(engine.Shift(r, 1), c.Patient.ID)
					c.add(rec)
					return err
				}})
			}
		}
		return tx.Many(stmts...)
	})
	for i := range charts {
		if err == nil && charts[i].No != 0 {
			err = each(&charts[i])
		}
	}
	return err
}

var fhirPatients = withTexts(`SELECT patient_no, id, kept, updated_at, version, created_at, name, date_of_birth, medical_history, identifiers/*, texts*/
	FROM patient WHERE org_no = $1 AND patient_no BETWEEN $2 AND $3 ORDER BY patient_no`, 0)

const fhirRecordsIn = `SELECT patient_no, ` + fhirRecordColumns + ` FROM clinical_record WHERE org_no = $1 AND patient_no BETWEEN $2 AND $3
	AND (CAST(1 AS BIGINT) << CAST(data_type AS INTEGER)) & $4 <> 0 AND status <= $5 ORDER BY patient_no, recorded_at, id`
