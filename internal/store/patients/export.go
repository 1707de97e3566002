package patients

import (
	"context"
	"time"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/series"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
)

// exportedAtOnce is the number of patients that ExportData reads at a time. Their
// records are streamed, however many there are.
const exportedAtOnce = 256

// ExportReader receives the data of an export. Its functions are called one at
// a time.
type ExportReader struct {
	// Wants selects patients. nil selects all.
	Wants func(*pain.Patient) bool
	// Patient is called for each selected patient, ordered by number, before
	// Record is called for its active records, ordered by clinical time. The
	// series is empty unless WithSeries is set, and nil for a patient without
	// one.
	Patient func(*pain.Patient, *series.Series) error
	Record  func(*pain.Record) error
	// WithSeries reads the series.
	WithSeries bool
	// Since is the time of the data of an earlier export, for NewPatient and
	// NewRecord. Zero makes everything new.
	Since time.Time
	// Head is set to how far the journal goes, before the first patient is read.
	// It is stored with the export, so that the next one can continue from there.
	Head journal.Pos
	late late
	// Seen is called to report progress, with the number of patients read so
	// far.
	Seen func(patients, of int64)
}

// ExportData reads patients with all their active records, in one snapshot.
// Concurrent writes are not part of it and are not blocked.
func (o Org) ExportData(ctx context.Context, to *ExportReader) error {
	return o.db.LongSnapshot(ctx, func(tx engine.Tx) error {
		if err := o.readLate(tx, to); err != nil {
			return err
		}
		highest, err := o.lastNo(tx)
		if err != nil {
			return err
		}
		for first := int64(1); first <= highest; first += exportedAtOnce {
			last := min(first+exportedAtOnce-1, highest)
			if err := o.exportRange(tx, first, last, to); err != nil {
				return err
			}
			to.Seen(last, highest)
		}
		return nil
	})
}

const exportedRecords = `SELECT patient_no, ` + recordColumns + ` FROM clinical_record WHERE org_no = $1 AND patient_no BETWEEN $2 AND $3 AND status <= $4
	ORDER BY patient_no, recorded_at, id`

func (o Org) exportRange(tx engine.Tx, first, last int64, to *ExportReader) error {
	patients, err := o.patientsIn(tx, first, last, to.Wants)
	if err != nil || len(patients) == 0 {
		return err
	}
	byNo := map[int64]*series.Series{}
	if to.WithSeries {
		if byNo, err = o.seriesIn(tx, first, last, patients); err != nil {
			return err
		}
	}
	// announce passes on the patients up to a number.
	next := first
	announce := func(upTo int64) error {
		for ; next <= upTo; next++ {
			if p, here := patients[next]; here {
				if err := to.Patient(&p, byNo[next]); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := tx.Query(exportedRecords, func(r engine.Row) error {
		no := r.Int(0)
		if err := announce(no); err != nil {
			return err
		}
		p, here := patients[no]
		if !here {
			return nil
		}
		rec, err := scanRecord(engine.Shift(r, 1), p.ID)
		if err != nil {
			return err
		}
		return to.Record(&rec)
	}, int64(o.org), first, last, int64(lastActive)); err != nil {
		return err
	}
	return announce(last)
}
