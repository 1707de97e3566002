package fhir

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/pain"
)

// note64 is a text as an attachment has it.
func note64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

const (
	subjectJSON = `"subject":{"reference":"urn:uuid:2c7f1f3e-0000-4000-8000-000000000001"}`
	otherSystem = `"identifier":[{"system":"https://hospital.example/rx","value":"77"}]`
)

// foreign are resources as other systems write them, invented, and what they
// are in /v1.
var foreign = []struct{ name, resource, value string }{
	{"Synthea, no dosage", `{"resourceType":"MedicationRequest","id":"a1","meta":{"profile":["http://hl7.org/fhir/us/core/StructureDefinition/us-core-medicationrequest"]},
		"status":"stopped","intent":"order","category":[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/medicationrequest-category","code":"community","display":"Community"}],"text":"Community"}],
		"medicationCodeableConcept":{"coding":[{"system":"http://www.nlm.nih.gov/research/umls/rxnorm","code":"1049221","display":"Acetaminophen 325 MG / Oxycodone Hydrochloride 5 MG Oral Tablet"}],"text":"Acetaminophen 325 MG / Oxycodone Hydrochloride 5 MG Oral Tablet"},
		` + subjectJSON + `,"encounter":{"reference":"urn:uuid:e1"},"authoredOn":"2019-03-04T10:20:30-05:00",
		"requester":{"reference":"Practitioner?identifier=http://hl7.org/fhir/sid/us-npi|9999973899","display":"Dr. Ok"}}`,
		`{"name":"Acetaminophen 325 MG / Oxycodone Hydrochloride 5 MG Oral Tablet","rxnorm_code":"1049221","status":"stopped","prescriber_id":"9999973899"}`},
	{"Synthea, dosage without a unit", `{"resourceType":"MedicationRequest","status":"completed","intent":"order",` + subjectJSON + `,"authoredOn":"2019-03-04T10:20:30-05:00",
		"medicationCodeableConcept":{"coding":[{"system":"http://www.nlm.nih.gov/research/umls/rxnorm","code":"1049221","display":"Acetaminophen 325 MG / Oxycodone Hydrochloride 5 MG Oral Tablet"}]},
		"reasonReference":[{"reference":"urn:uuid:c1","display":"Chronic low back pain (finding)"}],
		"dosageInstruction":[{"sequence":1,"timing":{"repeat":{"frequency":1,"period":6.0,"periodUnit":"h"}},"asNeededBoolean":true,
			"doseAndRate":[{"type":{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/dose-rate-type","code":"ordered","display":"Ordered"}]},"doseQuantity":{"value":1.0}}]}]}`,
		`{"name":"Acetaminophen 325 MG / Oxycodone Hydrochloride 5 MG Oral Tablet","rxnorm_code":"1049221","status":"completed","indication":"Chronic low back pain (finding)",
		"dose":1.0,"dose_unit":"tablet","doses_per_day":4,"prn":true,"max_doses_per_day":4}`},
	{"Synthea, as needed without more", `{"resourceType":"MedicationRequest","status":"active","intent":"order",` + subjectJSON + `,"authoredOn":"2019-03-04T10:20:30-05:00",
		"medicationCodeableConcept":{"coding":[{"system":"http://www.nlm.nih.gov/research/umls/rxnorm","code":"1049221","display":"Acetaminophen 325 MG / Oxycodone Hydrochloride 5 MG Oral Tablet"}]},
		"dosageInstruction":[{"sequence":1,"text":"Take as needed.","asNeededBoolean":true}]}`,
		`{"name":"Acetaminophen 325 MG / Oxycodone Hydrochloride 5 MG Oral Tablet","rxnorm_code":"1049221","status":"active","frequency":"as needed"}`},
	{"a range and a maximum in milligrams", `{"resourceType":"MedicationRequest","status":"active","intent":"plan","reportedBoolean":true,` + subjectJSON + `,` + otherSystem + `,"authoredOn":"2024-03-04",
		"medicationCodeableConcept":{"text":"morphine"},"requester":{"identifier":{"system":"http://hl7.org/fhir/sid/us-npi","value":"123"}},
		"dosageInstruction":[{"timing":{"repeat":{"boundsPeriod":{"start":"2024-03-04T08:00:00Z","end":"2024-04-04"},"frequency":1,"period":4,"periodMax":6,"periodUnit":"h"}},
			"asNeededCodeableConcept":{"text":"pain"},"route":{"coding":[{"system":"http://snomed.info/sct","code":"26643006"}]},
			"doseAndRate":[{"doseRange":{"low":{"value":5,"unit":"mg"},"high":{"value":10,"unit":"mg"}}}],
			"maxDosePerPeriod":{"numerator":{"value":6,"code":"{dose}","system":"http://unitsofmeasure.org"},"denominator":{"value":24,"unit":"hours","code":"h","system":"http://unitsofmeasure.org"}}}],
		"dispenseRequest":{"numberOfRepeatsAllowed":2,"quantity":{"value":60,"unit":"tablet(s)"},"expectedSupplyDuration":{"value":2,"unit":"weeks","system":"http://unitsofmeasure.org","code":"wk"}}}`,
		`{"name":"morphine","status":"active","prescriber_id":"123","frequency":"q4-6h","start_date":"2024-03-04","end_date":"2024-04-04","prn":true,"max_doses_per_day":6,"route":"oral",
		"dose":10,"dose_unit":"mg","quantity":60,"days_supply":14}`},
	{"a taper", `{"resourceType":"MedicationRequest","status":"active","intent":"order",` + subjectJSON + `,"authoredOn":"2024-03-04","medicationCodeableConcept":{"text":"morphine"},
		"dosageInstruction":[{"sequence":1,"doseAndRate":[{"doseQuantity":{"value":30,"unit":"mg"}}]},{"sequence":2,"doseAndRate":[{"doseQuantity":{"value":15,"unit":"mg"}}]}]}`,
		`{"name":"morphine","status":"active"}`},
	{"a patch, a cream and a strange route", `{"resourceType":"MedicationRequest","status":"active","intent":"order",` + subjectJSON + `,"authoredOn":"2024-03-04","medicationCodeableConcept":{"text":"ketoprofen"},
		"dosageInstruction":[{"route":{"coding":[{"system":"http://snomed.info/sct","code":"54485002","display":"Ophthalmic route"}]},"timing":{"code":{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/v3-GTSAbbreviation","code":"BID"}]},
			"repeat":{"boundsDuration":{"value":10,"unit":"days","system":"http://unitsofmeasure.org","code":"d"}}}}],
		"dispenseRequest":{"quantity":{"value":30,"unit":"g","system":"http://unitsofmeasure.org","code":"g"}}}`,
		`{"name":"ketoprofen","status":"active","frequency":"BID","end_date":"2024-03-13"}`},
	{"a statement", `{"resourceType":"MedicationStatement","status":"active",` + subjectJSON + `,"dateAsserted":"2024-03-05","effectivePeriod":{"start":"2024-03-04"},"informationSource":{"reference":"urn:uuid:x"},
		"medicationReference":{"reference":"Medication/7","display":"Gabapentin 300 MG Oral Capsule"},"dosage":[{"text":"one at night","timing":{"code":{"text":"QHS"}},"doseAndRate":[{"doseQuantity":{"value":300,"unit":"mg","system":"http://unitsofmeasure.org","code":"mg"}}]}]}`,
		`{"name":"Gabapentin 300 MG Oral Capsule","status":"active","start_date":"2024-03-04","frequency":"QHS","dose":300,"dose_unit":"mg"}`},
	{"Synthea, procedure", `{"resourceType":"Procedure","status":"completed",` + subjectJSON + `,"code":{"coding":[{"system":"http://snomed.info/sct","code":"91251008","display":"Physical therapy procedure (regime/therapy)"}],"text":"Physical therapy procedure (regime/therapy)"},
		"performedPeriod":{"start":"2019-03-04T10:20:30-05:00","end":"2019-03-04T10:35:30-05:00"},"location":{"display":"A HOSPITAL"}}`, `{"procedure_type":"physical_therapy"}`},
	{"a procedure that we have no type for", `{"resourceType":"Procedure","status":"completed",` + subjectJSON + `,"code":{"coding":[{"system":"http://www.ama-assn.org/go/cpt","code":"27447"}]},"performedDateTime":"2019-03-04",
		"performer":[{"actor":{"reference":"Practitioner/1","display":"Dr. Knee"}}],"bodySite":[{"coding":[{"system":"http://snomed.info/sct","code":"72696002"}]}],"complication":[{"text":"fever"},{"coding":[{"display":"rash"}]}]}`,
		`{"procedure_type":"other","cpt_code":"27447","body_site":"knee","performer":"Dr. Knee","complication":"fever; rash"}`},
	{"an adverse event", `{"resourceType":"AdverseEvent","identifier":{"system":"https://hospital.example/ae","value":"1"},"actuality":"actual",` + subjectJSON + `,"date":"2024-03","detected":"2024-03-09T10:00:00Z",
		"event":{"coding":[{"system":"http://snomed.info/sct","code":"422587007"}]},"seriousness":{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/adverse-event-seriousness","code":"SeriousIsLifeThreatening"}]},
		"severity":{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/adverse-event-severity","code":"moderate"}]},"suspectEntity":[{"instance":{"reference":"Medication/7","display":"oxycodone"}}]}`,
		`{"onset":"2024-03","event":"nausea","serious":true,"grade":2,"suspected_drug":"oxycodone"}`},
	{"Synthea, note", `{"resourceType":"DocumentReference","status":"current","docStatus":"final",` + subjectJSON + `,"date":"2019-03-04T10:20:30.123-05:00","type":{"coding":[{"system":"http://loinc.org","code":"34117-2","display":"History and physical note"}]},
		"category":[{"coding":[{"system":"http://hl7.org/fhir/us/core/CodeSystem/us-core-documentreference-category","code":"clinical-note"}]}],
		"content":[{"attachment":{"contentType":"text/plain; charset=utf-8","data":"` + note64("# Plan\nNo pain.\n") + `"},"format":{"system":"http://ihe.net/fhir/ihe.formatcode.fhir/CodeSystem/formatcode","code":"urn:ihe:iti:xds:2017:mimeTypeSufficient"}}],
		"context":{"encounter":[{"reference":"urn:uuid:e1"}],"period":{"start":"2019-03-04T10:20:30-05:00"}}}`,
		`{"note_type":"History and physical note","text":"# Plan\nNo pain.\n"}`},
	{"LOINC's PHQ-9 with coded answers", `{"resourceType":"QuestionnaireResponse","questionnaire":"http://loinc.org/q/44249-1|2.77","status":"completed",` + subjectJSON + `,"authored":"2024-03-04T10:00:00Z","item":[{"linkId":"/44249-1","text":"PHQ-9","item":[
		{"linkId":"/44250-9","answer":[{"valueCoding":{"system":"http://loinc.org","code":"LA6568-5","display":"Not at all"}}]},{"linkId":"/44255-8","answer":[{"valueCoding":{"system":"http://loinc.org","code":"LA6571-9"}}]},
		{"linkId":"/44259-0","answer":[{"valueCoding":{"extension":[{"url":"http://hl7.org/fhir/StructureDefinition/ordinalValue","valueDecimal":2}],"code":"x"}}]},{"linkId":"/44260-8"},
		{"linkId":"/69722-7","answer":[{"valueString":"Somewhat difficult"}]},{"linkId":"/44261-6","answer":[{"valueDecimal":12}]}]}]}`,
		`{"instrument":"phq_9","items":{"1":0,"2":3,"3":2}}`},
	{"a T score", `{"resourceType":"Observation","status":"final",` + subjectJSON + `,"category":[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/observation-category","code":"survey"}]}],
		"code":{"coding":[{"system":"http://loinc.org","code":"77865-4"}]},"effectiveDateTime":"2024-03-04","valueQuantity":{"value":61.2,"unit":"{T-score}"}}`,
		`{"instrument":"promis_pi","score":61.2}`},
}

