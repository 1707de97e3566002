package patients

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/series"
	"anodyne.example/anodyne/internal/pain/summary"
	"anodyne.example/anodyne/internal/store/engine"
)

// Chart reads the data of a patient's summary, in one snapshot.
func (o Org) Chart(ctx context.Context, patientID id.Patient) (c summary.Chart, err error) {
	err = o.db.Snapshot(ctx, func(tx engine.Tx) error {
		c = summary.Chart{}
		no := int64(0)
		if err := tx.Many(
			engine.Stmt{SQL: readPatient, Args: []any{int64(o.org), patientID.Bytes()}, Each: func(r engine.Row) (err error) {
				c.Patient, err = scanPatient(r, patientID)
				return err
			}},
			engine.Stmt{SQL: `SELECT patient_no FROM patient WHERE org_no = $1 AND id = $2`, Args: []any{int64(o.org), patientID.Bytes()}, Each: func(r engine.Row) error {
				no = r.Int(0)
				return nil
			}},
			engine.Stmt{SQL: chartRecords, Args: append([]any{int64(o.org), patientID.Bytes(), int64(lastActive)}, numbersOf(summary.RecordTypes)...),
				Each: func(r engine.Row) error {
					rec, err := scanRecord(r, patientID)
					c.Records = append(c.Records, rec)
					return err
				}},
		); err != nil {
			return err
		}
		if no == 0 {
			return o.absent(tx, patientID)
		}
		c.Series, err = o.allSeries(tx, no)
		return err
	})
	return c, err
}

// chartRecords selects a patient's records of all types that a chart includes.
var chartRecords = `SELECT ` + recordColumns + ` FROM clinical_record WHERE org_no = $1 AND patient_no = (SELECT patient_no FROM patient WHERE org_no = $1 AND id = $2)
	AND status <= $3 AND data_type IN (` + placesFrom(4, len(summary.RecordTypes)) + `) ORDER BY recorded_at, id`

// numbersOf returns types as arguments.
func numbersOf(types []pain.DataType) []any {
	args := make([]any, len(types))
	for i, t := range types {
		args[i] = int64(t)
	}
	return args
}

// placesFrom returns a list of count placeholders, starting with number first.
func placesFrom(first, count int) string {
	places := make([]string, count)
	for i := range places {
		places[i] = "$" + strconv.Itoa(first+i)
	}
	return strings.Join(places, ", ")
}

// allSeries reads a patient's series of all years. If one cannot be read, it
// rebuilds all of them from the records.
func (o Org) allSeries(tx engine.Tx, patientNo int64) (s series.Series, err error) {
	readable := true
	if err := tx.Query(`SELECT bytes FROM patient_series WHERE org_no = $1 AND patient_no = $2 ORDER BY year`, func(r engine.Row) error {
		readable = readable && s.Decode(r.Raw(0)) == nil
		return nil
	}, int64(o.org), patientNo); err != nil || readable {
		return s, err
	}
	years := seriesByYear{}
	if err := o.recordedSeries(tx, patientNo, firstYear, lastYear, years, replaced{}); err != nil {
		return s, err
	}
	s = series.Series{}
	for _, year := range slices.Sorted(maps.Keys(years)) {
		years[year].Sort()
		s.Join(years[year])
	}
	return s, nil
}
