package fhir

import (
	"encoding/json"
	"strings"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/strictjson"
)

// Draft is a resource as the write that it equals in /v1. One of Patient,
// History and Record is set.
type Draft struct {
	Type string // of the resource
	ID   string // as sent; "" if it has none

	// Patient is the body of POST /v1/patients, without medical_history.
	Patient json.RawMessage
	// History is an entry of medical_history.
	History json.RawMessage
	// Record is the body of one record for POST
	// /v1/patients/{id}/clinical-data.
	Record json.RawMessage

	DataType pain.DataType // of Record
	// Subject is the reference to the patient, as written. It is empty for a
	// Patient.
	Subject Reference
	// Status is Final, Amended or EnteredInError; "" for a Patient.
	Status pain.Status
	// Key is not empty if the resource says to which record it belongs.
	// Resources with the same key are parts of one record; [Join] joins them.
	Key string
	// Part is which part of the record the resource is: the suffix of its id,
	// such as "bp"; "" for a resource that is a whole record.
	Part string
	// Stop is the day on which the stop of a medicine was recorded, if the
	// resource says what this service derived; the zero Date for none.
	Stop    pain.Date
	HasStop bool
	// Identifiers are those with a system and a value.
	Identifiers []pain.Identifier

	// partial is set if the record has fields that this resource says nothing
	// about, although its id has no suffix: the score of answers.
	partial bool

	root   *strictjson.Object // the resource
	value  object             // of the record
	record object             // the other fields of the record
	paths  map[string]string
}

// Path translates the path of a field of the /v1 body, as in an error of
// package pain, into the expression of the element that it came from:
// value.score becomes Observation.valueQuantity.value. A path that came from no
// element becomes the nearest one above it, at last the resource type.
func (d *Draft) Path(v1Path string) string {
	for path := v1Path; path != ""; {
		if expression, ok := d.paths[path]; ok {
			return expression
		}
		at := strings.LastIndexAny(path, ".[")
		if at < 0 {
			break
		}
		path = path[:at]
	}
	return d.Type
}

// Has reports whether the resource has a top-level element.
func (d *Draft) Has(element string) bool {
	_, has := d.root.Get(element)
	return has
}

func (d *Draft) from(v1Path, expression string) {
	if d.paths == nil {
		d.paths = map[string]string{}
	}
	d.paths[v1Path] = expression
}

// note is from for a path that may be noted already, which then stays.
func (d *Draft) note(v1Path, expression string) {
	if _, known := d.paths[v1Path]; !known {
		d.from(v1Path, expression)
	}
}
