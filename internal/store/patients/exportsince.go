package patients

import (
	"time"

	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
)

// The time at which a record is created is set before the transaction that
// stores it. An export does not have what was committed after it was read, even
// if it was created before. So every export leaves a mark: how far the journal
// went. The next one has what is named by the entries after the mark, besides
// what was created since.

// mostLate limits how many records that were created before a time but
// committed after it are remembered. With more, everything created since the
// first of them counts as new. Some tests reduce it.
var mostLate = 500_000

// late is what was created before the time asked for, but is not in the export
// of that time.
type late struct {
	since    time.Time
	records  map[id.Record]bool
	patients map[id.Patient]bool
}

// NewPatient reports whether a patient was stored since the time asked for.
func (to *ExportReader) NewPatient(p *pain.Patient) bool {
	return !p.CreatedAt.Before(to.late.since) || to.late.patients[p.ID]
}

// NewRecord reports whether a record was stored since the time asked for.
func (to *ExportReader) NewRecord(rec *pain.Record) bool {
	return !rec.CreatedAt.Before(to.late.since) || to.late.records[rec.ID]
}

const (
	exportMark  = `SELECT pos FROM export_mark WHERE org_no = $1 AND as_of <= $2 ORDER BY as_of DESC LIMIT 1`
	journalHead = `SELECT pos FROM journal_head WHERE org_no = $1`
	lateEntries = `SELECT event_type, subject, event_data FROM journal WHERE org_no = $1 AND pos > $2
		AND event_id IS NOT NULL AND event_type IN ('clinical_data.updated', 'patient.created')`
	latePending = `SELECT event_type, subject, event_data FROM journal_pending WHERE org_no = $1
		AND event_id IS NOT NULL AND event_type IN ('clinical_data.updated', 'patient.created')`
)

// readLate reads how far the journal goes, and what is new since the export of
// the time asked for although it was created before.
func (o Org) readLate(tx engine.Tx, to *ExportReader) error {
	to.late = late{since: to.Since}
	if _, err := engine.One(tx, journalHead, func(r engine.Row) { to.Head = journal.Pos(r.Int(0)) }, int64(o.org)); err != nil || to.Since.IsZero() {
		return err
	}
	mark := int64(0)
	marked, err := engine.One(tx, exportMark, func(r engine.Row) { mark = r.Int(0) }, int64(o.org), engine.Millis(to.Since))
	if err != nil || !marked {
		return err
	}
	to.late.records, to.late.patients = map[id.Record]bool{}, map[id.Patient]bool{}
	if err := tx.Query(lateEntries, to.late.entry, int64(o.org), mark); err != nil {
		return err
	}
	if !o.db.Dialect().Sequenced {
		return nil
	}
	return tx.Query(latePending, to.late.entry, int64(o.org))
}

// entry takes a journal entry after the mark.
func (l *late) entry(r engine.Row) error {
	if event.Type(r.Text(0)) == event.PatientCreated {
		patientID, err := id.FromBytes[id.PatientKind](r.Raw(1))
		if err == nil && patientID.Time().Before(l.since) {
			l.patients[patientID] = true
		}
		return err
	}
	records, err := event.Records(r.Raw(2))
	for _, rec := range records {
		if at := rec.Time(); at.Before(l.since) {
			l.records[rec] = true
		}
	}
	if len(l.records) > mostLate {
		for rec := range l.records {
			if at := rec.Time().Truncate(time.Second); at.Before(l.since) {
				l.since = at
			}
		}
		clear(l.records)
	}
	return err
}
