package fhirtest

import (
	"net/http"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
)

func init() {
	tests["questionnaires"] = testQuestionnaires
	tests["statements"] = testStatements
}

// Questionnaires are listed and read with any token, and answers to them are
// scored.
func testQuestionnaires(t *testing.T, s *server) {
	any := s.caller(t, "north", access.PatientsRead)
	if list := any.get(base + "/Questionnaire").is(http.StatusOK).bundle(); len(list.ids) != 6 {
		t.Errorf("questionnaires %v", list.ids)
	}
	any.get(base + "/Questionnaire/phq-2").is(http.StatusOK).says(`"linkId":"2"`)
	c := s.caller(t, "north")
	const url = "https://anodyne.example/fhir/Questionnaire/phq-2"
	if list := c.get(base + "/Questionnaire?url=" + escape(url)).is(http.StatusOK).bundle(); len(list.ids) != 1 || list.ids[0] != "Questionnaire/phq-2" {
		t.Errorf("by URL: %v", list.ids)
	}
	c.send("POST", base+"/Questionnaire", "{}").is(http.StatusNotFound)
	p := c.patient(ada)
	answered := c.send("POST", base+"/QuestionnaireResponse", `{"resourceType":"QuestionnaireResponse","questionnaire":"`+url+`","status":"completed","subject":{"reference":"Patient/`+p+`"},"authored":"2024-03-04",
		"item":[{"linkId":"1","answer":[{"valueInteger":2}]},{"linkId":"2","answer":[{"valueInteger":1}]}]}`).is(http.StatusCreated)
	c.get(base + "/Observation/" + answered.id()).is(http.StatusOK).says(`"valueQuantity":{"value":3`).says(`"reference":"QuestionnaireResponse/` + answered.id())
	c.send("POST", base+"/QuestionnaireResponse", `{"resourceType":"QuestionnaireResponse","questionnaire":"`+url+`","status":"completed","subject":{"reference":"Patient/`+p+`"},"authored":"2024-03-04",
		"item":[{"linkId":"1","answer":[{"valueInteger":9}]}]}`).is(http.StatusBadRequest).says("QuestionnaireResponse.item[0].answer[0]")
}

// A medication that was received as a MedicationStatement is read and found as
// one, also after a change.
func testStatements(t *testing.T, s *server) {
	c := s.caller(t, "north")
	p := c.patient(ada)
	body := `{"resourceType":"MedicationStatement","status":"active","subject":{"reference":"Patient/` + p + `"},"dateAsserted":"2024-03-04","medicationCodeableConcept":{"text":"gabapentin 300 mg capsule"},` +
		`"dosage":[{"text":"one at night","timing":{"code":{"text":"QHS"}}}]}`
	id := c.send("POST", base+"/MedicationStatement", body).is(http.StatusCreated).id()
	c.get(base + "/MedicationStatement/" + id).is(http.StatusOK).says("one at night")
	c.get(base + "/MedicationRequest/" + id).is(http.StatusNotFound)
	for path, want := range map[string]int{"MedicationStatement?patient=" + p: 1, "MedicationRequest?patient=" + p: 0, "MedicationStatement?status=stopped&patient=" + p: 0} {
		if got := c.search(path); len(got.ids) != want {
			t.Errorf("%s: %v", path, got.ids)
		}
	}
	c.send("PUT", base+"/MedicationStatement/"+id, strings.Replace(strings.Replace(body, `"status"`, `"id":"`+id+`","status"`, 1), "active", "stopped", 1)).is(http.StatusOK)
	c.get(base + "/MedicationStatement/" + id).is(http.StatusOK).says(`"stopped"`).says("one at night").says(`"versionId":"2"`)
}
