package fhir

import (
	"encoding/json"
	"testing"
)

// request is a MedicationRequest for a medicine.
func request(medicine, more string) string {
	return `{"resourceType":"MedicationRequest","status":"active","intent":"order",` + subjectJSON + `,"authoredOn":"2024-03-04","medicationCodeableConcept":{"text":"` + medicine + `"},` + more + `}`
}

const (
	intravenous = `"route":{"coding":[{"system":"http://snomed.info/sct","code":"47625008"}]}`
	byMouth     = `"route":{"coding":[{"system":"http://snomed.info/sct","code":"26643006"}]}`
)

// A dose is never less than what the resource says.
func TestDosages(t *testing.T) {
	type fields = map[string]any
	const (
		twice    = `"doseAndRate":[{"doseQuantity":{"value":1,"unit":"patch"}},{"doseQuantity":{"value":2,"unit":"patch"}}]`
		supplied = `,"dispenseRequest":{"quantity":{"value":20,"unit":"ampoule"},"expectedSupplyDuration":{"value":5,"unit":"d"}}`
		atMost   = `,"asNeededBoolean":true,"maxDosePerPeriod":{"denominator":{"value":1,"unit":"d"},"numerator":`
	)
	for _, c := range []struct {
		name, resource string
		want           fields // some of those of the value
		path           string // if the resource is refused
	}{
		{"steps by one route", request("morphine 10 mg", `"dosageInstruction":[{`+intravenous+`},{"text":"then"},{`+intravenous+`}]`+supplied), fields{"route": "iv", "quantity": 20.0}, ""},
		{"steps by two routes", request("morphine 10 mg", `"dosageInstruction":[{`+intravenous+`},{`+byMouth+`}]`+supplied), nil, "MedicationRequest.dosageInstruction[1].route"},
		{"steps by an unknown route", request("morphine 10 mg", `"dosageInstruction":[{"text":"first"},{"route":{"text":"by the ear"}}]`), nil, "MedicationRequest.dosageInstruction[1].route"},
		{"steps of another medicine", request("gabapentin", `"dosageInstruction":[{`+intravenous+`},{`+byMouth+`}]`), fields{"route": nil}, ""},
		{"steps of patches", request("fentanyl 25 mcg/h patch", `"dosageInstruction":[{"text":"one"},{"text":"then two"}]`), nil, "MedicationRequest.dosageInstruction"},
		{"amounts of patches", request("fentanyl 25 mcg/h patch", `"dosageInstruction":[{`+twice+`}]`), nil, "MedicationRequest.dosageInstruction[0].doseAndRate"},
		{"another rate of patches", request("fentanyl 25 mcg/h patch", `"dosageInstruction":[{"doseAndRate":[{"rateRatio":{"numerator":{"value":50,"code":"ug"},"denominator":{"value":1,"code":"h"}}}]}]`), nil, "MedicationRequest.dosageInstruction[0].doseAndRate"},
		{"patches", request("fentanyl 25 mcg/h patch", `"dosageInstruction":[{"doseAndRate":[{"doseQuantity":{"value":2}}]}]`), fields{"dose": 2.0, "dose_unit": "patch"}, ""},
		{"a maximum of tablets", request("oxycodone 5 mg tablet", `"dosageInstruction":[{"doseAndRate":[{"doseQuantity":{"value":2,"unit":"{tablet}"}}]`+atMost+`{"value":8,"unit":"each"}}}]`), fields{"dose": 2.0, "max_doses_per_day": 4.0}, ""},
		{"a maximum of the same tablets", request("oxycodone 5 mg tablet", `"dosageInstruction":[{"doseAndRate":[{"doseRange":{"high":{"value":2}}}]`+atMost+`{"value":8,"code":"{tablet}"}}}]`), fields{"dose": 2.0, "max_doses_per_day": 4.0}, ""},
		{"a maximum of doses", request("oxycodone 5 mg tablet", `"dosageInstruction":[{"doseAndRate":[{"doseQuantity":{"value":2,"unit":"{tablet}"}}]`+atMost+`{"value":8,"unit":"doses"}}}]`), fields{"dose": 2.0, "max_doses_per_day": 8.0}, ""},
		{"a maximum of tablets for a mass", request("ibuprofen 400 mg tablet", `"dosageInstruction":[{"doseAndRate":[{"doseQuantity":{"value":800,"unit":"mg"}}]`+atMost+`{"value":8,"unit":"ea"}}}]`), fields{"dose": 800.0, "max_doses_per_day": nil}, ""},
		{"a dose that is a dose", request("oxycodone 5 mg tablet", `"dosageInstruction":[{"doseAndRate":[{"doseQuantity":{"value":1,"code":"{dose}"}}]}]`), fields{"dose": nil}, ""},
		{"a quantity of doses", request("oxycodone 5 mg tablet", `"dispenseRequest":{"quantity":{"value":20,"unit":"doses"}}`), nil, "MedicationRequest.dispenseRequest.quantity.code"},
		{"a quantity", request("oxycodone 5 mg tablet", `"dispenseRequest":{"quantity":{"value":20,"unit":"EA"}}`), fields{"quantity": 20.0}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, issues := Mapping{}.Read([]byte(c.resource))
			if c.path != "" {
				if len(issues) != 1 || issues[0].Expression != c.path {
					t.Errorf("issues %v, want one at %s", issues, c.path)
				}
				return
			}
			if d == nil {
				t.Fatal(issues)
			}
			var body struct{ Value fields }
			if err := json.Unmarshal(d.Record, &body); err != nil {
				t.Fatal(err)
			}
			for name, want := range c.want {
				if got := body.Value[name]; got != want {
					t.Errorf("%s is %v, want %v", name, got, want)
				}
			}
		})
	}
}
