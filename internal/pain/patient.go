// Package pain holds the clinical rules: patients and clinical records, their
// validation, and their JSON form. Medicines are in pain/drug, questionnaires
// in pain/instrument.
//
// Each data type has one declaration, a list of fields from which its reader,
// its writer and its JSON Schema follow. Derived values are in the field
// "derived", so that they are never confused with what was sent. The only
// exceptions are the fields raw_score, score, band, status and scored_by of an
// assessment. Derived values are stored with the value and rejected if a
// caller sends them. Values are never clamped or guessed: invalid values are
// rejected, and values that cannot be derived are null, with the reason.
//
// The package has no I/O, and times are passed in. internal/store stores
// records; internal/api maps errors to status codes.
package pain

import (
	"strings"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/strictjson"
)

// Limits of a patient's text fields, in characters.
const (
	maxName   = 200
	maxGender = 50
	maxEmail  = 254
	maxPhone  = 40
)

var earliestBirth = Date{1900, time.January, 1}

// Change is a field changed by a patch, with its values as text. What is
// stored of it is up to the caller.
type Change struct {
	Field, Before, After string
}

// NewPatient creates a patient from a request body. The error is an
// INVALID_PARAMETER fault that lists everything that is wrong.
func NewPatient(body *strictjson.Object, patientID id.Patient, now time.Time) (Patient, error) {
	p := Patient{ID: patientID, CreatedAt: now.UTC().Truncate(time.Second), Version: 1}
	if err := p.merge(body, now, true); err != nil {
		return Patient{}, err
	}
	return p, nil
}

// PatchPatient applies a JSON merge patch (RFC 7396) to a patient. If nothing
// changes, there are no changes and the version stays the same. The error is
// an INVALID_PARAMETER fault that lists everything that is wrong.
func PatchPatient(old Patient, body *strictjson.Object, now time.Time) (Patient, []Change, error) {
	updated := old
	if err := updated.merge(body, now, false); err != nil {
		return Patient{}, nil, err
	}
	changes := differences(&old, &updated)
	if len(changes) > 0 {
		updated.Version++
	}
	return updated, changes, nil
}

// PutPatient returns the patient with an identifier as a request body describes
// it: a new one, or if there is an old one, that with all fields of the body of
// [NewPatient] replaced, those that are absent included. Only the identifiers
// are left as they are if the body has none, because other systems find the
// patient by theirs. Changes and version are as for [PatchPatient].
func PutPatient(old *Patient, one Identifier, body *strictjson.Object, patientID id.Patient, now time.Time) (Patient, []Change, error) {
	if old == nil {
		p, err := NewPatient(body, patientID, now)
		if err == nil {
			err = p.Identify(one)
		}
		return p, nil, err
	}
	updated := Patient{ID: old.ID, CreatedAt: old.CreatedAt, Version: old.Version, Identifiers: old.Identifiers}
	err := updated.merge(body, now, true)
	if err == nil {
		err = updated.Identify(one)
	}
	if err != nil {
		return Patient{}, nil, err
	}
	changes := differences(old, &updated)
	if len(changes) > 0 {
		updated.Version++
	}
	return updated, changes, nil
}

// merge sets the fields present in body. When creating, the required fields
// must be present.
func (p *Patient) merge(body *strictjson.Object, now time.Time, creating bool) error {
	var fields fault.Fields
	r := strictjson.Read(body, &fields)
	if present, _ := r.Has("name"); present || creating {
		p.Name = readName(&r)
	}
	if present, _ := r.Has("date_of_birth"); present || creating {
		p.DateOfBirth = readDateOfBirth(&r, DateOf(now))
	}
	p.mergeTexts(&r, &fields)
	if present, _ := r.Has("medical_history"); present {
		p.MedicalHistory = readHistory(&r, &fields)
	}
	if present, _ := r.Has("identifiers"); present {
		p.Identifiers = readIdentifiers(&r, &fields)
	}
	r.Refuse("id", "is read-only: the service sets it.")
	r.Refuse("created_at", "is read-only: the service sets it.")
	r.Done()
	return fields.Err()
}

func readName(r *strictjson.Reader) string {
	name, ok := r.Required("name")
	if !ok {
		return ""
	}
	name = strings.TrimSpace(name)
	if isBlank(name) {
		r.Fault("name", "must not be blank.")
	} else if problem := LineProblem(name, maxName); problem != "" {
		r.Fault("name", problem)
	}
	return name
}

func readDateOfBirth(r *strictjson.Reader, today Date) Date {
	v, ok := r.Value("date_of_birth")
	if !ok {
		r.Fault("date_of_birth", "is required, in the form YYYY-MM-DD.")
		return Date{}
	}
	text, _ := v.AsString() // a value of another type is not a date either
	d, err := ParseDate(text)
	switch {
	case err != nil:
		r.Fault("date_of_birth", err.Error()+".")
	case today.Before(d):
		r.Fault("date_of_birth", "must not be in the future (YYYY-MM-DD, in UTC).")
	case d.Before(earliestBirth):
		r.Fault("date_of_birth", "must not be before 1900-01-01 (YYYY-MM-DD).")
	}
	return d
}

func differences(old, updated *Patient) []Change {
	var changes []Change
	note := func(field, before, after string) {
		if before != after {
			changes = append(changes, Change{field, before, after})
		}
	}
	note("name", old.Name, updated.Name)
	note("date_of_birth", old.DateOfBirth.String(), updated.DateOfBirth.String())
	for i := range textFields {
		note(textFields[i].Name, textFields[i].Of(old), textFields[i].Of(updated))
	}
	note("medical_history", old.MedicalHistory.JSON(), updated.MedicalHistory.JSON())
	note("identifiers", old.Identifiers.JSON(), updated.Identifiers.JSON())
	return changes
}
