package patients

import (
	"encoding/json"
	"strings"

	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/engine"
)

// keptText is what is kept beside a record for FHIR.
type keptText struct {
	text  string
	carry bool // that of the corrected record
}

// carried keeps what is kept beside the corrected record.
var carried = keptText{carry: true}

// insertCorrection returns the statement that stores the correction of a
// record.
func (o Org) insertCorrection(patientNo int64, rec *pain.Record, kept keptText) engine.Stmt {
	stmt := o.insertRecord(patientNo, rec)
	stmt.Alike = 0 // each correction selects from a different row
	stmt.SQL = `INSERT INTO clinical_record (org_no, patient_no, created_at, id, recorded_at, data_type, status, corrects, value, notes, source, author, encounter_id, root, version, kept)
		SELECT org_no, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, COALESCE(root, id), COALESCE(version, 1) + 1, CASE WHEN $14 = 1 THEN kept ELSE CAST($15 AS TEXT) END
		FROM clinical_record WHERE org_no = $1 AND id = $8`
	carry := int64(0)
	if kept.carry {
		carry = 1
	}
	stmt.Args = append(stmt.Args, carry, nullable(kept.text))
	return stmt
}

// insertWith returns the statements that store a new record with what its
// resources had besides its fields.
func (o Org) insertWith(patientNo int64, rec *pain.Record, extra *Extra) []engine.Stmt {
	stmt := o.insertRecord(patientNo, rec)
	if extra.Kept != "" {
		stmt.SQL = `INSERT INTO clinical_record (org_no, patient_no, created_at, id, recorded_at, data_type, status, corrects, value, notes, source, author, encounter_id, kept)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`
		stmt.Args = append(stmt.Args, extra.Kept)
	}
	return append([]engine.Stmt{stmt}, o.addRecordIdentifiers(rec.ID, extra.Identifiers)...)
}

// keepPatientText stores what is kept beside a patient, unless it is the same.
func (o Org) keepPatientText(tx engine.Tx, patientID id.Patient, old, kept string) {
	if kept != old {
		tx.Last(engine.Stmt{SQL: `UPDATE patient SET kept = $3 WHERE org_no = $1 AND id = $2`, Args: []any{int64(o.org), patientID.Bytes(), nullable(kept)}})
	}
}

// followHistory lets the ids and kept elements of Conditions follow the entries
// of a medical history that changes.
func (o Org) followHistory(tx engine.Tx, old, p *pain.Patient) error {
	if old.MedicalHistory == p.MedicalHistory || old.MedicalHistory == (pain.History{}) {
		return nil
	}
	stored := ""
	if _, err := engine.One(tx, `SELECT COALESCE(kept, '') FROM patient WHERE org_no = $1 AND id = $2`, func(r engine.Row) { stored = r.Text(0) }, int64(o.org), p.ID.Bytes()); err != nil {
		return err
	}
	kept, err := fhir.ParseKept(stored)
	if err != nil {
		return err
	}
	if kept, err = kept.FollowHistory(old.MedicalHistory, p.MedicalHistory); err != nil {
		return err
	}
	o.keepPatientText(tx, p.ID, stored, kept.Text())
	return nil
}

// nullable returns NULL for "".
func nullable(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// keptTexts is what is kept beside a patient: elements by resource and name.
type keptTexts map[string]map[string]json.RawMessage

// notMerged are elements of a Patient that are about the one resource: that it
// is not in use, what replaces it, how it reads. They do not hold for another.
var notMerged = []string{"active", "link", "text", "meta", "deceasedBoolean", "deceasedDateTime"}

// mergeKept returns what is kept beside a patient into which another is merged:
// all elements of the first, and those of the other that the first lacks.
func mergeKept(into, from string) (string, error) {
	kept, more := keptTexts{}, keptTexts{}
	if into != "" {
		if err := json.Unmarshal([]byte(into), &kept); err != nil {
			return "", err
		}
	}
	if err := json.Unmarshal([]byte(from), &more); err != nil {
		return "", err
	}
	for key := range more { // ids are those of the patient that stays
		if strings.HasPrefix(key, "Condition.id/") {
			delete(more, key)
		}
	}
	const ofPatient = "Patient/"
	for _, name := range notMerged {
		delete(more[ofPatient], name)
		delete(more[ofPatient], "_"+name)
	}
	if len(more[ofPatient]) == 0 {
		delete(more, ofPatient)
	}
	added := false
	for resource, elements := range more {
		if kept[resource] == nil {
			kept[resource] = map[string]json.RawMessage{}
		}
		for name, element := range elements {
			if _, has := kept[resource][name]; !has {
				kept[resource][name], added = element, true
			}
		}
	}
	if !added {
		return into, nil
	}
	b, err := json.Marshal(kept)
	return string(b), err
}

// mergeKept moves what is kept beside the merged patient, and reports whether
// that changes what is kept beside the other.
func (m *merge) mergeKept() (changed bool, err error) {
	texts := map[id.Patient]string{}
	read := func(patientID id.Patient) engine.Stmt {
		return engine.Stmt{SQL: `SELECT kept FROM patient WHERE org_no = $1 AND id = $2 AND kept IS NOT NULL`, Args: []any{int64(m.org), patientID.Bytes()}, Each: func(r engine.Row) error {
			texts[patientID] = r.Text(0)
			return nil
		}}
	}
	if err := m.tx.Many(read(m.from.ID), read(m.into.ID)); err != nil || texts[m.from.ID] == "" {
		return false, err
	}
	merged, err := mergeKept(texts[m.into.ID], texts[m.from.ID])
	if err == nil {
		m.keepPatientText(m.tx, m.into.ID, texts[m.into.ID], merged)
	}
	return merged != texts[m.into.ID], err
}
