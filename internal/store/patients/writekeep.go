package patients

import (
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/engine"
)

// keepKnown stores the writes about patients that existed before.
func (w *writing) keepKnown() error {
	for i, p := range w.plan {
		if p.create != nil {
			continue
		}
		s := &w.states[i]
		if s.changed {
			w.tx.Last(w.changePatient(&s.current.Patient, w.now))
		}
		if s.current != nil {
			w.keepPatientText(w.tx, p.id, s.was.kept, s.current.kept)
		}
		for n := range s.corrections {
			w.storeCorrection(w.tx, s.no, &s.olds[n].Record, &s.corrections[n], keptText{text: s.extras[n].Kept}, w.now)
			w.tx.Last(w.replaceRecordIdentifiers(s.olds[n].ID, s.extras[n].Identifiers)...)
		}
		w.tx.Last(s.notes...)
		for _, add := range p.adds {
			w.insertRecords(w.tx, s.no, add.write.Records, add.write.Extra, add.write.Change)
		}
		counted := p.counted
		if len(p.correct) > 0 {
			counted = s.counted
		}
		if err := w.keepCounts(w.tx, s.no, s.before.counts, counted); err != nil {
			return err
		}
		var err error
		if len(s.corrections) > 0 {
			err = w.correctSeries(w.tx, s.no, s.corrections, p.records, w.now)
		} else {
			err = w.appendSeries(w.tx, s.no, &p.addition, &s.before, w.now)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// storeCorrection stores a correction, without the counts and series derived
// from it. kept is what is kept beside the record that is in force then.
func (o Org) storeCorrection(tx engine.Tx, patientNo int64, old *pain.Record, c *pain.Correction, kept keptText, now time.Time) {
	tx.Last(engine.Stmt{SQL: `UPDATE clinical_record SET status = $5, updated_at = $6 WHERE org_no = $1 AND patient_no = $2 AND recorded_at = $3 AND id = $4`,
		Args: []any{int64(o.org), patientNo, engine.Millis(old.RecordedAt), old.ID.Bytes(), statusCode(c.Old.Status), engine.Millis(now)}})
	switch {
	case c.Replaced:
		tx.Last(o.insertCorrection(patientNo, &c.New, kept))
	case !kept.carry:
		tx.Last(engine.Stmt{SQL: `UPDATE clinical_record SET kept = $3 WHERE org_no = $1 AND id = $2`, Args: []any{int64(o.org), old.ID.Bytes(), nullable(kept.text)}})
	}
}

// keepNew stores the patients that are created, with their records. They are
// numbered last, because the counter is the most contended row; whoever has
// locked it waits for nothing else.
func (w *writing) keepNew() error {
	created, recorded := 0, false
	for _, p := range w.plan {
		if p.create != nil {
			created++
			recorded = recorded || len(p.records) > 0
		}
	}
	if created == 0 {
		return nil
	}
	claimed := make([][]pain.Identifier, len(w.plan))
	for _, c := range w.claims {
		if c.patient.IsZero() {
			claimed[c.write] = append(claimed[c.write], c.Identifier)
		}
	}
	var no int64 // the latest number
	if recorded {
		if _, err := engine.One(w.tx, `SELECT patients FROM org_counter WHERE org_no = $1 /*FOR UPDATE*/`, func(r engine.Row) { no = r.Int(0) }, int64(w.org)); err != nil {
			return err
		}
	}
	for i, p := range w.plan {
		if p.create == nil {
			continue
		}
		no++
		w.keepPatient(w.tx, &p.create.Patient, claimed[i], p.create.Change)
		w.keepPatientText(w.tx, p.id, "", p.create.Extra.Kept)
		if len(p.records) == 0 {
			continue
		}
		for _, add := range p.adds {
			w.insertRecords(w.tx, no, add.write.Records, add.write.Extra, add.write.Change)
		}
		if err := w.keepCounts(w.tx, no, nil, p.counted); err != nil {
			return err
		}
		if err := w.beginSeries(w.tx, no, p.id, p.addition, w.now); err != nil {
			return err
		}
	}
	return nil
}

// selectStored returns the statement that reads a patient. p stays nil if there
// is none.
func (o Org) selectStored(patientID id.Patient, p **storedPatient) engine.Stmt {
	*p = nil
	return engine.Stmt{SQL: readFHIRPatient, Args: []any{int64(o.org), patientID.Bytes()}, Each: func(r engine.Row) error {
		found, err := scanFHIRPatient(r, patientID)
		*p = &storedPatient{found.Patient, found.Kept}
		return err
	}}
}

// selectStoredRecord returns the statement that reads a record. rec stays nil if
// there is none.
func (o Org) selectStoredRecord(patientID id.Patient, recordID id.Record, rec **storedRecord) engine.Stmt {
	*rec = nil
	return engine.Stmt{SQL: readFHIRRecord, Args: []any{int64(o.org), patientID.Bytes(), recordID.Bytes()}, Each: func(r engine.Row) error {
		found, err := scanFHIRRecord(r, patientID)
		*rec = &storedRecord{found.Record, found.Kept}
		return err
	}}
}
