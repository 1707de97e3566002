package fhir

import (
	"strings"
	"testing"
)

// Every type that the table names is in the table or primitive.
func TestTableOfElements(t *testing.T) {
	for name, of := range elementTypes() {
		for json, e := range of.elements {
			if _, primitive := primitives[e.of]; !primitive && elementTypes()[e.of] == nil && e.of != "Resource" {
				t.Errorf("%s.%s is of the unknown type %s", name, json, e.of)
			}
		}
	}
	for _, name := range ResourceTypes() {
		if elementTypes()[name] == nil {
			t.Errorf("%s is read, but not in the table: add it to the generator", name)
		}
	}
}

const goodObservation = `{"resourceType":"Observation","status":"final","code":{"coding":[{"system":"http://loinc.org","code":"72514-3"}]},` +
	`"subject":{"reference":"Patient/1"},"effectiveDateTime":"2024-05-01","valueQuantity":{"value":7,"code":"{score}"}}`

// Each resource is wrong in one place, and the issue names it.
func TestIssues(t *testing.T) {
	with := func(old, new string) string {
		if !strings.Contains(goodObservation, old) {
			t.Fatalf("%s is not in the resource", old)
		}
		return strings.Replace(goodObservation, old, new, 1)
	}
	for _, c := range []struct{ body, want string }{
		{``, "structure "},
		{`[]`, "structure "},
		{`{"resourceType":"Observation"`, "structure "},
		{`{}`, "required resourceType"},
		{`{"resourceType":7}`, "structure resourceType"},
		{`{"resourceType":"<b>"}`, "structure resourceType"},
		{`{"resourceType":"Starship"}`, "not-supported Starship"},
		{`{"resourceType":"Observation","status":"final","status":"final"}`, "structure "},
		{with(`"status":"final",`, ``), "required Observation.status"},
		{with(`"status":"final"`, `"status":"good"`), "code-invalid Observation.status"},
		{with(`"status":"final"`, `"status":7`), "structure Observation.status"},
		{with(`"status":"final"`, `"status":["final"]`), "structure Observation.status"},
		{with(`"status":"final"`, `"status":null`), "structure Observation.status"},
		{with(`"status":"final"`, `"status":"preliminary"`), "not-supported Observation.status"},
		{with(`"status":"final"`, `"status":"final","colour":"red"`), "structure Observation.colour"},
		{with(`"status":"final"`, `"status":"final","a.b[0]":"red"`), "structure Observation.?"},
		{with(`"status":"final"`, `"status":"final","Status":"final"`), "structure Observation.Status"},
		{with(`"status":"final"`, `"status":"final","id":"pat_1"`), "value Observation.id"},
		{with(`"status":"final"`, `"status":"final","implicitRules":"urn:x"`), "not-supported Observation.implicitRules"},
		{with(`"status":"final"`, `"status":"final","modifierExtension":[{"url":"urn:x","valueCode":"x"}]`), "not-supported Observation.modifierExtension"},
		{with(`"status":"final"`, `"status":"final","extension":[{"url":"urn:x"}]`), "invalid Observation.extension[0]"},
		{with(`"status":"final"`, `"status":"final","extension":[{"valueCode":"x"}]`), "required Observation.extension[0].url"},
		{with(`"status":"final"`, `"status":"final","extension":[{"url":"urn:x","valueCode":"y","valueStarship":"x"}]`), "structure Observation.extension[0].valueStarship"},
		{with(`"status":"final"`, `"status":"final","category":[]`), "structure Observation.category"},
		{with(`"status":"final"`, `"status":"final","category":[{}]`), "structure Observation.category[0]"},
		{with(`"status":"final"`, `"status":"final","category":[{"text":""}]`), "value Observation.category[0].text"},
		{with(`"status":"final"`, `"status":"final","issued":"2024-05-01"`), "value Observation.issued"},
		{with(`"status":"final"`, `"status":"final","_status":"x"`), "structure Observation._status"},
		{with(`"status":"final"`, `"status":"final","_code":{"id":"x"}`), "structure Observation._code"},
		{with(`"status":"final"`, `"status":"final","contained":[{"id":"x"}]`), "required Observation.contained[0].resourceType"},
		{with(`"status":"final"`, `"status":"final","text":{"status":"generated","div":"<div><script>x</script></div>"}`), "value Observation.text.div"},
		{with(`"value":7`, `"value":"7"`), "structure Observation.valueQuantity.value"},
		{with(`"value":7`, `"value":1e999999999`), "value Observation.valueQuantity.value"},
		{with(`"value":7`, `"value":7,"comparator":"<"`), "not-supported Observation.valueQuantity.comparator"},
		{with(`"value":7`, `"value":7,"comparator":"~"`), "code-invalid Observation.valueQuantity.comparator"},
		{with(`"code":"{score}"`, `"code":"kg"`), "code-invalid Observation.valueQuantity.code"},
		{with(`"valueQuantity":{`, `"valueString":"x","valueQuantity":{`), "structure Observation.valueQuantity"},
		{with(`"valueQuantity":{"value":7,"code":"{score}"}`, `"dataAbsentReason":{"text":"x"}`), "required Observation.valueQuantity"},
		{with(`"effectiveDateTime":"2024-05-01",`, ``), "required Observation.effectiveDateTime"},
		{with(`2024-05-01`, `2024-02-30`), "value Observation.effectiveDateTime"},
		{with(`2024-05-01`, `2024-05-01T10:00`), "value Observation.effectiveDateTime"},
		{with(`2024-05-01`, `2024-05`), "value Observation.effectiveDateTime"},
		{with(`"subject":{"reference":"Patient/1"},`, ``), "required Observation.subject"},
		{with(`"reference":"Patient/1"`, `"display":"x"`), "required Observation.subject.reference"},
		{with(`"reference":"Patient/1"`, `"reference":"#p"`), "not-supported Observation.subject.reference"},
		{with(`72514-3`, `1-8`), "not-supported Observation.code"},
		{strings.Repeat(`{"a":`, 100) + `1` + strings.Repeat(`}`, 100), "structure "},
		{with(`"status":"final"`, `"status":"final","contained":[`+strings.Repeat(`{"a":`, 27)+`1`+strings.Repeat(`}`, 27)+`]`), "too-long "},
		{with(`"status":"final"`, `"status":"final","extension":[{"url":"`+DefaultBase+`/StructureDefinition/pain_scores-score","valueDecimal":6}]`), "business-rule Observation.extension[0]"},
		{with(`"status":"final"`, `"status":"final","extension":[{"url":"`+DefaultBase+`/StructureDefinition/record-source","valueCode":"device"},{"url":"`+DefaultBase+`/StructureDefinition/record-source","valueCode":"patient"}]`), "business-rule Observation.extension[1]"},
		{with(`"status":"final"`, `"status":"final","dataAbsentReason":{"text":"x"}`), "invalid Observation.dataAbsentReason"},
		{`{"resourceType":"Patient","birthDate":"1961-03-14"}`, "required Patient.name"},
		{`{"resourceType":"Patient","name":[{"text":"A"}]}`, "required Patient.birthDate"},
		{`{"resourceType":"Patient","birthDate":"14.3.1961","name":[{"text":"A"}]}`, "value Patient.birthDate"},
		{`{"resourceType":"Patient","birthDate":"1961-03-14","gender":"f","name":[{"text":"A"}]}`, "code-invalid Patient.gender"},
	} {
		draft, issues := Mapping{}.Read([]byte(c.body))
		if draft != nil || len(issues) != 1 || issues[0].Code+" "+issues[0].Expression != c.want || issues[0].Text == "" || issues[0].Severity != "error" {
			t.Errorf("%.300s\ngives %+v, want %s", c.body, issues, c.want)
		}
	}
	if _, issues := (Mapping{}).Read([]byte(goodObservation)); len(issues) > 0 {
		t.Errorf("the good one: %+v", issues)
	}
	if _, issues := (Mapping{}).Read([]byte(strings.Repeat(" ", MaxBytes+1))); len(issues) != 1 || issues[0].Code != TooLong {
		t.Errorf("a large one: %+v", issues)
	}
}
