package fhir

import "testing"

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
		if again, _ := outAndIn(t, &rec); again != rec {
			t.Errorf("sent %+v\nback %+v", rec, again)
		}
	}
}