func TestForeignResources(t *testing.T) {
	for _, c := range foreign {
		t.Run(c.name, func(t *testing.T) {
			d, issues := Mapping{}.Read([]byte(c.resource))
			if d == nil {
				t.Fatal(issues)
			}
			var body struct{ Value json.RawMessage }
			if err := json.Unmarshal(d.Record, &body); err != nil {
				t.Fatal(err)
			}
			if got, want := canonical(body.Value), canonical([]byte(c.value)); string(got) != string(want) {
				t.Errorf("read\n%s, want\n%s", got, want)
			}
			rec := newRecord(t, string(d.Record))
			list, err := Mapping{}.As(d.Type).Record(&rec, Version{Root: rec.ID, Number: 1, LastUpdated: testNow})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range list {
				if r.Type != d.Type {
					continue
				}
				back := Restore(r.JSON, Keep([]byte(c.resource), r.JSON))
				got, want := withoutServer(t, back), withoutServer(t, []byte(c.resource))
				if got != want {
					t.Errorf("back\n%s, sent\n%s", got, want)
				}
				if again, issues := (Mapping{}).Read(back); again == nil || string(canonical(again.Record)) != string(canonical(d.Record)) {
					t.Errorf("what came back is read differently: %v %s", issues, again.Record)
				}
				return
			}
			t.Fatalf("no %s in %v", d.Type, list)
		})
	}
}

