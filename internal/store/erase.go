package store

import (
	"context"
	"errors"
	"slices"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/reports"
)

// erasure is everything that is erased with a patient.
type erasure struct {
	no      int64
	ids     []id.Patient // the patient, and those merged into it
	reports []reports.Report
}

// ErasePatient erases a patient, those that were merged into it, and everything
// about them, in one transaction: records and what is derived from them,
// identifiers, reports about them and reports that list patients, all exports,
// stored responses, answers of webhook receivers, and the details of audit
// lines. The log is sealed again, and its new seal is accepted by all nodes.
// line is the audit line of the request, to be completed; it is what stays.
//
// When ErasePatient returns, nothing of the patient can be read any more.
// [System.KeepErased] then removes the files of deleted reports and exports, and
// what is left in the files of the database.
func (o Org) ErasePatient(ctx context.Context, patientID id.Patient, reason string, line audit.Entry) error {
	return o.erasePatient(ctx, patientID, reason, line, false)
}

// erasePatient erases a patient. alone is as for [journal.System.Forget].
func (o Org) erasePatient(ctx context.Context, patientID id.Patient, reason string, line audit.Entry, alone bool) error {
	for range 5 {
		err := o.eraseOnce(ctx, patientID, reason, line, alone)
		if errors.Is(err, journal.ErrForgetAgain) {
			continue
		}
		if err == nil {
			o.store.erased.Broadcast()
		}
		return err
	}
	return fault.Away("The patient's data is being changed; try again.", journal.ErrForgetAgain)
}

func (o Org) eraseOnce(ctx context.Context, patientID id.Patient, reason string, line audit.Entry, alone bool) error {
	var found erasure
	if err := o.store.db.Write(ctx, func(tx engine.Tx) (err error) {
		found, err = o.erasing(tx, patientID)
		return err
	}); err != nil {
		return err
	}
	forgetting, err := o.store.journal.System().Forget(ctx, o.org, alone, found.resources()...)
	if err != nil {
		return err
	}
	return o.store.journal.Change(ctx, o.org, func(tx engine.Tx) error {
		now, err := o.erasing(tx, patientID)
		if err != nil {
			return err
		}
		if !slices.Equal(now.resources(), found.resources()) {
			return journal.ErrForgetAgain
		}
		return o.erase(ctx, tx, now, forgetting, reason, line)
	})
}

// erasing locks a patient and finds what is erased with it.
func (o Org) erasing(tx engine.Tx, patientID id.Patient) (e erasure, err error) {
	if err := o.HoldQueue(tx); err != nil {
		return e, err
	}
	if e.no, e.ids, err = o.Erasing(tx, patientID); err != nil {
		return e, err
	}
	e.reports, err = o.About(tx, e.ids)
	return e, err
}

// resources returns the identifiers of the patients and reports.
func (e *erasure) resources() (list []string) {
	for _, patientID := range e.ids {
		list = append(list, patientID.String())
	}
	for i := range e.reports {
		list = append(list, e.reports[i].ID.String())
	}
	return list
}

// rewriteMark is the setting that records that the files of the database still
// contain what was erased.
const rewriteMark = "rewrite_erased"

func (o Org) erase(ctx context.Context, tx engine.Tx, e erasure, f *journal.Forgetting, reason string, line audit.Entry) error {
	if err := idempotency.For(o.store.keys, &access.Principal{Org: o.org}).Forget(tx, e.resources()...); err != nil {
		return err
	}
	o.EraseReports(tx, e.reports)
	exports, err := o.EraseExports(tx)
	if err != nil {
		return err
	}
	records, err := o.EraseRows(tx, e.no, e.ids, line.At)
	if err != nil {
		return err
	}
	// This comes late, because the sealer and the organisation's webhooks wait for it.
	forgotten, err := f.Apply(tx)
	if err != nil {
		return err
	}
	if err := o.ForgetAnswers(tx, forgotten.Events); err != nil {
		return err
	}
	if err := forgotten.Accept(ctx, tx); err != nil {
		return err
	}
	tx.Last(engine.Stmt{SQL: `INSERT INTO setting (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
		Args: []any{rewriteMark, []byte(e.ids[0].String())}})
	line.Action, line.Resource = audit.PatientErase, e.ids[0].String()
	line.Details = journal.Details(append([]any{"reason", reason, "records", records, "reports", len(e.reports), "exports", exports}, forgotten.Details...)...)
	tx.Last(o.store.journal.Entry(o.org, journal.Change{Audit: line, Event: event.Patient(event.PatientErased, line.At, e.ids[0]), Subject: e.ids[0]})...)
	return nil
}

// erasedTables have rows that an erasure deletes or changes.
var erasedTables = []string{"patient", "patient_identifier", "clinical_record", "record_identifier", "patient_series", "record_count", "alert_state", "import_key",
	"import_line", "cohort", "cohort_member", "report", "report_chunk", "idempotency", "webhook_delivery", "journal", "journal_pending"}

const (
	// eraseEvery is how often a node looks for erasures of others, and
	// eraseAgain how soon it tries again after a failure.
	eraseEvery = time.Minute
	eraseAgain = 10 * time.Second
	// eraseWithin is how long a round may regularly take: it rewrites the file, and
	// waits for readers such as a backup.
	eraseWithin = 20 * time.Minute
)

// KeepErased removes what was erased from the files of the database, and keeps
// the list of erased patients in the data directory, until the context ends.
func (s System) KeepErased(ctx context.Context) error {
	for {
		wake, pause := s.erased.Wait(), eraseEvery
		err := s.FinishErasures(ctx)
		if ctx.Err() != nil {
			return nil
		}
		s.metrics.erases.Done(err)
		if err != nil {
			s.db.Log.Warn("could not remove erased data from the database files; trying again", "error", err)
			pause = eraseAgain
		}
		select {
		case <-wake:
		case <-time.After(pause):
		case <-ctx.Done():
			return nil
		}
	}
}

// FinishErasures does so once. After a crash, it finishes what was begun. A list
// that cannot be read or written does not keep the files from being rewritten.
func (s System) FinishErasures(ctx context.Context) error {
	return errors.Join(s.listErasures(ctx), s.rewriteErased(ctx))
}

// rewriteErased removes what was erased from the files of the database.
func (s System) rewriteErased(ctx context.Context) error {
	var last []byte
	if err := s.db.Read(ctx, func(tx engine.Tx) error {
		_, err := engine.One(tx, `SELECT value FROM setting WHERE name = $1`, func(r engine.Row) { last = slices.Clone(r.Raw(0)) }, rewriteMark)
		return err
	}); err != nil || last == nil {
		return err
	}
	if err := s.PurgeAllReports(ctx); err != nil {
		return err
	}
	if err := s.db.Rewrite(ctx, erasedTables...); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx engine.Tx) error {
		_, err := tx.Exec(`DELETE FROM setting WHERE name = $1 AND value = $2`, rewriteMark, last)
		return err
	})
}
