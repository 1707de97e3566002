package fhirtest

import (
	"net/http"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
)

func init() {
	tests["strangers"] = testStrangers
	tests["narrow scopes"] = testNarrowScopes
}

// batchOf returns a batch that reads addresses.
func batchOf(addresses ...string) string {
	var entries []string
	for _, one := range addresses {
		entries = append(entries, `{"request":{"method":"GET","url":"`+one+`"}}`)
	}
	return `{"resourceType":"Bundle","type":"batch","entry":[` + strings.Join(entries, ",") + `]}`
}

// Another organisation finds nothing of a patient, whichever way it asks: by
// Bundles, references, conditions, names, dates of birth, cursors or Groups.
func testStrangers(t *testing.T, s *server) {
	north, south := s.caller(t, "north"), s.caller(t, "south")
	p := north.patient(`{"name":"Xaver Quintus","date_of_birth":"1931-12-13","medical_history":["Asthma"],"identifiers":[{"system":"http://n.example/mrn","value":"NORTH-1"}]}`)
	vitals := north.record(p, `{"data_type":"vitals","value":{"systolic":120,"diastolic":80,"heart_rate":70}}`)
	pressure := string(north.get(base + "/Observation/" + vitals + "-bp").is(http.StatusOK).body)
	condition := conditionsOf(north, p)["Asthma"]
	group := north.send("POST", base+"/Group", `{"resourceType":"Group","type":"person","actual":true,"name":"N","member":[{"entity":{"reference":"Patient/`+p+`"}}]}`).is(http.StatusCreated)
	groupID := group.header.Get("Location")
	groupID = strings.TrimPrefix(groupID[strings.Index(groupID, "Group/"):], "Group/")
	mine := south.patient(`{"name":"Mine","date_of_birth":"1980-01-01"}`)
	hidden := func(r *reply) {
		t.Helper()
		for _, text := range []string{"Quintus", `"birthDate":"1931-12-13"`, `"value":"NORTH-1"`, "Asthma", `"total":1`, `"value":120`} {
			if strings.Contains(string(r.body), text) {
				t.Errorf("%s tells %s: %s", r.what, text, r.body)
			}
		}
	}
	searches := []string{
		"Patient?name=quintus", "Patient?birthdate=1931-12-13", "Patient?family=quintus&_sort=name", "Patient?identifier=NORTH-1", "Patient?identifier=http://n.example/mrn%7CNORTH-1",
		"Condition?patient.name=quintus", "Condition?patient.birthdate=1931-12-13", "Condition?_id=" + condition, "Observation?_id=" + vitals + "-bp", "Observation?identifier=rec_" + vitals,
		"Observation?patient.identifier=NORTH-1&_include=Observation:patient", "Observation?status=final", "Observation?_lastUpdated=ge2020-01-01", "Patient?_total=accurate&_summary=count&name=quintus",
	}
	for _, query := range searches {
		if got := south.search(query); len(got.ids)+len(got.include) > 0 && !strings.HasSuffix(strings.Join(got.ids, ""), mine) {
			t.Errorf("%s: %v %v", query, got.ids, got.include)
		}
		hidden(south.get(base + "/" + query))
	}
	reads := []string{"Patient/" + p, "Patient/" + p + "/_history", "Condition/" + condition, "Observation/" + vitals + "-bp", "Observation/" + vitals + "-bp/_history/1", "Group/" + groupID}
	batch := south.send("POST", base, batchOf(append(reads, searches...)...)).is(http.StatusOK)
	hidden(batch)
	if n := strings.Count(string(batch.body), "404 Not Found"); n != len(reads) {
		t.Errorf("%d of %d are not found: %s", n, len(reads), batch.body)
	}
	score := func(subject string) string {
		return strings.Replace(score(p, "7"), `{"reference":"Patient/`+p+`"}`, subject, 1)
	}
	for _, entry := range []string{
		putting("Observation/"+vitals+"-bp", pressure), putting("Observation/"+vitals+"-bp", inError(pressure)),
		putting("Patient/"+p, withID(berta, p)), putting("Condition/"+condition, `{"resourceType":"Condition","id":"`+condition+`","subject":{"reference":"Patient/`+mine+`"},"code":{"text":"x"}}`),
		putting("Observation?identifier=https://anodyne.example/fhir/record%7Crec_"+vitals, score(`{"reference":"Patient/`+p+`"}`)),
		`{"resource":` + score(`{"reference":"Patient/`+p+`"}`) + `,"request":{"method":"POST","url":"Observation"}}`,
		`{"resource":` + score(`{"reference":"Patient?identifier=http://n.example/mrn|NORTH-1"}`) + `,"request":{"method":"POST","url":"Observation"}}`,
		`{"resource":` + score(`{"reference":"`+s.url+base+`/Patient/`+p+`"}`) + `,"request":{"method":"POST","url":"Observation"}}`,
		`{"resource":` + score(`{"identifier":{"system":"http://n.example/mrn","value":"NORTH-1"}}`) + `,"request":{"method":"POST","url":"Observation"}}`,
	} {
		if r := south.send("POST", base, transaction(entry)); r.status != http.StatusUnprocessableEntity && r.status != http.StatusNotFound && r.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", entry, r.status, r.body)
		} else {
			hidden(r)
		}
	}
	for _, path := range []string{"/Group/" + groupID + "/$export", "/Group/" + groupID} {
		south.get(base+path, "Prefer", "respond-async").is(http.StatusNotFound)
	}
	if again := string(north.get(base + "/Observation/" + vitals + "-bp").is(http.StatusOK).body); again != pressure {
		t.Errorf("%s became %s", pressure, again)
	}
}

