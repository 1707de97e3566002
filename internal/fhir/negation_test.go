package fhir

import (
	"strings"
	"testing"
)

// A Condition is taken only if it is clear that the patient has it.
func TestVerificationStatus(t *testing.T) {
	const system = `"system":"http://terminology.hl7.org/CodeSystem/condition-ver-status",`
	for status, taken := range map[string]bool{
		`{"coding":[{` + system + `"code":"confirmed"}]}`:                                                        true,
		`{"coding":[{"system":"urn:x","code":"7"},{` + system + `"code":"provisional"}],"text":"provisionally"}`: true,
		`{"coding":[{` + system + `"code":"refuted"}]}`:                                                          false,
		`{"coding":[{` + system + `"code":"confirmed"},{` + system + `"code":"entered-in-error"}]}`:              false,
		`{"coding":[{` + system + `"code":"disproved"}]}`:                                                        false,
		`{"coding":[{"code":"refuted"}]}`:                                                                        false,
		`{"coding":[{"system":"http://hl7.org/fhir/condition-ver-status","code":"refuted"}]}`:                    false,
		`{"text":"Refuted"}`: false,
	} {
		d, issues := Mapping{}.Read([]byte(`{"resourceType":"Condition",` + subjectJSON + `,"code":{"text":"Chronic pain"},"verificationStatus":` + status + `}`))
		if taken != (d != nil) || d == nil && (len(issues) != 1 || issues[0].Expression != "Condition.verificationStatus") {
			t.Errorf("%s: %v", status, issues)
		}
	}
}

// The result of a drug screen is read or refused, never left out.
func TestDrugScreenResults(t *testing.T) {
	const (
		expected = `"extension":[{"url":"https://anodyne.example/fhir/StructureDefinition/labs-expected","valueCode":"positive"}],`
		method   = `"method":{"coding":[{"system":"https://anodyne.example/fhir/CodeSystem/labs-method","code":"lcms"}]},`
	)
	coded := func(code string) string {
		return `"valueCodeableConcept":{"coding":[{"system":"http://snomed.info/sct","code":"` + code + `"}],"text":"Positive"}`
	}
	for _, c := range []struct{ value, want string }{ // "" is refused, "-" is kept without a result
		{expected + coded("10828004"), "positive"},
		{expected + coded("260373001"), "positive"},
		{expected + coded("260385009"), "negative"},
		{expected + coded("260415000"), "negative"},
		{expected + `"valueString":" Positive"`, "positive"},
		{`"valueString":"not detected"`, "negative"},
		{`"valueCodeableConcept":{"coding":[{"system":"urn:x","code":"N","display":"Negative (qualifier value)"}]}`, "negative"},
		{expected + coded("720735008"), ""},
		{expected + `"valueString":"see comment"`, ""},
		{expected + `"valueBoolean":true`, ""},
		{method + `"valueCodeableConcept":{"text":"weakly positive"}`, ""},
		{`"valueString":"yellow"`, "-"},
		{expected + `"dataAbsentReason":{"text":"not done"}`, "-"},
	} {
		d, issues := Mapping{}.Read([]byte(`{"resourceType":"Observation","status":"final",` + c.value + `,"category":[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/observation-category","code":"laboratory"}]}],` +
			`"code":{"text":"oxycodone"},` + subjectJSON + `,"effectiveDateTime":"2020-01-31"}`))
		switch {
		case c.want == "":
			if d != nil || len(issues) != 1 || !strings.HasPrefix(issues[0].Expression, "Observation.value") {
				t.Errorf("%s: %v", c.value, issues)
			}
		case d == nil:
			t.Errorf("%s: %v", c.value, issues)
		case c.want == "-" && strings.Contains(string(d.Record), `"result"`) || c.want != "-" && !strings.Contains(string(d.Record), `"result":"`+c.want+`"`):
			t.Errorf("%s is read as %s", c.value, d.Record)
		}
	}
}
