package fhir

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
)

// clinicalBodies have every field of the types in this file's tests.
var clinicalBodies = []string{
	`{"data_type":"medications","recorded_at":"2024-05-01T10:30:00Z","value":{"name":"Oxycodone 5 mg tablet","rxnorm_code":"1049621","ndc":"00406-0512-01","drug_class":"opioid","strength":5,"strength_unit":"mg",
		"dose":5,"dose_unit":"mg","route":"oral","frequency":"q4-6h","prn":true,"max_doses_per_day":4,"quantity":120,"days_supply":30,"start_date":"2024-05-01","end_date":"2024-05-30",
		"status":"stopped","prescriber_id":"NPI 1","pharmacy_id":"P9","indication":"low back pain","stop_reason":"nausea"},"notes":"a\nb","source":"clinician","author":"Dr. A","encounter_id":"E1"}`,
	`{"data_type":"medications","value":{"name":"fentanyl patch","dose":25,"dose_unit":"mcg/h","route":"transdermal","frequency":"q72h","quantity":10,"days_supply":30}}`,
	`{"data_type":"medications","value":{"name":"gabapentin","dose":300,"dose_unit":"mg","doses_per_day":2.5,"prn":false}}`,
	`{"data_type":"medications","value":{"name":"gabapentin","doses_per_day":0.3333,"status":"unknown"}}`,
	`{"data_type":"medications","value":{"name":"gabapentin","frequency":"BID","doses_per_day":2,"status":"entered-in-error","start_date":"2024-01-01"}}`,
	`{"data_type":"medications","value":{"name":"ibuprofen","frequency":"with meals","doses_per_day":3,"status":"cancelled"}, "notes":" "}`,
	`{"data_type":"medications","value":{"name":"house stock","drug_class":"nsaid","frequency":"weekly","prn":true,"end_date":"2024-01-01"}}`,
	`{"data_type":"procedures","value":{"procedure_type":"epidural_steroid","body_site":"lower back","level":"L4-L5","laterality":"left","performer":"Dr. B","cpt_code":"62323","pre_score":8,"post_score":3.5,"relief_percent":60,"complication":"headache"},
		"notes":"n","source":"clinician","author":"Dr. A","encounter_id":"E1"}`,
	`{"data_type":"procedures","value":{"procedure_type":"physical_therapy","laterality":"na"}}`,
	`{"data_type":"adverse_events","value":{"event":"constipation","grade":4,"serious":true,"suspected_drug":"oxycodone","onset":"2024-03","resolved":"2024","outcome":"resolved"},"notes":"n\nm","source":"patient","author":"Dr. A","encounter_id":"E1"}`,
	`{"data_type":"adverse_events","value":{"event":"other","serious":false,"outcome":"better after two days"}}`,
	`{"data_type":"notes","recorded_at":"2024-05-01","value":{"text":"Line one.\r\n\tLine two: ü €","note_type":"phone call"},"notes":"n","source":"import","author":"Dr. A","encounter_id":"E1"}`,
	`{"data_type":"notes","value":{"text":" "}}`,
	`{"data_type":"assessments","value":{"instrument":"phq_9","version":"en 1","items":{"1":1,"2":2,"3":0,"4":3,"5":1,"6":0,"7":2,"8":1,"9":1}},"notes":"n","source":"patient","author":"Dr. A","encounter_id":"E1"}`,
	`{"data_type":"assessments","value":{"instrument":"phq_9","items":{"1":1}}}`,
	`{"data_type":"assessments","value":{"instrument":"rmdq","items":{}}}`,
	`{"data_type":"assessments","value":{"instrument":"rmdq","items":{"3":true,"24":false}}}`,
	`{"data_type":"assessments","value":{"instrument":"peg","items":{"1":6,"2":7,"3":5}}}`,
	`{"data_type":"assessments","value":{"instrument":"promis_pi","score":61.25,"version":"4a"},"notes":"n","source":"import","author":"Dr. A"}`,
	`{"data_type":"assessments","value":{"instrument":"odi","score":35.5}}`,
	`{"data_type":"assessments","value":{"instrument":"pain_detect","score":-1}}`,
}

