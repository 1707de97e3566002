package importer

import (
	"testing"

	"anodyne.example/anodyne/internal/fhir"
)

// Only resources that the service has no data type for are left out; others
// that it cannot take are errors.
func TestOfNoConcern(t *testing.T) {
	const subject = `"subject":{"reference":"Patient/1"}`
	request := `{"resourceType":"MedicationRequest","status":"active","intent":"order",` + subject + `,"authoredOn":"2024-03-04"`
	pain := `{"resourceType":"Observation",` + subject + `,"effectiveDateTime":"2024-03-04","code":{"coding":[{"system":"http://loinc.org","code":"72514-3"}]}`
	for body, want := range map[string]bool{
		`{"resourceType":"Encounter","status":"finished"}`: true,
		`{"resourceType":"Observation","status":"final",` + subject + `,"effectiveDateTime":"2024-03-04","code":{"text":"shoe size"},"valueInteger":43}`:                                                                    true,
		`{"resourceType":"QuestionnaireResponse","status":"completed",` + subject + `,"authored":"2024-03-04","questionnaire":"https://other.example/q"}`:                                                                   true,
		`{"resourceType":"Observation","status":"final",` + subject + `,"effectiveDateTime":"2024-03-04","code":{"coding":[{"system":"http://loinc.org","code":"44261-6"}]},"valueQuantity":{"value":12,"unit":"{score}"}}`: false,
		pain + `,"status":"preliminary","valueQuantity":{"value":5,"unit":"{score}"}}`:                                                                                                                                      false,
		pain + `,"status":"final","valueQuantity":{"value":5,"comparator":">","unit":"{score}"}}`:                                                                                                                           false,
		request + `,"medicationCodeableConcept":{"text":"oxycodone"},"doNotPerform":true}`:                                                                                                                                  false,
		request + `,"medicationReference":{"reference":"#m"},"contained":[{"resourceType":"Medication","id":"m"}]}`:                                                                                                         false,
		`{"resourceType":"Patient","birthDate":"yesterday","name":[{"text":"Ann Lee"}]}`:                                                                                                                                    false,
	} {
		draft, issues := fhir.Mapping{}.Read([]byte(body))
		if draft != nil {
			t.Errorf("%s is taken", body)
		} else if got := ofNoConcern(issues); got != want {
			t.Errorf("%s: %v, with %v", body, got, issues)
		}
	}
}
