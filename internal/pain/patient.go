// Package pain holds the clinical rules: what a patient is, what may be
// written about one, and how it is printed. Patients and clinical records are
// here; what is known of medicines is in pain/drug, of questionnaires in
// pain/instrument.
//
// A record's value has one declaration for each data type, a list of members
// that is at once its reader, its printer and its JSON Schema. What the
// service works out stands in the value's member "derived", so that what was
// sent and what was computed are never confused; the only exception are the
// members raw_score, score, band, status and scored_by of an assessment. What
// is computed is stored with the value and refused when a caller sends it.
// Values are never clamped or guessed: what does not fit is refused, and what
// cannot be computed is null with its reason.
//
// Everything is pure: a time comes in as an argument, nothing is read or
// stored. Storing is internal/store, status codes are internal/api.
package pain

import (
	"strings"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/strictjson"
)

// Limits of a patient's texts, in characters.
const (
	maxName   = 200
	maxGender = 50
	maxEmail  = 254
	maxPhone  = 40
)

var earliestBirth = Date{1900, time.January, 1}

// Patient is a person whose pain is followed. Text without a value is "".
type Patient struct {
	ID             id.Patient
	Name           string
	DateOfBirth    Date
	Gender         string // as sent; folded only for grouping
	Contact        Contact
	MedicalHistory History
	CreatedAt      time.Time
	Version        int64 // 1 when created, one more with each change
}

// Contact says how to reach a patient.
type Contact struct {
	Email string
	Phone string
}

// Change is one field that a patch changed, as text. It says what happened,
// and leaves it to others what is kept of it.
type Change struct {
	Field, Before, After string
}

// NewPatient makes a patient from a creation payload. The error is an
// INVALID_PARAMETER fault that names everything that is wrong.
func NewPatient(body *strictjson.Object, patientID id.Patient, now time.Time) (Patient, error) {
	p := Patient{ID: patientID, CreatedAt: now.UTC().Truncate(time.Second), Version: 1}
	if err := p.merge(body, now, true); err != nil {
		return Patient{}, err
	}
	return p, nil
}

// PatchPatient applies a JSON merge patch (RFC 7396) to a patient. Without an
// effective change there are no changes and the version stays. The error is
// an INVALID_PARAMETER fault that names everything that is wrong.
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

// merge sets the fields that body has. A new patient is one merged into
// nothing, of whom the required fields must be there.
func (p *Patient) merge(body *strictjson.Object, now time.Time, creating bool) error {
	var fields fault.Fields
	r := strictjson.Read(body, &fields)
	if present, _ := r.Has("name"); present || creating {
		p.Name = readName(&r)
	}
	if present, _ := r.Has("date_of_birth"); present || creating {
		p.DateOfBirth = readDateOfBirth(&r, DateOf(now))
	}
	if present, _ := r.Has("gender"); present {
		p.Gender = readLine(&r, "gender", maxGender)
	}
	if _, null := r.Has("contact"); null {
		p.Contact = Contact{}
	} else if contact, ok := r.Object("contact"); ok {
		p.Contact.merge(contact, &fields)
	}
	if present, _ := r.Has("medical_history"); present {
		p.MedicalHistory = readHistory(&r, &fields)
	}
	r.Refuse("id", "is read-only: the service sets it.")
	r.Refuse("created_at", "is read-only: the service sets it.")
	r.Done()
	return fields.Err()
}

func (c *Contact) merge(body *strictjson.Object, fields *fault.Fields) {
	r := strictjson.Read(body, fields)
	if present, _ := r.Has("email"); present {
		c.Email = readText(&r, "email", emailProblem)
	}
	if present, _ := r.Has("phone"); present {
		c.Phone = readText(&r, "phone", phoneProblem)
	}
	r.Done()
}

func readName(r *strictjson.Reader) string {
	name, ok := r.Required("name")
	if !ok {
		return ""
	}
	name = strings.TrimSpace(name)
	if name == "" {
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
	text, _ := v.AsString() // of another type: no date either
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
	note("gender", old.Gender, updated.Gender)
	note("contact.email", old.Contact.Email, updated.Contact.Email)
	note("contact.phone", old.Contact.Phone, updated.Contact.Phone)
	note("medical_history", old.MedicalHistory.JSON(), updated.MedicalHistory.JSON())
	return changes
}
