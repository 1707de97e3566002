package storetest

import (
	"context"
	"testing"
	"time"

	"anodyne/internal/audit"
	"anodyne/internal/event"
	"anodyne/internal/fault"
	"anodyne/internal/id"
	"anodyne/internal/pain"
	"anodyne/internal/store"
	"anodyne/internal/strictjson"
)

// Intake takes records of a patient in, now.
func Intake(patientID id.Patient) pain.Intake {
	now := time.Now()
	return pain.Intake{PatientID: patientID, NewID: func() id.Record { return id.New[id.RecordKind](now) }, Now: now}
}

// Record makes a record of a patient that is not stored yet, from what a
// caller sends. It can be called from any goroutine.
func Record(tb testing.TB, patientID id.Patient, body string) pain.Record {
	tb.Helper()
	object, err := strictjson.Parse([]byte(body))
	if err != nil {
		tb.Errorf("%v: %s", err, body)
		return pain.Record{}
	}
	var fields fault.Fields
	rec := pain.NewRecord(object, &fields, Intake(patientID))
	if err := fields.Err(); err != nil {
		tb.Errorf("%v: %s", err, body)
	}
	return rec
}

// AddRecords stores records of one patient.
func AddRecords(ctx context.Context, o store.Org, patientID id.Patient, records ...pain.Record) error {
	_, err := o.AddRecords(ctx, patientID, records, recorded(patientID, audit.ClinicalCreate), nil, time.Now(), store.Outcome{})
	return err
}

// Correct corrects a record with what a caller sends, and gives what stands in
// its place.
func Correct(ctx context.Context, o store.Org, patientID id.Patient, recordID id.Record, body string) (c pain.Correction, err error) {
	object, err := strictjson.Parse([]byte(body))
	if err != nil {
		return c, err
	}
	_, err = o.CorrectRecord(ctx, patientID, recordID, nil, time.Now(), func(old pain.Record) (pain.Correction, store.Change, store.Outcome, error) {
		var err error
		c, err = pain.NewCorrection(old, object, Intake(patientID))
		return c, recorded(patientID, audit.ClinicalCorrect), store.Outcome{}, err
	})
	return c, err
}

func recorded(patientID id.Patient, action audit.Action) store.Change {
	now := time.Now()
	return store.Change{
		Audit:   audit.Entry{At: now, Actor: "test", Action: action, Resource: patientID.String()},
		Event:   event.ClinicalData(now, patientID, nil, nil),
		Subject: patientID,
	}
}
