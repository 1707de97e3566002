package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"pgregory.net/rapid"

	"anodyne.example/anodyne/internal/fhir/fhirtest"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/synth"
)

// drawn are generators of the bodies of random records, by data type.
var drawn = func() map[pain.DataType]*rapid.Generator[map[string]any] {
	in := pain.Intake{PatientID: id.New[id.PatientKind](time.Now()), NewID: func() id.Record { return id.New[id.RecordKind](time.Now()) }, Now: time.Now()}
	all := map[pain.DataType]*rapid.Generator[map[string]any]{}
	for _, info := range pain.DataTypes() {
		all[info.Type] = rapid.Custom(func(t *rapid.T) map[string]any {
			body, _, _ := fhirtest.DrawRecord(t, info.Type, "", in)
			return body
		})
	}
	return all
}()

// draw returns the body of a random record.
func draw(random *rand.Rand, t pain.DataType) map[string]any {
	for {
		if body := drawn[t].Example(random.Int()); body != nil {
			return body
		}
	}
}

// chart creates the nth random patient, with a year of treatment, records of
// all types, corrections and retractions, and what only FHIR has a place for.
// It returns the patient's identifier.
func (e *ehr) chart(n int) string {
	e.t.Helper()
	random := rand.New(rand.NewPCG(7, uint64(n)))
	made := synth.Generator{Seed: 5, Until: time.Now().AddDate(0, -1, 0)}.Patient(n)
	history := []any{map[string]any{"condition": "Alcoholism", "category": "family", "severity": "x", "notes": " "}, "unknown fever"}
	for _, c := range made.History {
		history = append(history, map[string]any{"condition": c.Name, "icd10_code": c.ICD10, "status": c.Status, "category": c.Category, "onset_date": c.Onset})
	}
	person := map[string]any{"name": made.Name, "date_of_birth": made.DateOfBirth.Format(time.DateOnly), "gender": made.Gender,
		"contact": map[string]any{"email": made.Email, "phone": made.Phone}, "medical_history": history}
	if n%3 > 0 { // the others are known by the id of their resource only
		person["identifiers"] = []any{map[string]any{"system": "mrn", "value": fmt.Sprint(n)}, map[string]any{"system": "urn:oid:1.2.3", "value": fmt.Sprint("x", n)}}
	}
	patient := e.created("/v1/patients", person)[0].ID
	var bodies []any
	for _, rec := range made.Records {
		bodies = append(bodies, map[string]any{"data_type": rec.Type, "recorded_at": rec.At.Format(time.RFC3339), "source": rec.Source, "value": rec.Value})
	}
	for _, info := range pain.DataTypes() {
		bodies = append(bodies, draw(random, info.Type), draw(random, info.Type))
	}
	path := "/v1/patients/" + patient + "/clinical-data"
	for _, rec := range e.created(path, map[string]any{"records": bodies}) {
		for chance := random.IntN(20); chance < 3; chance = random.IntN(8) {
			correction := map[string]any{"entered_in_error": true, "reason": "wrong patient"}
			if chance > 0 {
				t, err := pain.ParseDataType("", rec.DataType)
				if err != nil {
					e.t.Fatal(err)
				}
				correction = map[string]any{"value": draw(random, t)["value"], "notes": "corrected"}
			}
			rec = e.created(path+"/"+rec.ID+"/corrections", correction)[0]
			if chance == 0 {
				break
			}
		}
	}
	e.visit(n, strings.TrimPrefix(patient, "pat_"))
	return patient
}

// made is what the responses to writes have in common.
type made struct {
	ID       string `json:"id"`
	DataType string `json:"data_type"`
	Data     []made `json:"data"`
}

// created sends a POST to /v1 and returns what it created.
func (e *ehr) created(path string, body any) []made {
	e.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		e.t.Fatal(err)
	}
	_, answer := e.send(http.StatusCreated, "POST", path, string(text))
	var m made
	if err := json.Unmarshal(answer, &m); err != nil {
		e.t.Fatal(err)
	}
	if m.Data != nil {
		return m.Data
	}
	return []made{m}
}

// visit sends a transaction with elements that the service keeps beside its own
// fields: an address, an extension, a device, a statement instead of a request.
func (e *ehr) visit(n int, patient string) {
	e.t.Helper()
	_, body := e.send(http.StatusOK, "GET", fhirBase+"/Patient/"+patient, "")
	person := strings.TrimSuffix(strings.TrimSpace(string(body)), "}") + fmt.Sprintf(`,"address":[{"city":"City %d","country":"SE"}],"maritalStatus":{"text":"married"}}`, n)
	subject := `"subject":{"reference":"Patient/` + patient + `"}`
	entry := func(method, url, resource string) string {
		return `{"resource":` + resource + `,"request":{"method":"` + method + `","url":"` + url + `"}}`
	}
	e.send(http.StatusOK, "POST", fhirBase, `{"resourceType":"Bundle","type":"transaction","entry":[`+strings.Join([]string{
		entry("PUT", "Patient/"+patient, person),
		entry("POST", "Observation", `{"resourceType":"Observation","status":"final",`+subject+`,"effectiveDateTime":"2025-03-01T10:00:00+02:00","issued":"2025-03-01T10:05:00Z","device":{"display":"a tablet"},
			"code":{"coding":[{"system":"http://loinc.org","code":"72514-3","display":"Pain"}],"text":"How bad?"},"valueQuantity":{"value":`+fmt.Sprint(n%11)+`,"unit":"{score}","system":"http://unitsofmeasure.org","code":"{score}"}}`),
		entry("POST", "MedicationStatement", `{"resourceType":"MedicationStatement","status":"active",`+subject+`,"effectiveDateTime":"2025-03-01","dateAsserted":"2025-03-02","medicationCodeableConcept":{"text":"ibuprofen"},
			"extension":[{"url":"http://hospital.example/ward","valueString":"B 3"}]}`),
	}, ",")+`]}`, "Content-Type", "application/fhir+json")
}