// withoutServer returns a resource without what the server sets.
func withoutServer(t *testing.T, resource []byte) string {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(resource, &fields); err != nil {
		t.Fatal(err)
	}
	delete(fields, "id")
	delete(fields, "subject")
	for name := range fields {
		switch name {
		case "meta":
			if fields[name] = (&elementText{json: fields[name]}).without("versionId", "lastUpdated"); fields[name] == nil {
				delete(fields, name)
			}
		case "identifier":
			if fields[name] = (&elementText{json: fields[name]}).withoutSystem(DefaultBase + "/record"); fields[name] == nil {
				delete(fields, name)
			}
		case "extension":
			if !strings.Contains(string(fields[name]), "hospital.example") {
				delete(fields, name) // ours
			}
		}
	}
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(canonical(text))
}

// TestRefused has what would change its meaning if it were taken, and the path
// of each.
func TestRefused(t *testing.T) {
	request := func(more string) string {
		return `{"resourceType":"MedicationRequest","status":"active","intent":"order",` + subjectJSON + `,"authoredOn":"2024-03-04","medicationCodeableConcept":{"text":"oxycodone 5 mg tablet"}` + more + `}`
	}
	dosage := func(more string) string { return request(`,"dosageInstruction":[{` + more + `}]`) }
	response := func(status, questionnaire, items string) string {
		return `{"resourceType":"QuestionnaireResponse","status":"` + status + `","questionnaire":"` + questionnaire + `",` + subjectJSON + `,"authored":"2024-03-04","item":[` + items + `]}`
	}
	const phq2 = DefaultBase + "/Questionnaire/phq-2"
	for _, c := range []struct{ path, resource string }{
		{"MedicationRequest.doNotPerform", request(`,"doNotPerform":true`)},
		{"MedicationRequest.intent", strings.Replace(request(""), `"order"`, `"proposal"`, 1)},
		{"MedicationRequest.authoredOn", strings.Replace(request(""), `"authoredOn":"2024-03-04",`, "", 1)},
		{"MedicationRequest.authoredOn", strings.Replace(request(""), `2024-03-04`, "2024-03", 1)},
		{"MedicationRequest.medicationReference", strings.Replace(request(""), `"medicationCodeableConcept":{"text":"oxycodone 5 mg tablet"}`, `"medicationReference":{"reference":"Medication/1"}`, 1)},
		{"MedicationRequest.medicationCodeableConcept.text", strings.Replace(request(""), `{"text":"oxycodone 5 mg tablet"}`, `{"coding":[{"system":"urn:x","code":"1"}]}`, 1)},
		{"MedicationRequest.requester.reference", request(`,"contained":[{"resourceType":"Practitioner","id":"p"}],"requester":{"reference":"#p"}`)},
		{"MedicationRequest.dosageInstruction[0].route", dosage(`"route":{"text":"by the ear"}`)},
		{"MedicationRequest.dosageInstruction[0].doseAndRate[0].doseQuantity.code", dosage(`"doseAndRate":[{"doseQuantity":{"value":1,"unit":"scruple"}}]`)},
		{"MedicationRequest.dosageInstruction[0].doseAndRate[0].doseQuantity.code", dosage(`"doseAndRate":[{"doseQuantity":{"value":1,"unit":"mg","code":"ug","system":"http://unitsofmeasure.org"}}]`)},
		{"MedicationRequest.dosageInstruction[0].doseAndRate[0].doseQuantity", dosage(`"doseAndRate":[{"doseQuantity":{"value":1,"comparator":"<","unit":"mg"}}]`)},
		{"MedicationRequest.dispenseRequest.quantity.code", request(`,"dispenseRequest":{"quantity":{"value":1,"unit":"bottle"}}`)},
		{"MedicationRequest.dispenseRequest.expectedSupplyDuration.code", request(`,"dispenseRequest":{"expectedSupplyDuration":{"value":1,"system":"http://unitsofmeasure.org","code":"mo"}}`)},
		{"MedicationStatement.status", `{"resourceType":"MedicationStatement","status":"not-taken",` + subjectJSON + `,"dateAsserted":"2024-03-04","medicationCodeableConcept":{"text":"oxycodone"}}`},
		{"Procedure.status", `{"resourceType":"Procedure","status":"not-done",` + subjectJSON + `,"code":{"text":"x"},"performedDateTime":"2024-03-04"}`},
		{"Procedure.status", `{"resourceType":"Procedure","status":"in-progress",` + subjectJSON + `,"code":{"text":"x"},"performedDateTime":"2024-03-04"}`},
		{"AdverseEvent.actuality", `{"resourceType":"AdverseEvent","actuality":"potential",` + subjectJSON + `,"event":{"text":"x"},"date":"2024-03-04"}`},
		{"DocumentReference.content[0].attachment.contentType", `{"resourceType":"DocumentReference","status":"current",` + subjectJSON + `,"date":"2024-03-04T10:00:00Z","content":[{"attachment":{"contentType":"application/pdf","data":"AAAA"}}]}`},
		{"DocumentReference.content[0].attachment.data", `{"resourceType":"DocumentReference","status":"current",` + subjectJSON + `,"date":"2024-03-04T10:00:00Z","content":[{"attachment":{"contentType":"text/plain","url":"https://x.example/1"}}]}`},
		{"DocumentReference.content[0].attachment.data", `{"resourceType":"DocumentReference","status":"current",` + subjectJSON + `,"date":"2024-03-04T10:00:00Z","content":[{"attachment":{"contentType":"text/plain","data":"/w=="}}]}`},
		{"DocumentReference.status", `{"resourceType":"DocumentReference","status":"superseded",` + subjectJSON + `,"date":"2024-03-04T10:00:00Z","content":[{"attachment":{"contentType":"text/plain","data":"AAAA"}}]}`},
		{"QuestionnaireResponse.questionnaire", response("completed", "https://other.example/q", `{"linkId":"1","answer":[{"valueInteger":1}]}`)},
		{"QuestionnaireResponse.status", response("in-progress", phq2, `{"linkId":"1","answer":[{"valueInteger":1}]}`)},
		{"QuestionnaireResponse.item[0].answer[0]", response("completed", phq2, `{"linkId":"1","answer":[{"valueString":"often"}]}`)},
		{"QuestionnaireResponse.item[1].answer", response("completed", phq2, `{"linkId":"1","answer":[{"valueInteger":1}]},{"linkId":"1","answer":[{"valueInteger":2}]}`)},
		{"Observation.code", `{"resourceType":"Observation","status":"final",` + subjectJSON + `,"code":{"coding":[{"system":"http://loinc.org","code":"44261-6"}]},"effectiveDateTime":"2024-03-04","valueQuantity":{"value":12,"unit":"{score}"}}`},
		{"Observation.valueQuantity.code", `{"resourceType":"Observation","status":"final",` + subjectJSON + `,"code":{"coding":[{"system":"http://loinc.org","code":"77565-0"}]},"effectiveDateTime":"2024-03-04","valueQuantity":{"value":1,"unit":"cm"}}`},
		{"Observation.valueQuantity.comparator", `{"resourceType":"Observation","identifier":[{"system":"` + DefaultBase + `/record","value":"rec_1"}],"status":"final",` + subjectJSON + `,"code":{"coding":[{"system":"http://loinc.org","code":"44261-6"}]},"effectiveDateTime":"2024-03-04","valueQuantity":{"value":12,"comparator":">"}}`},
		{"Observation.valueQuantity", `{"resourceType":"Observation","status":"final",` + subjectJSON + `,"code":{"coding":[{"system":"http://loinc.org","code":"77565-0"}]},"effectiveDateTime":"2024-03-04","dataAbsentReason":{"text":"x"}}`},
	} {
		d, issues := Mapping{}.Read([]byte(c.resource))
		if d != nil || len(issues) != 1 || issues[0].Expression != c.path {
			t.Errorf("%s: %v for %s", c.path, issues, c.resource)
		}
	}
}