func TestClinicalRecords(t *testing.T) {
	for _, body := range clinicalBodies {
		rec := newRecord(t, body)
		if again, _ := outAndIn(t, &rec); !sameRecord(&again, &rec) {
			t.Errorf("sent %+v\nback %+v", rec, again)
		}
	}
}

func TestRoutes(t *testing.T) {
	for _, c := range []struct {
		concept CodeableConcept
		want    string
	}{
		{CodeableConcept{Text: "By mouth"}, "oral"},
		{CodeableConcept{Text: "Intravenous"}, "iv"},
		{CodeableConcept{Coding: []Coding{{System: "urn:x", Code: "SUBCUT", Display: "Subcutaneous route"}}}, "sc"},
		{CodeableConcept{Text: "oral", Coding: []Coding{{System: snomed, Code: "47625008"}}}, "iv"},
		{CodeableConcept{Text: "oral", Coding: []Coding{{System: snomed, Code: "54485002"}}}, ""},
		{CodeableConcept{Text: "in the ear"}, ""},
	} {
		if got, ok := routeOf(&c.concept); got != c.want || ok != (c.want != "") {
			t.Errorf("%+v is %q", c.concept, got)
		}
	}
}

// clinicalResources maps the bodies out in every status and as every type.
func clinicalResources(t testing.TB) (all []Resource) {
	for _, body := range clinicalBodies {
		rec := newRecord(t, body)
		for _, rec.Status = range pain.Statuses() {
			for _, as := range []string{medicationRequest, medicationStatement} {
				list, err := Mapping{}.As(as).Record(&rec, Version{Number: 2, LastUpdated: testNow})
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, list...)
			}
		}
	}
	return all
}

// TestRandomMedications draws prescriptions as they are written, which random
// texts are not, and maps them as both resource types.
func TestRandomMedications(t *testing.T) {
	frequencies := []string{"BID", "q4-6h", "q5h", "q7h", "q72h", "weekly", "twice a week", "q5-6h", "2-4 times a day", "with meals", "QHS prn", "every 3 days"}
	rapid.Check(t, func(t *rapid.T) {
		value := map[string]any{"name": rapid.SampledFrom([]string{"oxycodone 5 mg tablet", "Percocet 5-325", "fentanyl patch 25 mcg/h", "morphine", "gabapentin", "house stock"}).Draw(t, "name")}
		maybe := func(name string, draw func() any) {
			if rapid.Bool().Draw(t, "has "+name) {
				value[name] = draw()
			}
		}
		maybe("frequency", func() any { return rapid.SampledFrom(frequencies).Draw(t, "frequency") })
		maybe("doses_per_day", func() any {
			if text, ok := value["frequency"].(string); ok {
				if fewest, most, counted := drug.PerDay(text); counted {
					return rapid.SampledFrom([]float64{fewest, most}).Draw(t, "of the frequency")
				}
			}
			return rapid.Float64Range(0.001, 48).Draw(t, "doses_per_day")
		})
		maybe("max_doses_per_day", func() any { return rapid.Float64Range(0.001, 48).Draw(t, "max_doses_per_day") })
		maybe("prn", func() any { return rapid.Bool().Draw(t, "prn") && value["max_doses_per_day"] != nil })
		maybe("dose", func() any {
			value["dose_unit"] = rapid.SampledFrom(drug.DoseUnits()).Draw(t, "dose_unit")
			return rapid.Float64Range(0.0001, 1e6).Draw(t, "dose")
		})
		maybe("route", func() any { return rapid.SampledFrom(routeCodes).Draw(t, "route").route })
		maybe("status", func() any {
			return rapid.SampledFrom([]string{"active", "draft", "cancelled", "unknown", "entered-in-error", "stopped"}).Draw(t, "status")
		})
		body, err := json.Marshal(map[string]any{"data_type": "medications", "recorded_at": "2024-03-04", "value": value})
		if err != nil {
			t.Fatal(err)
		}
		rec, refused := tryRecord(map[string]any{"data_type": "medications", "recorded_at": "2024-03-04", "value": value})
		if len(refused) > 0 {
			t.Fatalf("%v for %s", refused, body)
		}
		rec.Status = rapid.SampledFrom([]pain.Status{pain.Final, pain.Amended, pain.EnteredInError}).Draw(t, "record")
		for _, as := range []string{medicationRequest, medicationStatement} {
			list, err := Mapping{}.As(as).Record(&rec, Version{Number: 1})
			if err != nil {
				t.Fatal(err)
			}
			d, issues := Mapping{}.Read(list[0].JSON)
			if d == nil {
				t.Fatalf("%v for %s", issues, list[0].JSON)
			}
			var sent map[string]any
			if err := json.Unmarshal(d.Record, &sent); err != nil {
				t.Fatal(err)
			}
			if again, refused := tryRecord(sent); again.Value != rec.Value || d.Type != as || d.Status != rec.Status {
				t.Fatalf("sent %s %s\nback %s %s %v\nby %s", rec.Value.JSON(), rec.Status, again.Value.JSON(), d.Status, refused, list[0].JSON)
			}
		}
	})
}

