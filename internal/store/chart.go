package store

import (
	"context"

	"anodyne/internal/id"
	"anodyne/internal/pain"
	"anodyne/internal/pain/series"
	"anodyne/internal/pain/summary"
)

// Chart reads what a patient's summary is made of, all of one moment.
func (o Org) Chart(ctx context.Context, patientID id.Patient) (c summary.Chart, err error) {
	err = o.snapshot(ctx, func(tx Tx) error {
		c = summary.Chart{}
		if c.Patient, err = o.patient(tx, readPatient, patientID); err != nil {
			return err
		}
		if err := o.allSeries(tx, patientID, &c.Series); err != nil {
			return err
		}
		q := RecordQuery{Types: summary.RecordTypes}
		return tx.Query(`SELECT `+recordColumns+recordCondition+` ORDER BY recorded_at, id`, func(r Row) error {
			rec, err := scanRecord(r, patientID)
			c.Records = append(c.Records, rec)
			return err
		}, q.args(o, patientID)...)
	})
	return c, err
}

// allSeries reads a patient's series of all years. What cannot be read is made
// from the records.
func (o Org) allSeries(tx Tx, patientID id.Patient, s *series.Series) error {
	readable := true
	if err := tx.Query(`SELECT bytes FROM patient_series WHERE org_no = $1
		AND patient_no = (SELECT patient_no FROM patient WHERE org_no = $1 AND id = $2) ORDER BY year`, func(r Row) error {
		readable = readable && s.Decode(r.Raw(0)) == nil
		return nil
	}, int64(o.org), patientID.Bytes()); err != nil || readable {
		return err
	}
	*s = series.Series{}
	q := RecordQuery{Types: series.Types}
	if err := tx.Query(`SELECT recorded_at, data_type, value`+recordCondition, func(r Row) error {
		return s.Add(pain.DataType(r.Int(1)), fromMillis(r.Int(0)), pain.StoredValue(r.Text(2)))
	}, q.args(o, patientID)...); err != nil {
		return err
	}
	s.Sort()
	return nil
}
