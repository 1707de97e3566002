package store

import (
	"context"
	"maps"
	"slices"

	"anodyne/internal/id"
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
		var no int64
		if _, err := one(tx, `SELECT patient_no FROM patient WHERE org_no = $1 AND id = $2`, func(r Row) { no = r.Int(0) }, int64(o.org), patientID.Bytes()); err != nil {
			return err
		}
		if c.Series, err = o.allSeries(tx, no); err != nil {
			return err
		}
		types := summary.RecordTypes
		return tx.Query(`SELECT `+recordColumns+` FROM clinical_record WHERE org_no = $1 AND patient_no = $2
			AND data_type IN ($3, $4, $5) AND status <= $6 ORDER BY recorded_at, id`, func(r Row) error {
			rec, err := scanRecord(r, patientID)
			c.Records = append(c.Records, rec)
			return err
		}, int64(o.org), no, int64(types[0]), int64(types[1]), int64(types[2]), int64(lastActive))
	})
	return c, err
}

// allSeries reads a patient's series of all years. When one cannot be read,
// all are made from the records.
func (o Org) allSeries(tx Tx, patientNo int64) (s series.Series, err error) {
	readable := true
	if err := tx.Query(`SELECT bytes FROM patient_series WHERE org_no = $1 AND patient_no = $2 ORDER BY year`, func(r Row) error {
		readable = readable && s.Decode(r.Raw(0)) == nil
		return nil
	}, int64(o.org), patientNo); err != nil || readable {
		return s, err
	}
	years := seriesByYear{}
	if err := o.recordedSeries(tx, patientNo, firstYear, lastYear, years, nil); err != nil {
		return s, err
	}
	s = series.Series{}
	for _, year := range slices.Sorted(maps.Keys(years)) {
		years[year].Sort()
		s.Join(years[year])
	}
	return s, nil
}
