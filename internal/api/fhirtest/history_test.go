package fhirtest

import (
	"net/http"
	"strings"
	"testing"
)

func init() {
	tests["conditions follow /v1"] = testConditionsFollow
}

// A Condition keeps its id and the elements that /v1 has no field for when its
// entry is corrected through /v1, and drops them with the entry.
func testConditionsFollow(t *testing.T, s *server) {
	c := s.caller(t, "a")
	patient := c.patient(`{"name":"Ada Nowak","date_of_birth":"1984-05-17","identifiers":[{"system":"mrn","value":"1"}],"medical_history":["Asthma","Gout"]}`)
	body := `{"resourceType":"Condition","subject":{"reference":"Patient/` + patient + `"},"code":{"text":"Low bak pain"},` +
		`"identifier":[{"system":"https://ehr.example/problem","value":"77"}],"bodySite":[{"text":"lumbar"}]}`
	condition := c.send("POST", base+"/Condition", body).is(http.StatusCreated).id()
	asthma := conditionsOf(c, patient)["Asthma"]
	check := func(id, text string) {
		t.Helper()
		c.get(base + "/Condition/" + id).is(http.StatusOK).says(`"` + text + `"`).says(`"lumbar"`).says(`"77"`)
	}
	patch := func(history string) {
		t.Helper()
		c.send("PATCH", "/v1/patients/pat_"+patient, `{"medical_history":`+history+`}`).is(http.StatusOK)
	}
	patch(`["Asthma","Gout","Low back pain"]`)
	check(condition, "Low back pain")
	patch(`[{"condition":"Low back pain","notes":"Better since May."},"Asthma"]`)
	check(condition, "Low back pain")
	c.get(base + "/Condition/" + condition).says("Better since May.")
	c.send("PUT", "/v1/patients?identifier=mrn%7C1", `{"name":"Ada Nowak","date_of_birth":"1984-05-17","medical_history":["Asthma","Lumbago"]}`).is(http.StatusOK)
	check(condition, "Lumbago")
	if now := conditionsOf(c, patient)["Asthma"]; now != asthma {
		t.Errorf("Asthma was %s and is %s", asthma, now)
	}
	// An id that a removed entry had by its contents is free again.
	patch(`[{"condition":"Low back pain","icd10_code":"M54.50"},"Asthma"]`)
	again := c.send("POST", base+"/Condition", body).is(http.StatusCreated).id()
	patch(`[{"condition":"Low back pain","icd10_code":"M54.50"},"Asthma","Sciatica"]`)
	check(again, "Sciatica")
	second := c.send("POST", base+"/Condition", body).is(http.StatusCreated).id()
	if second == again {
		t.Fatalf("two Conditions are %s", second)
	}
	check(second, "Low bak pain")
	patch(`["Asthma"]`)
	for _, id := range []string{again, second} {
		c.get(base + "/Condition/" + id).is(http.StatusNotFound)
	}
	// A Condition that is created later does not get what was kept of a removed one.
	other := c.send("POST", base+"/Condition", strings.Replace(body, `,"bodySite":[{"text":"lumbar"}]`, "", 1)).is(http.StatusCreated)
	if strings.Contains(string(c.get(base+"/Condition/"+other.id()).body), "lumbar") {
		t.Errorf("a new Condition has elements of a removed one")
	}
}

// conditionsOf returns the ids of a patient's Conditions by text.
func conditionsOf(c *caller, patient string) map[string]string {
	c.t.Helper()
	ids := map[string]string{}
	for _, r := range c.search("Condition?patient=" + patient).entries {
		ids[r["code"].(map[string]any)["text"].(string)] = r["id"].(string)
	}
	return ids
}
