package patients

import (
	"context"
	"slices"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
	"anodyne.example/anodyne/internal/pain/summary"
	"anodyne.example/anodyne/internal/store/engine"
)

const (
	// patientsAtOnce is the number of patients that OpioidCharts reads at a
	// time.
	patientsAtOnce = 500
	chartsAtOnce   = 100
)

// OpioidQuery selects charts.
type OpioidQuery struct {
	Period drug.Span
	// Wants selects patients without looking at their records. nil selects all.
	Wants func(*pain.Patient) bool
	// Seen is called to report progress, with the number of patients examined
	// so far.
	Seen func(patients, of int64)
}

// OpioidCharts calls each for the selected patients whom an opioid covers, or
// may cover, on a day of the period, ordered by number, and returns how many
// patients were selected. All of it is read in one snapshot. Charts contain
// medications, adverse events and laboratory results.
func (o Org) OpioidCharts(ctx context.Context, q OpioidQuery, each func(*summary.Chart) error) (wanted int, err error) {
	err = o.db.Snapshot(ctx, func(tx engine.Tx) error {
		wanted = 0
		total, err := o.lastNo(tx)
		if err != nil {
			return err
		}
		for first := int64(1); first <= total; first += patientsAtOnce {
			last := min(first+patientsAtOnce-1, total)
			charts, err := o.opioidRange(tx, first, last, &q, &wanted)
			if err != nil {
				return err
			}
			for part := range slices.Chunk(charts, chartsAtOnce) {
				if err := o.chartRecords(tx, part); err != nil {
					return err
				}
				for i := range part {
					if err := each(&part[i].Chart); err != nil {
						return err
					}
				}
			}
			if q.Seen != nil {
				q.Seen(last, total)
			}
		}
		return nil
	})
	return wanted, err
}

// numbered is a chart with its patient's number.
type numbered struct {
	no int64
	summary.Chart
}

var patientRange = withTexts(`SELECT patient_no, id, version, created_at, name, date_of_birth, medical_history, identifiers/*, texts*/
	FROM patient WHERE org_no = $1 AND patient_no BETWEEN $2 AND $3`, 0)

// opioidRange finds the patients in a range who take opioids. It does not read
// their records.
func (o Org) opioidRange(tx engine.Tx, first, last int64, q *OpioidQuery, wanted *int) (charts []numbered, err error) {
	patients, err := o.patientsIn(tx, first, last, q.Wants)
	if err != nil {
		return nil, err
	}
	*wanted += len(patients)
	byNo, err := o.seriesIn(tx, first, last, patients)
	if err != nil {
		return nil, err
	}
	for no := first; no <= last; no++ {
		if s := byNo[no]; s != nil && summary.MayTakeOpioid(s, q.Period) {
			charts = append(charts, numbered{no, summary.Chart{Patient: patients[no], Series: *s}})
		}
	}
	return charts, nil
}

// patientsIn reads the patients with numbers in a range, except those that
// wants, if it is set, rejects.
func (o Org) patientsIn(tx engine.Tx, first, last int64, wants func(*pain.Patient) bool) (map[int64]pain.Patient, error) {
	patients := make(map[int64]pain.Patient, last-first+1)
	err := tx.Query(patientRange, func(r engine.Row) error {
		patientID, err := id.FromBytes[id.PatientKind](r.Raw(1))
		if err != nil {
			return err
		}
		p, err := scanPatient(engine.Shift(r, 2), patientID)
		if err == nil && (wants == nil || wants(&p)) {
			patients[r.Int(0)] = p
		}
		return err
	}, int64(o.org), first, last)
	return patients, err
}

// seriesIn reads the series of those of the patients who have one.
func (o Org) seriesIn(tx engine.Tx, first, last int64, patients map[int64]pain.Patient) (map[int64]*series.Series, error) {
	var unreadable []int64
	byNo := map[int64]*series.Series{}
	if err := tx.Query(`SELECT patient_no, bytes FROM patient_series WHERE org_no = $1 AND patient_no BETWEEN $2 AND $3 ORDER BY patient_no, year`, func(r engine.Row) error {
		no := r.Int(0)
		if _, here := patients[no]; !here {
			return nil
		}
		if byNo[no] == nil {
			byNo[no] = &series.Series{}
		}
		if byNo[no].Decode(r.Raw(1)) != nil {
			unreadable = append(unreadable, no)
		}
		return nil
	}, int64(o.org), first, last); err != nil {
		return nil, err
	}
	for _, no := range unreadable {
		s, err := o.allSeries(tx, no)
		if err != nil {
			return nil, err
		}
		byNo[no] = &s
	}
	return byNo, nil
}

// opioidTypes lists the types of the records in opioid charts.
var opioidTypes = []pain.DataType{pain.TypeMedications, pain.TypeAdverseEvents, pain.TypeLabs}

// opioidRecords selects the records of up to chartsAtOnce patients.
var opioidRecords = `SELECT patient_no, ` + recordColumns + ` FROM clinical_record WHERE org_no = $1 AND status <= $2
	AND data_type IN (` + placesFrom(3, len(opioidTypes)) + `) AND patient_no IN (` + placesFrom(3+len(opioidTypes), chartsAtOnce) + `)
	ORDER BY patient_no, recorded_at, id`

// chartRecords adds the records to charts, which are ordered by number.
func (o Org) chartRecords(tx engine.Tx, charts []numbered) error {
	args := append([]any{int64(o.org), int64(lastActive)}, numbersOf(opioidTypes)...)
	patients := make([]any, chartsAtOnce) // unused placeholders stay NULL, which matches no number
	for i := range charts {
		patients[i] = charts[i].no
	}
	at := 0
	return tx.Query(opioidRecords, func(r engine.Row) error {
		for charts[at].no != r.Int(0) {
			at++
		}
		rec, err := scanRecord(engine.Shift(r, 1), charts[at].Patient.ID)
		charts[at].Records = append(charts[at].Records, rec)
		return err
	}, append(args, patients...)...)
}

// OrgName returns the organisation's name.
func (o Org) OrgName(ctx context.Context) (name string, err error) {
	err = o.db.Read(ctx, func(tx engine.Tx) error {
		_, err := engine.One(tx, `SELECT name FROM org WHERE org_no = $1`, func(r engine.Row) { name = r.Text(0) }, int64(o.org))
		return err
	})
	return name, err
}