// TestPathsOfRules has resources that package pain refuses, and the element to
// which the error is translated.
func TestPathsOfRules(t *testing.T) {
	const phq2 = DefaultBase + "/Questionnaire/phq-2"
	for _, c := range []struct{ path, resource string }{
		{"QuestionnaireResponse.item[1].answer[0]", `{"resourceType":"QuestionnaireResponse","status":"completed","questionnaire":"` + phq2 + `",` + subjectJSON + `,"authored":"2024-03-04","item":[{"linkId":"1","answer":[{"valueInteger":1}]},{"linkId":"2","answer":[{"valueInteger":4}]}]}`},
		{"QuestionnaireResponse.item", `{"resourceType":"QuestionnaireResponse","status":"completed","questionnaire":"` + phq2 + `",` + subjectJSON + `,"authored":"2024-03-04"}`},
		{"MedicationRequest.dosageInstruction[0].maxDosePerPeriod", `{"resourceType":"MedicationRequest","status":"active","intent":"order",` + subjectJSON + `,"authoredOn":"2024-03-04","medicationCodeableConcept":{"text":"oxycodone"},
			"dosageInstruction":[{"asNeededBoolean":true,"maxDosePerPeriod":{"numerator":{"value":40,"unit":"mg"},"denominator":{"value":1,"code":"d"}}}]}`},
		{"DocumentReference.content[0].attachment.data", `{"resourceType":"DocumentReference","status":"current",` + subjectJSON + `,"date":"2024-03-04T10:00:00Z","content":[{"attachment":{"contentType":"text/plain","data":"` + note64(strings.Repeat("x", 20_001)) + `"}}]}`},
		{"AdverseEvent.extension[0]", `{"resourceType":"AdverseEvent","extension":[{"url":"` + DefaultBase + `/StructureDefinition/adverse_events-grade","valueDecimal":9}],"actuality":"actual",` + subjectJSON + `,"event":{"text":"x"},"date":"2024-03-04"}`},
	} {
		d, issues := Mapping{}.Read([]byte(c.resource))
		if d == nil {
			t.Errorf("%v for %s", issues, c.resource)
			continue
		}
		var fields fault.Fields
		pain.NewRecord(parse(t, string(d.Record)), &fields, testIntake())
		if list := fields.All(); len(list) == 0 || d.Path(list[0].Parameter) != c.path {
			t.Errorf("refused with %v, want the path %s", list, c.path)
		}
	}
}
