package fhir

import (
	"reflect"
	"testing"

	"anodyne.example/anodyne/internal/fhir/fhirtest"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/testneed"
)

// received are resources as other systems send them, and what /v1 has of each.
var received = []struct{ name, body, want string }{
	{"a patient like those of Synthea", `{"resourceType":"Patient","id":"9f2c3c1e-0000-4000-8000-000000000001",
		"meta":{"source":"urn:generator","tag":[{"code":"test"}]},
		"text":{"status":"generated","div":"<div xmlns=\"http://www.w3.org/1999/xhtml\">Made up</div>"},
		"extension":[{"url":"http://hl7.org/fhir/us/core/StructureDefinition/us-core-race","extension":[
			{"url":"ombCategory","valueCoding":{"system":"urn:oid:2.16.840.1.113883.6.238","code":"2106-3","display":"White"}},{"url":"text","valueString":"White"}]},
			{"url":"http://hl7.org/fhir/us/core/StructureDefinition/us-core-birthsex","valueCode":"F"}],
		"identifier":[{"system":"https://other.example/generator","value":"9f2c"},
			{"type":{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/v2-0203","code":"MR"}]},"system":"http://hospital.example","value":"M-1"},{"value":"no system"}],
		"name":[{"use":"maiden","family":"Roe17"},{"use":"official","family":"Doe42","given":["Jane1","Q."],"prefix":["Mrs."]}],
		"telecom":[{"system":"phone","value":"555-555-0101","use":"home"},{"system":"phone","value":"555-555-0102","use":"work"}],
		"gender":"female","birthDate":"1971-02-03","_birthDate":{"extension":[{"url":"http://hl7.org/fhir/StructureDefinition/patient-birthTime","valueDateTime":"1971-02-03T04:05:06+01:00"}]},
		"address":[{"line":["1 Some Street"],"city":"Sometown","state":"MA","country":"US"}],
		"maritalStatus":{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/v3-MaritalStatus","code":"M"}],"text":"M"},
		"multipleBirthBoolean":false,"active":true,"communication":[{"language":{"coding":[{"system":"urn:ietf:bcp:47","code":"en-US"}]}}]}`,
		`{"name":"Jane1 Q. Doe42","date_of_birth":"1971-02-03","gender":"female","contact":{"phone":"555-555-0101"},"identifiers":[{"system":"https://other.example/generator","value":"9f2c"},{"system":"http://hospital.example","value":"M-1"}]}`},
	{"a pain score", `{"resourceType":"Observation","id":"a","status":"final","category":[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/observation-category","code":"vital-signs","display":"Vital signs"}]}],
		"code":{"coding":[{"system":"http://loinc.org","code":"72514-3","display":"Pain severity - 0-10 verbal numeric rating [Score] - Reported"}],"text":"Pain severity"},
		"subject":{"reference":"urn:uuid:1","display":"Jane"},"encounter":{"reference":"urn:uuid:2"},"effectiveDateTime":"2020-01-31T10:20:30.123456-05:00","issued":"2020-01-31T10:20:30.123-05:00",
		"valueQuantity":{"value":4.0,"unit":"{score}","system":"http://unitsofmeasure.org","code":"{score}"},"device":{"display":"a tablet"}}`,
		`{"data_type":"pain_scores","recorded_at":"2020-01-31T10:20:30.123456-05:00","value":{"scale":"nrs","score":4.0}}`},
	{"a corrected pain score in centimetres", `{"resourceType":"Observation","status":"corrected","code":{"coding":[{"system":"http://loinc.org","code":"38214-3"}]},
		"subject":{"identifier":{"system":"mrn","value":"7"}},"effectivePeriod":{"start":"2020-01-31","end":"2020-02-01"},"valueQuantity":{"value":4.2,"unit":"cm"},
		"bodySite":{"coding":[{"system":"http://snomed.info/sct","code":"72696002"}]},"note":[{"authorString":"x","text":"one"}],"performer":[{"reference":"Practitioner/1","display":"Dr. A"}]}`,
		`{"data_type":"pain_scores","notes":"one","recorded_at":"2020-01-31","value":{"scale":"vas","score":42,"body_site":"knee"}}`},
	{"a blood pressure", `{"resourceType":"Observation","status":"final","category":[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/observation-category","code":"vital-signs"}]}],
		"code":{"coding":[{"system":"http://loinc.org","code":"85354-9"}],"text":"Blood pressure"},"subject":{"reference":"Patient/1"},"effectiveDateTime":"2020-01-31",
		"component":[{"code":{"coding":[{"system":"http://loinc.org","code":"8462-4"}]},"valueQuantity":{"value":80,"unit":"mm[Hg]","system":"http://unitsofmeasure.org","code":"mm[Hg]"}},
			{"code":{"coding":[{"system":"http://loinc.org","code":"8480-6"}]},"valueQuantity":{"value":120.5,"unit":"mm[Hg]","system":"http://unitsofmeasure.org","code":"mm[Hg]"}}]}`,
		`{"data_type":"vitals","recorded_at":"2020-01-31","value":{"diastolic":80,"systolic":120.5}}`},
	{"a weight in pounds", `{"resourceType":"Observation","status":"final","category":[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/observation-category","code":"vital-signs"}]}],
		"code":{"coding":[{"system":"http://loinc.org","code":"29463-7"},{"system":"http://snomed.info/sct","code":"27113001"}]},"subject":{"reference":"Patient/1"},"effectiveDateTime":"2020-01-31",
		"valueQuantity":{"value":185,"unit":"lbs","system":"http://unitsofmeasure.org","code":"[lb_av]"}}`,
		`{"data_type":"vitals","recorded_at":"2020-01-31","value":{"weight_kg":83.91458845}}`},
	{"a temperature in Fahrenheit", `{"resourceType":"Observation","status":"final","code":{"coding":[{"system":"http://loinc.org","code":"8310-5"}]},"subject":{"reference":"Patient/1"},
		"effectiveDateTime":"2020-01-31","valueQuantity":{"value":98.6,"unit":"F","system":"http://unitsofmeasure.org","code":"[degF]"}}`,
		`{"data_type":"vitals","recorded_at":"2020-01-31","value":{"temperature_c":37}}`},
	{"a laboratory result", `{"resourceType":"Observation","status":"final","category":[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/observation-category","code":"laboratory"}]}],
		"code":{"coding":[{"system":"http://loinc.org","code":"2160-0","display":"Creatinine"}],"text":"Creatinine"},"subject":{"reference":"Patient/1"},"effectiveDateTime":"2020-01-31",
		"valueQuantity":{"value":1.10,"unit":"mg/dl","system":"http://unitsofmeasure.org","code":"mg/dL"},"specimen":{"reference":"Specimen/1"},
		"interpretation":[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation","code":"N"}]}],
		"referenceRange":[{"low":{"value":0.7,"code":"mg/dL"},"high":{"value":1.3,"code":"mg/dL"},"text":"0.7 to 1.3"}]}`,
		`{"data_type":"labs","recorded_at":"2020-01-31","value":{"loinc":"2160-0","analyte":"Creatinine","value":1.10,"unit":"mg/dL","ref_low":0.7,"ref_high":1.3}}`},
	{"a saturation from the laboratory", `{"resourceType":"Observation","meta":{"profile":["http://hl7.org/fhir/us/core/StructureDefinition/us-core-observation-lab"]},"status":"final","category":[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/observation-category","code":"laboratory"}]}],
		"code":{"coding":[{"system":"http://loinc.org","code":"2708-6"}]},"subject":{"reference":"Patient/1"},"effectiveDateTime":"2020-01-31","valueQuantity":{"value":97,"unit":"%","system":"http://unitsofmeasure.org","code":"%"}}`,
		`{"data_type":"labs","recorded_at":"2020-01-31","value":{"loinc":"2708-6","value":97,"unit":"%"}}`},
	{"a saturation in the category of laboratory results", `{"resourceType":"Observation","status":"final","category":[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/observation-category","code":"laboratory"}]}],
		"code":{"coding":[{"system":"http://loinc.org","code":"2708-6"}]},"subject":{"reference":"Patient/1"},"effectiveDateTime":"2020-01-31","valueQuantity":{"value":97,"unit":"%","system":"http://unitsofmeasure.org","code":"%"}}`,
		`{"data_type":"vitals","recorded_at":"2020-01-31","value":{"spo2":97}}`},
	{"a laboratory result in words", `{"resourceType":"Observation","status":"final","category":[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/observation-category","code":"laboratory"}]}],
		"code":{"coding":[{"system":"http://loinc.org","code":"5778-6"}]},"subject":{"reference":"Patient/1"},"effectiveDateTime":"2020-01-31","valueString":"yellow"}`,
		`{"data_type":"labs","recorded_at":"2020-01-31","value":{"loinc":"5778-6"}}`},
	{"a drug screen", `{"resourceType":"Observation","status":"final","category":[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/observation-category","code":"laboratory"}]}],
		"code":{"text":"oxycodone"},"subject":{"reference":"Patient/1"},"effectiveDateTime":"2020-01-31",
		"valueCodeableConcept":{"coding":[{"system":"http://snomed.info/sct","code":"10828004","display":"Positive"}]}}`,
		`{"data_type":"labs","recorded_at":"2020-01-31","value":{"analyte":"oxycodone","result":"positive"}}`},
	{"steps", `{"resourceType":"Observation","status":"final","code":{"coding":[{"system":"http://loinc.org","code":"41950-7"}]},"subject":{"reference":"Patient/1"},
		"effectiveDateTime":"2020-01-31","valueQuantity":{"value":7267,"unit":"steps per day","system":"http://unitsofmeasure.org","code":"/d"}}`,
		`{"data_type":"activity","recorded_at":"2020-01-31","value":{"steps":7267}}`},
	{"sleep in minutes", `{"resourceType":"Observation","status":"final","code":{"coding":[{"system":"http://loinc.org","code":"93832-4"}]},"subject":{"reference":"Patient/1"},
		"effectiveDateTime":"2020-01-31","valueQuantity":{"value":450,"unit":"min"}}`,
		`{"data_type":"sleep","recorded_at":"2020-01-31","value":{"hours":7.5}}`},
	{"a condition", `{"resourceType":"Condition","id":"c","clinicalStatus":{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/condition-clinical","code":"active"}]},
		"verificationStatus":{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/condition-ver-status","code":"confirmed"}]},
		"category":[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/condition-category","code":"encounter-diagnosis"}]}],
		"code":{"coding":[{"system":"http://snomed.info/sct","code":"82423001","display":"Chronic pain"}],"text":"Chronic pain"},
		"subject":{"reference":"urn:uuid:1"},"encounter":{"reference":"urn:uuid:2"},"onsetDateTime":"2015-03-04T05:06:07+01:00","recordedDate":"2015-03-04"}`,
		`{"condition":"Chronic pain","snomed_code":"82423001","onset_date":"2015-03-04","status":"active"}`},
}

