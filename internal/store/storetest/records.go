package storetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/strictjson"
)

// Intake returns the current intake for records of a patient.
func Intake(patientID id.Patient) pain.Intake { return intake(patientID, time.Now()) }

func intake(patientID id.Patient, now time.Time) pain.Intake {
	return pain.Intake{PatientID: patientID, NewID: func() id.Record { return id.New[id.RecordKind](now) }, Now: now}
}

// Record returns a record of a patient that is not stored yet, made from a
// request body. It can be called from any goroutine.
func Record(tb testing.TB, patientID id.Patient, body string) pain.Record {
	tb.Helper()
	return RecordAt(tb, time.Now(), patientID, body)
}

// RecordAt is Record at a given time.
func RecordAt(tb testing.TB, now time.Time, patientID id.Patient, body string) pain.Record {
	tb.Helper()
	object, err := strictjson.Parse([]byte(body))
	if err != nil {
		tb.Errorf("%v: %s", err, body)
		return pain.Record{}
	}
	var fields fault.Fields
	rec := pain.NewRecord(object, &fields, intake(patientID, now))
	if err := fields.Err(); err != nil {
		tb.Errorf("%v: %s", err, body)
	}
	return rec
}

// AddRecords stores records of one patient.
func AddRecords(ctx context.Context, o store.Org, patientID id.Patient, records ...pain.Record) error {
	return AddRecordsAt(ctx, o, time.Now(), patientID, records...)
}

// AddRecordsAt is AddRecords at a given time.
func AddRecordsAt(ctx context.Context, o store.Org, now time.Time, patientID id.Patient, records ...pain.Record) error {
	_, err := o.AddRecords(ctx, patientID, records, recorded(patientID, audit.ClinicalCreate, now, records...), nil, now, idempotency.Outcome{})
	return err
}

// Correct corrects a record with a request body, and returns the correction.
func Correct(ctx context.Context, o store.Org, patientID id.Patient, recordID id.Record, body string) (c pain.Correction, err error) {
	return CorrectAt(ctx, o, time.Now(), patientID, recordID, body)
}

// CorrectAt is Correct at a given time.
func CorrectAt(ctx context.Context, o store.Org, now time.Time, patientID id.Patient, recordID id.Record, body string) (c pain.Correction, err error) {
	object, err := strictjson.Parse([]byte(body))
	if err != nil {
		return c, err
	}
	_, err = o.CorrectRecord(ctx, patientID, recordID, nil, now, func(old pain.Record) (pain.Correction, journal.Change, idempotency.Outcome, error) {
		var err error
		c, err = pain.NewCorrection(old, object, intake(patientID, now))
		changed := []pain.Record{c.Old}
		if c.Replaced {
			changed = append(changed, c.New)
		}
		return c, recorded(patientID, audit.ClinicalCorrect, now, changed...), idempotency.Outcome{}, err
	})
	return c, err
}

func recorded(patientID id.Patient, action audit.Action, now time.Time, records ...pain.Record) journal.Change {
	var ids []id.Record
	var types []string
	for i := range records {
		ids = append(ids, records[i].ID)
		if name := records[i].Type.String(); !slices.Contains(types, name) {
			types = append(types, name)
		}
	}
	return journal.Change{
		Audit:   audit.Entry{At: now, Actor: "test", Action: action, Resource: patientID.String()},
		Event:   event.ClinicalData(now, patientID, ids, types),
		Subject: patientID,
	}
}
