package fhir

import (
	"encoding/json"
	"strings"
)

// interpretation is the element of an Observation that says what its value
// means.
const interpretation = "interpretation"

// interpreted reports whether an interpretation says something about an element
// of an Observation.
func interpreted(name string) bool {
	as := stem("Observation", strings.TrimPrefix(name, "_"))
	return as == "value" || as == "component" || as == "dataAbsentReason"
}

// ofScore reports whether an element of an Observation is its value, or says
// something about it.
func ofScore(name string) bool { return interpreted(name) || name == interpretation }

// computedOtherwise reports whether the generated resource is a score that the
// service computed from answers, and the received one has another value.
func computedOtherwise(was, now *elements) bool {
	if was.resourceType != "Observation" || was.get("derivedFrom") == nil {
		return false
	}
	x, okX := was.score()
	y, okY := now.score()
	return okX != okY || x != y
}

// score returns the number that is the value of an Observation. It is not ok
// for one without a value.
func (e *elements) score() (_ float64, ok bool) {
	var q struct{ Value json.Number }
	if text := e.original("valueQuantity"); text != nil && json.Unmarshal(text, &q) == nil && q.Value != "" {
		return floatOf(q.Value), true
	}
	if text := e.original("valueInteger"); text != nil {
		return floatOf(json.Number(text)), true
	}
	return 0, false
}