// A token has what its scopes name, and nothing that follows from it.
func testNarrowScopes(t *testing.T, s *server) {
	all := s.caller(t, "north", access.PatientsRead|access.PatientsWrite|access.ClinicalDataRead|access.ClinicalDataWrite)
	p := all.patient(`{"name":"Xaver Quintus","date_of_birth":"1931-12-13","medical_history":["Asthma"],"identifiers":[{"system":"mrn","value":"NORTH-1"}]}`)
	id := all.record(p, `{"data_type":"pain_scores","value":4,"notes":"secret note"}`)
	group := all.send("POST", base+"/Group", `{"resourceType":"Group","type":"person","actual":true,"name":"N","member":[{"entity":{"reference":"Patient/`+p+`"}}]}`).is(http.StatusCreated).header.Get("Location")
	group = group[strings.Index(group, "Group/"):]
	for scopes, refused := range map[string][]string{
		"system/Observation.rs": {"Patient", "Patient/" + p, "Condition?patient=" + p, "Observation?patient.name=quintus", "Observation?subject:Patient.birthdate=1931-12-13", "Observation?_include=Observation:patient",
			"Patient/" + p + "/$everything", "$export?_type=Patient", "Patient/$export?_type=Condition", group, group + "/$export", "Group"},
		"system/Observation.r":                   {"Observation", "Observation?_id=" + id, "$export", "$export?_type=Observation"},
		"system/Observation.s":                   {"Observation/" + id, "Observation/" + id + "/_history", "$export?_type=Observation"},
		"system/Patient.s system/Observation.rs": {"Patient/" + p, "Patient/" + p + "/$everything", "Observation?_include=Observation:subject", "$export?_type=Patient"},
		"system/Observation.cu":                  {"Observation", "Observation/" + id, "Observation?_id=" + id, "$export"},
		"system/Group.rs":                        {group + "/$export", "Patient", "Observation"},
	} {
		c := all.asking(scopes)
		for _, path := range refused {
			c.get(base+"/"+path, "Prefer", "respond-async").is(http.StatusForbidden)
		}
		if r := c.send("POST", base, batchOf(refused...)).is(http.StatusOK); strings.Contains(string(r.body), "Quintus") || strings.Contains(string(r.body), "secret") || strings.Contains(string(r.body), `"200 OK"`) {
			t.Errorf("%s: %s", scopes, r.body)
		}
	}
	// Who may only write is not shown what is stored.
	c := all.asking("system/Observation.cu system/Patient.cu")
	stored := all.get(base + "/Observation/" + id).is(http.StatusOK).json()
	if stored["note"] == nil {
		t.Fatalf("%v", stored)
	}
	bare := `{"resourceType":"Patient","id":"` + p + `","name":[{"text":"Xaver Q."}],"birthDate":"1931-12-13"}`
	for _, r := range []*reply{
		c.send("PUT", base+"/Patient/"+p, bare).is(http.StatusOK),
		c.send("PUT", base+"/Patient?identifier=mrn%7CNORTH-1", strings.Replace(bare, `"id":"`+p+`",`, "", 1)).is(http.StatusOK),
		c.send("POST", base+"/Patient", strings.Replace(berta, "77", "NORTH-1", 1), "If-None-Exist", "identifier=https://anodyne.example/fhir/identifier/mrn|NORTH-1").is(http.StatusOK),
		c.send("POST", base, transaction(putting("Patient/"+p, strings.Replace(bare, "Q.", "R.", 1))), "Prefer", "return=representation").is(http.StatusOK),
	} {
		if strings.Contains(string(r.body), "NORTH-1") || strings.Contains(string(r.body), "Xaver") {
			t.Errorf("%s: %s", r.what, r.body)
		}
	}
}