// A resource of another system is stored as /v1 would have it, and comes back
// as it was sent.
func TestReceivedResources(t *testing.T) {
	var restored [][]byte
	for _, c := range received {
		t.Run(c.name, func(t *testing.T) {
			d, issues := Mapping{}.Read([]byte(c.body))
			if len(issues) > 0 {
				t.Fatal(issues)
			}
			generated, sent := store(t, d)
			if string(sent) != c.want {
				t.Errorf("sent %s\nwant %s", sent, c.want)
			}
			kept := Keep([]byte(c.body), generated.JSON)
			back := Restore(generated.JSON, kept)
			system := serverSystemOf(t, generated.JSON)
			if want, got := decoded(t, []byte(c.body), system), decoded(t, back, system); !reflect.DeepEqual(want, got) {
				t.Errorf("received %s\nback     %s", c.body, back)
			}
			restored = append(restored, back)
		})
	}
	testneed.Long(t, "the FHIR validator")
	fhirtest.Judge(t, restored...)
}

// store makes what /v1 would have of a draft and maps it out.
func store(t *testing.T, d *Draft) (generated Resource, sent []byte) {
	t.Helper()
	patientID := id.New[id.PatientKind](testNow)
	var m Mapping
	switch {
	case d.Patient != nil:
		p, err := pain.NewPatient(parse(t, string(d.Patient)), patientID, testNow)
		if err != nil {
			t.Fatal(err)
		}
		r, err := m.Patient(&p)
		if err != nil {
			t.Fatal(err)
		}
		return r, d.Patient
	case d.History != nil:
		p, err := pain.NewPatient(parse(t, `{"name":"A","date_of_birth":"1961-03-14","medical_history":[`+string(d.History)+`]}`), patientID, testNow)
		if err != nil {
			t.Fatal(err)
		}
		list, err := m.Conditions(&p)
		if err != nil {
			t.Fatal(err)
		}
		return list[0], d.History
	}
	rec := newRecord(t, string(d.Record))
	rec.Status = d.Status
	list, err := m.Record(&rec, Version{Root: rec.ID, Number: 1, LastUpdated: testNow})
	if err != nil {
		t.Fatal(err)
	}
	return list[0], d.Record
}

// serverSystemOf returns the system of our own identifier in a resource.
func serverSystemOf(t *testing.T, generated []byte) string {
	t.Helper()
	e, ok := elementsOf(generated)
	if !ok {
		t.Fatalf("no resource: %s", generated)
	}
	return e.serverSystem()
}
