// Package search evaluates FHIR searches: it declares the parameters of each
// resource type, parses their values, and compares them with resources. It is
// pure; which resources are compared, and pages of results, are the API's.
package search

import "slices"

// Kind is the type of a search parameter, which decides how values are
// compared.
type Kind string

// The kinds, as in FHIR's SearchParamType.
const (
	Token     Kind = "token"
	String    Kind = "string"
	Date      Kind = "date"
	Reference Kind = "reference"
)

// modifiers are those that values of a kind may be compared with. All kinds
// have missing.
var modifiers = map[Kind][]string{
	Token:     {"missing", "not"},
	String:    {"missing", "exact", "contains"},
	Date:      {"missing"},
	Reference: {"missing", "Patient"},
}

// Parameter is a search parameter of a resource type.
type Parameter struct {
	Name string
	Kind Kind
	// Paths are the elements that are compared, such as name.family. Lists on
	// the way are searched.
	Paths []string
	// System is the code system of an element that is a plain code.
	System string
	// Documentation says what the name does not.
	Documentation string
}

// Types lists the resource types that can be searched.
func Types() []string { return slices.Clone(types) }

var types = []string{
	"AdverseEvent", "Condition", "DocumentReference", "MedicationRequest", "MedicationStatement", "Observation", "Patient", "Procedure", "QuestionnaireResponse",
}

// Parameters lists the parameters of a resource type; none if it cannot be
// searched.
func Parameters(resourceType string) []Parameter {
	own, ok := parameters[resourceType]
	if !ok {
		return nil
	}
	list := slices.Clone(common)
	if resourceType != "Patient" {
		list = append(list, ofPatient...)
	}
	return append(list, own...)
}

func find(resourceType, name string) *Parameter {
	for _, p := range Parameters(resourceType) {
		if p.Name == name {
			return &p
		}
	}
	return nil
}

var (
	common = []Parameter{
		{Name: "_id", Kind: Token, Paths: []string{"id"}},
		{Name: "_lastUpdated", Kind: Date, Paths: []string{"meta.lastUpdated"}},
		{Name: "identifier", Kind: Token, Paths: []string{"identifier"}},
	}
	ofPatient = []Parameter{
		{Name: "patient", Kind: Reference, Paths: []string{"subject"}},
		{Name: "subject", Kind: Reference, Paths: []string{"subject"}},
	}
	parameters = map[string][]Parameter{
		"Patient": {
			{Name: "name", Kind: String, Paths: []string{"name.text", "name.family", "name.given", "name.prefix", "name.suffix"}},
			{Name: "family", Kind: String, Paths: []string{"name.family"}},
			{Name: "given", Kind: String, Paths: []string{"name.given"}},
			{Name: "birthdate", Kind: Date, Paths: []string{"birthDate"}},
			{Name: "gender", Kind: Token, Paths: []string{"gender"}, System: "http://hl7.org/fhir/administrative-gender"},
		},
		"Condition": {
			{Name: "code", Kind: Token, Paths: []string{"code"}},
			{Name: "category", Kind: Token, Paths: []string{"category"}},
			{Name: "clinical-status", Kind: Token, Paths: []string{"clinicalStatus"}},
			{Name: "onset-date", Kind: Date, Paths: []string{"onsetDateTime", "onsetPeriod"}},
			{Name: "date", Kind: Date, Paths: []string{"onsetDateTime", "onsetPeriod"}, Documentation: "The same as onset-date."},
		},
		"Observation": {
			{Name: "code", Kind: Token, Paths: []string{"code"}},
			{Name: "category", Kind: Token, Paths: []string{"category"}},
			{Name: "date", Kind: Date, Paths: []string{"effectiveDateTime", "effectivePeriod", "effectiveInstant"}},
			{Name: "status", Kind: Token, Paths: []string{"status"}, System: "http://hl7.org/fhir/observation-status"},
		},
		"MedicationRequest": {
			{Name: "code", Kind: Token, Paths: []string{"medicationCodeableConcept"}},
			{Name: "category", Kind: Token, Paths: []string{"category"}},
			{Name: "authoredon", Kind: Date, Paths: []string{"authoredOn"}},
			{Name: "date", Kind: Date, Paths: []string{"authoredOn"}, Documentation: "The same as authoredon."},
			{Name: "status", Kind: Token, Paths: []string{"status"}, System: "http://hl7.org/fhir/CodeSystem/medicationrequest-status"},
			{Name: "intent", Kind: Token, Paths: []string{"intent"}, System: "http://hl7.org/fhir/CodeSystem/medicationrequest-intent"},
		},
		"MedicationStatement": {
			{Name: "code", Kind: Token, Paths: []string{"medicationCodeableConcept"}},
			{Name: "category", Kind: Token, Paths: []string{"category"}},
			{Name: "effective", Kind: Date, Paths: []string{"effectiveDateTime", "effectivePeriod"}},
			{Name: "date", Kind: Date, Paths: []string{"dateAsserted", "effectiveDateTime", "effectivePeriod"}, Documentation: "When it was stated, or effective."},
			{Name: "status", Kind: Token, Paths: []string{"status"}, System: "http://hl7.org/fhir/CodeSystem/medication-statement-status"},
		},
		"Procedure": {
			{Name: "code", Kind: Token, Paths: []string{"code"}},
			{Name: "category", Kind: Token, Paths: []string{"category"}},
			{Name: "date", Kind: Date, Paths: []string{"performedDateTime", "performedPeriod"}},
			{Name: "status", Kind: Token, Paths: []string{"status"}, System: "http://hl7.org/fhir/event-status"},
		},
		"AdverseEvent": {
			{Name: "event", Kind: Token, Paths: []string{"event"}},
			{Name: "code", Kind: Token, Paths: []string{"event"}, Documentation: "The same as event."},
			{Name: "category", Kind: Token, Paths: []string{"category"}},
			{Name: "date", Kind: Date, Paths: []string{"date"}},
		},
		"DocumentReference": {
			{Name: "type", Kind: Token, Paths: []string{"type"}},
			{Name: "code", Kind: Token, Paths: []string{"type"}, Documentation: "The same as type."},
			{Name: "category", Kind: Token, Paths: []string{"category"}},
			{Name: "date", Kind: Date, Paths: []string{"date"}},
			{Name: "status", Kind: Token, Paths: []string{"status"}, System: "http://hl7.org/fhir/document-reference-status"},
		},
		"QuestionnaireResponse": {
			{Name: "authored", Kind: Date, Paths: []string{"authored"}},
			{Name: "date", Kind: Date, Paths: []string{"authored"}, Documentation: "The same as authored."},
			{Name: "status", Kind: Token, Paths: []string{"status"}, System: "http://hl7.org/fhir/questionnaire-answers-status"},
		},
	}
)