// The status of a record survives in every resource that it becomes.
func TestRecordStatus(t *testing.T) {
	for _, r := range clinicalResources(t) {
		d, issues := Mapping{}.Read(r.JSON)
		if d == nil {
			t.Fatalf("%v in %s", issues, r.JSON)
		}
		if inError := strings.Contains(string(r.JSON), `"entered-in-error"`); inError != (d.Status == pain.EnteredInError) && d.DataType != pain.TypeMedications {
			t.Errorf("%s for %s", d.Status, r.JSON)
		}
	}
}

// Values of our own extensions follow the record; those of others are kept.
func TestKeptExtensions(t *testing.T) {
	rec := newRecord(t, `{"data_type":"medications","recorded_at":"2024-03-04","value":{"name":"oxycodone 5 mg tablet","dose":5,"dose_unit":"mg","frequency":"BID"}}`)
	first, err := Mapping{}.Record(&rec, Version{Number: 1})
	if err != nil {
		t.Fatal(err)
	}
	const other = `{"url":"https://hospital.example/x","valueCode":"a"}`
	received := strings.Replace(string(first[0].JSON), `"extension":[{"url":"`+DefaultBase, `"extension":[`+other+`,{"url":"`+DefaultBase, 1)
	received = strings.Replace(received, `"value":5`, `"value":10`, 1)
	d, issues := Mapping{}.Read([]byte(received))
	if d == nil {
		t.Fatal(issues)
	}
	changed := newRecord(t, string(d.Record))
	second, err := Mapping{}.Record(&changed, Version{Number: 1})
	if err != nil {
		t.Fatal(err)
	}
	back := string(Restore(second[0].JSON, Keep([]byte(received), second[0].JSON)))
	if !strings.Contains(back, other) || !strings.Contains(back, `{"url":"mme_per_day","valueDecimal":30}`) || strings.Contains(back, `"valueDecimal":15}`) {
		t.Errorf("back came %s", back)
	}
}

// A medication that was received as a MedicationStatement is one again.
func TestStatementsStay(t *testing.T) {
	rec := newRecord(t, clinicalBodies[0])
	list, err := Mapping{}.As(medicationStatement).Record(&rec, Version{Number: 1})
	if err != nil {
		t.Fatal(err)
	}
	kept := Kept{}.With(KeptKey(list[0].Type, list[0].ID), Keep(list[0].JSON, list[0].JSON))
	again, err := Mapping{}.StoredRecord(&rec, Version{Number: 1}, kept.Text())
	if err != nil || len(again) != 1 || string(again[0].JSON) != string(list[0].JSON) {
		t.Errorf("%v, %s", err, again[0].JSON)
	}
	if again, err := (Mapping{}).StoredRecord(&rec, Version{Number: 1}, ""); err != nil || again[0].Type != medicationRequest {
		t.Errorf("%v, %s", err, again[0].JSON)
	}
}
