// Package fhir maps patients and clinical records to FHIR R4 resources and
// back. It is pure: the API, the import and the bulk export give it what the
// store has and take from it what the store gets.
//
// Out, a [Mapping] turns a patient or a record into resources. In, it turns a
// resource into the body that the same write has in /v1, so that package pain
// validates it and a write through FHIR equals one through /v1. Fields without
// a place in FHIR travel in extensions that follow pain's declarations of the
// fields; elements without a field are kept beside the record as received
// ([Keep], [Restore]).
//
// To map a data type: an entry in the table mappings for the way out, and one
// in the table readers for each resource type on the way in.
package fhir

import (
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
)

// DefaultBase is the base of our code systems and extensions if none is
// configured.
const DefaultBase = "https://anodyne.example/fhir"

// Mapping maps in both directions. The zero value uses [DefaultBase].
type Mapping struct {
	// Base is the base of our code systems, extensions and identifier systems,
	// without a slash at the end.
	Base string

	statements bool // medications are written as MedicationStatements

	updated    time.Time   // meta.lastUpdated of patients
	vocabulary *vocabulary // of Base; nil until it is needed
}

// At returns a mapping for patients who were last changed at a time, which is
// meta.lastUpdated of their Patient and Conditions. Without it, that is the
// time of creation.
func (m Mapping) At(updated time.Time) Mapping {
	m.updated = updated
	return m
}

func (m *Mapping) base() string {
	if m.Base == "" {
		return DefaultBase
	}
	return m.Base
}

// Resource is a FHIR resource in JSON.
type Resource struct {
	Type string // such as Observation
	ID   string
	JSON []byte
}

// Version is the place of a record in its chain of corrections.
type Version struct {
	Root        id.Record // the first record of the chain, from which the id follows
	Number      int       // meta.versionId: 1 for the first record
	LastUpdated time.Time // of this version
}

// Patient maps a patient to a Patient, without the medical history.
func (m Mapping) Patient(p *pain.Patient) (Resource, error) { return m.patient(p) }

// Conditions maps the medical history of a patient, one resource for each
// entry. The ids do not depend on the order of the entries.
func (m Mapping) Conditions(p *pain.Patient) ([]Resource, error) { return m.conditions(p) }

// Record maps a record to its resources, of which there is at least one. The
// error is that of a stored value which cannot be read.
func (m Mapping) Record(rec *pain.Record, v Version) ([]Resource, error) { return m.record(rec, v) }

// Read reads one resource. If it has no errors, the draft is what the same
// write has in /v1; otherwise the issues say everything that is wrong. Issues
// beside a draft are warnings.
//
// A resource that is valid but of no concern of this service, such as an
// Observation with a code that no data type has, gives one issue with the code
// [NotSupported] and no draft.
func (m Mapping) Read(body []byte) (*Draft, []Issue) { return m.read(body) }

// The types of problems, from FHIR's IssueType.
const (
	Structure    = "structure"     // not JSON, or not the JSON of this resource
	Required     = "required"      // a required element is absent
	Invalid      = "invalid"       // content that is not valid
	CodeInvalid  = "code-invalid"  // a code that the element does not have
	Value        = "value"         // a value out of range, or in the wrong form
	BusinessRule = "business-rule" // a rule of this service
	NotSupported = "not-supported" // valid, but not taken by this service
	TooLong      = "too-long"      // larger or deeper than allowed
)

// Issue is one problem of a resource, as in an OperationOutcome.
type Issue struct {
	Severity   string // error, warning or information
	Code       string
	Expression string // such as Observation.component[1].valueQuantity.value
	Text       string // says what is wrong; without values of the resource
}
