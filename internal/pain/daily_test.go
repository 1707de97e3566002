package pain

import "strings"

var procedureCases = []valueCase{
	{`{"procedure_type":"cbt"}`, `{"procedure_type":"cbt"}`, false},
	{`{"procedure_type":"epidural_steroid","body_site":"lower back","level":" L4-L5 ","laterality":"left","performer":"Dr A","cpt_code":"62323","pre_score":8,"post_score":3,"relief_percent":60,"complication":"none"}`,
		`{"procedure_type":"epidural_steroid","body_site":"lower back","level":"L4-L5","laterality":"left","performer":"Dr A","cpt_code":"62323","pre_score":8,"post_score":3,"relief_percent":60,"complication":"none","derived":{"percent_change":-62.5}}`, false},
	{`{"procedure_type":"cbt","pre_score":0,"post_score":2}`, `{"procedure_type":"cbt","pre_score":0,"post_score":2,"derived":{"percent_change":null}}`, false},
	{`{"procedure_type":"cbt","pre_score":5}`, `{"procedure_type":"cbt","pre_score":5}`, false},
	{`{}`, `value.procedure_type null value.procedure_type is required.`, false},
	{`{"procedure_type":"nerve-block"}`, `value.procedure_type "nerve-block" value.procedure_type must be one of epidural_steroid, facet_injection, medial_branch_block, radiofrequency_ablation, nerve_block, trigger_point, joint_injection, scs_trial, scs_implant, intrathecal_pump, physical_therapy, cbt, acupuncture, other. Did you mean "nerve_block"?`, false},
	{`{"procedure_type":"cbt","pre_score":11}`, `value.pre_score 11 value.pre_score must be a number from 0 to 10.`, false},
	{`{"procedure_type":"cbt","post_score":-1}`, `value.post_score -1 value.post_score must be a number from 0 to 10.`, false},
	{`{"procedure_type":"cbt","relief_percent":100.5}`, `value.relief_percent 100.5 value.relief_percent must be a number from 0 to 100.`, false},
	{`{"procedure_type":"cbt","cpt_code":"6232"}`, `value.cpt_code "6232" value.cpt_code must be a code such as 62323.`, false},
	{`{"procedure_type":"cbt","level":"` + strings.Repeat("x", 51) + `"}`, `value.level "` + strings.Repeat("x", 51) + `" value.level must have at most 50 characters.`, false},
	{`{"procedure_type":"cbt","performer":" "}`, `value.performer " " value.performer must not be blank.`, true},
	{`{"procedure_type":"cbt","complication":"a\nb"}`, `value.complication "a\nb" value.complication must not contain control characters or line breaks.`, true},
	{`{"procedure_type":"cbt","body_site":"spine"}`, `value.body_site "spine" value.body_site must be one of ` + sites, false},
	{`{"procedure_type":"cbt","laterality":"Left"}`, `value.laterality "Left" value.laterality must be one of left, right, bilateral, midline, na. Did you mean "left"?`, false},
	{`{"procedure_type":"cbt","derived":{"percent_change":1}}`, `value.derived {"percent_change":1} value.derived is computed by the service; omit it.`, false},
}

var functionalCases = []valueCase{
	{`{"measure":"tug_s","value":12.4}`, `{"measure":"tug_s","value":12.4,"unit":"s"}`, false},
	{`{"measure":"tug_s","value":300,"unit":"s"}`, `{"measure":"tug_s","value":300,"unit":"s"}`, false},
	{`{"measure":"tug_s","value":301}`, `value.value 301 value.value must be a number from 0 to 300 (s).`, false},
	{`{"measure":"tug_s","value":"12"}`, `value.value "12" value.value must be a number from 0 to 300 (s).`, false},
	{`{"measure":"tug_s","value":12,"unit":"min"}`, `value.unit "min" value.unit must be s for tug_s, or omitted.`, false},
	{`{"measure":"six_min_walk_m","value":1000}`, `{"measure":"six_min_walk_m","value":1000,"unit":"m"}`, false},
	{`{"measure":"six_min_walk_m","value":1001}`, `value.value 1001 value.value must be a number from 0 to 1000 (m).`, false},
	{`{"measure":"work_days_missed","value":31}`, `{"measure":"work_days_missed","value":31,"unit":"d"}`, false},
	{`{"measure":"work_days_missed","value":1.5}`, `value.value 1.5 value.value must be a whole number from 0 to 31 (d).`, false},
	{`{"measure":"limits_life_or_work","value":"most_days"}`, `{"measure":"limits_life_or_work","value":"most_days"}`, false},
	{`{"measure":"limits_life_or_work","value":"most days"}`, `value.value "most days" value.value must be one of never, some_days, most_days, every_day. Did you mean "most_days"?`, false},
	{`{"measure":"limits_life_or_work","value":2}`, `value.value 2 value.value must be one of never, some_days, most_days, every_day.`, false},
	{`{"measure":"limits_life_or_work","value":"never","unit":"d"}`, `value.unit "d" value.unit must be omitted: limits_life_or_work has no unit.`, false},
	{`{"measure":"grip_strength","value":-3.5,"unit":"kg"}`, `{"measure":"grip_strength","value":-3.5,"unit":"kg"}`, false},
	{`{"measure":"walking_aid","value":" cane "}`, `{"measure":"walking_aid","value":"cane"}`, false},
	{`{"measure":"walking_aid","value":" "}`, `value.value " " value.value must not be blank.`, true},
	{`{"measure":"walking_aid","value":"a\nb"}`, `value.value "a\nb" value.value must not contain control characters or line breaks.`, true},
	{`{"measure":"x","value":1e13}`, `value.value 1e13 value.value must be a number from -1000000000000 to 1000000000000.`, false},
	{`{"measure":"x","value":true}`, `value.value true value.value must be a number or a string.`, false},
	{`{"measure":"TUG","value":1}`, `value.measure "TUG" value.measure must be a code such as tug_s.`, false},
	{`{}`, `value.measure null value.measure is required.; value.value null value.value is required.`, false},
	{`{"measure":"x","value":""}`, `value.value "" value.value is required.`, false},
}

var sleepCases = []valueCase{
	{`{"hours":7.5}`, `{"hours":7.5}`, false},
	{`{"pain_interference":3,"awakenings":50,"quality":10,"hours":24}`, `{"hours":24,"quality":10,"awakenings":50,"pain_interference":3}`, false},
	{`{"hours":0,"quality":0,"awakenings":0,"pain_interference":0}`, `{"hours":0,"quality":0,"awakenings":0,"pain_interference":0}`, false},
	{`{}`, `value {} value must have at least one of hours, quality, awakenings, pain_interference.`, false},
	{`{"hours":null}`, `value {"hours":null} value must have at least one of hours, quality, awakenings, pain_interference.`, false},
	{`{"hours":24.1}`, `value.hours 24.1 value.hours must be a number from 0 to 24.`, false},
	{`{"hours":-0.5}`, `value.hours -0.5 value.hours must be a number from 0 to 24.`, false},
	{`{"quality":11}`, `value.quality 11 value.quality must be a number from 0 to 10.`, false},
	{`{"awakenings":51}`, `value.awakenings 51 value.awakenings must be a whole number from 0 to 50.`, false},
	{`{"awakenings":1.5}`, `value.awakenings 1.5 value.awakenings must be a whole number from 0 to 50.`, false},
	{`{"pain_interference":10.1}`, `value.pain_interference 10.1 value.pain_interference must be a number from 0 to 10.`, false},
}

var moodCases = []valueCase{
	{`{"score":0}`, `{"score":0}`, false},
	{`{"score":10,"assessment_id":"rec_01arz3ndektsv4rrffq69g5fav"}`, `{"score":10,"assessment_id":"rec_01arz3ndektsv4rrffq69g5fav"}`, false},
	{`{"assessment_id":"rec_01arz3ndektsv4rrffq69g5fav"}`, `{"assessment_id":"rec_01arz3ndektsv4rrffq69g5fav"}`, false},
	{`{"assessment_id":"pat_01arz3ndektsv4rrffq69g5fav"}`, `value.assessment_id "pat_01arz3ndektsv4rrffq69g5fav" value.assessment_id must be the identifier of a record.`, false},
	{`{"assessment_id":"rec_81arz3ndektsv4rrffq69g5fav"}`, `value.assessment_id "rec_81arz3ndektsv4rrffq69g5fav" value.assessment_id must be the identifier of a record.`, false},
	{`{"score":10.5}`, `value.score 10.5 value.score must be a number from 0 to 10.`, false},
	{`{}`, `value {} value must have at least one of score, assessment_id.`, false},
}

var activityCases = []valueCase{
	{`{"steps":100000,"active_minutes":1440}`, `{"steps":100000,"active_minutes":1440}`, false},
	{`{"steps":0}`, `{"steps":0}`, false},
	{`{"steps":100001}`, `value.steps 100001 value.steps must be a whole number from 0 to 100000.`, false},
	{`{"steps":0.5}`, `value.steps 0.5 value.steps must be a whole number from 0 to 100000.`, false},
	{`{"active_minutes":1441}`, `value.active_minutes 1441 value.active_minutes must be a number from 0 to 1440.`, false},
	{`{}`, `value {} value must have at least one of steps, active_minutes.`, false},
	{`{"step":1}`, `value {"step":1} value must have at least one of steps, active_minutes.; value.step 1 Unknown field. Did you mean "steps"?`, false},
}

var adverseCases = []valueCase{
	{`{"event":"constipation"}`, `{"event":"constipation"}`, false},
	{`{"event":"overdose","grade":4,"serious":true,"suspected_drug":"oxycodone","onset":"2024-04","resolved":"2024-04-30","outcome":"recovered"}`,
		`{"event":"overdose","grade":4,"serious":true,"suspected_drug":"oxycodone","onset":"2024-04","resolved":"2024-04-30","outcome":"recovered","derived":{"grade_word":"life-threatening"}}`, false},
	{`{"event":"fall","grade":1,"serious":false}`, `{"event":"fall","grade":1,"serious":false,"derived":{"grade_word":"mild"}}`, false},
	{`{"event":"fall","grade":2}`, `{"event":"fall","grade":2,"derived":{"grade_word":"moderate"}}`, false},
	{`{"event":"fall","grade":3}`, `{"event":"fall","grade":3,"derived":{"grade_word":"severe"}}`, false},
	{`{"event":"fall","grade":5}`, `{"event":"fall","grade":5,"derived":{"grade_word":"death"}}`, false},
	{`{"event":"fall","grade":0}`, `value.grade 0 value.grade must be a whole number from 1 to 5.`, false},
	{`{"event":"fall","grade":6}`, `value.grade 6 value.grade must be a whole number from 1 to 5.`, false},
	{`{"event":"fall","serious":"yes"}`, `value.serious "yes" value.serious must be true or false.`, false},
	{`{"event":"fall","onset":"2024-02-30"}`, `value.onset "2024-02-30" value.onset must be a real date in the form YYYY, YYYY-MM or YYYY-MM-DD.`, true},
	{`{"event":"fall","onset":"May"}`, `value.onset "May" value.onset must be a real date in the form YYYY, YYYY-MM or YYYY-MM-DD.`, false},
	{`{"event":"fall","onset":"2024-02-02","resolved":"2024-02-01"}`, `value.resolved "2024-02-01" value.resolved must not be before onset.`, true},
	{`{"event":"vomiting"}`, `value.event "vomiting" value.event must be one of constipation, nausea, sedation, dizziness, pruritus, respiratory_depression, fall, overdose, withdrawal, infection, other.`, false},
	{`{}`, `value.event null value.event is required.`, false},
}

var vitalsCases = []valueCase{
	{`{"systolic":120,"diastolic":80,"heart_rate":60.5,"respiratory_rate":12,"spo2":98,"temperature_c":36.6,"weight_kg":70,"height_cm":175}`,
		`{"systolic":120,"diastolic":80,"heart_rate":60.5,"respiratory_rate":12,"spo2":98,"temperature_c":36.6,"weight_kg":70,"height_cm":175}`, false},
	{`{"systolic":40,"diastolic":20,"heart_rate":20,"respiratory_rate":2,"spo2":50,"temperature_c":30,"weight_kg":1,"height_cm":30}`,
		`{"systolic":40,"diastolic":20,"heart_rate":20,"respiratory_rate":2,"spo2":50,"temperature_c":30,"weight_kg":1,"height_cm":30}`, false},
	{`{"systolic":300,"diastolic":200,"heart_rate":300,"respiratory_rate":80,"spo2":100,"temperature_c":45,"weight_kg":500,"height_cm":250}`,
		`{"systolic":300,"diastolic":200,"heart_rate":300,"respiratory_rate":80,"spo2":100,"temperature_c":45,"weight_kg":500,"height_cm":250}`, false},
	{`{"systolic":39}`, `value.systolic 39 value.systolic must be a number from 40 to 300 (mm[Hg]).`, false},
	{`{"diastolic":201}`, `value.diastolic 201 value.diastolic must be a number from 20 to 200 (mm[Hg]).`, false},
	{`{"heart_rate":301}`, `value.heart_rate 301 value.heart_rate must be a number from 20 to 300 (/min).`, false},
	{`{"respiratory_rate":1}`, `value.respiratory_rate 1 value.respiratory_rate must be a number from 2 to 80 (/min).`, false},
	{`{"spo2":100.1}`, `value.spo2 100.1 value.spo2 must be a number from 50 to 100 (%).`, false},
	{`{"temperature_c":98.6}`, `value.temperature_c 98.6 value.temperature_c must be a number from 30 to 45 (Cel).`, false},
	{`{"weight_kg":0}`, `value.weight_kg 0 value.weight_kg must be a number from 1 to 500 (kg).`, false},
	{`{"height_cm":1.75}`, `value.height_cm 1.75 value.height_cm must be a number from 30 to 250 (cm).`, false},
	{`{"systolic":80,"diastolic":120}`, `value.diastolic 120 value.diastolic must be below systolic.`, true},
	{`{}`, `value {} value must have at least one of systolic, diastolic, heart_rate, respiratory_rate, spo2, temperature_c, weight_kg, height_cm.`, false},
}

var labCases = []valueCase{
	{`{"loinc":"2160-0","value":1.1,"unit":"mg/dL","ref_low":0.6,"ref_high":1.3}`, `{"loinc":"2160-0","value":1.1,"unit":"mg/dL","ref_low":0.6,"ref_high":1.3}`, false},
	{`{"loinc":"2160-0","value":1e-7}`, `{"loinc":"2160-0","value":1e-7}`, false},
	{`{"analyte":"oxycodone","method":"immunoassay","result":"negative","expected":"positive"}`,
		`{"analyte":"oxycodone","method":"immunoassay","result":"negative","expected":"positive","derived":{"consistent":false,"presumptive":true}}`, false},
	{`{"analyte":"cocaine","method":"lcms","result":"positive","expected":"negative"}`,
		`{"analyte":"cocaine","method":"lcms","result":"positive","expected":"negative","derived":{"consistent":false,"presumptive":false}}`, false},
	{`{"analyte":"cocaine","result":"negative","expected":"negative"}`, `{"analyte":"cocaine","result":"negative","expected":"negative","derived":{"consistent":true}}`, false},
	{`{"analyte":"morphine","result":"positive","expected":"positive"}`, `{"analyte":"morphine","result":"positive","expected":"positive","derived":{"consistent":true}}`, false},
	{`{"analyte":"morphine","method":"lcms","result":"invalid","expected":"positive"}`,
		`{"analyte":"morphine","method":"lcms","result":"invalid","expected":"positive","derived":{"consistent":null,"presumptive":false}}`, false},
	{`{"analyte":"morphine","method":"lcms"}`, `{"analyte":"morphine","method":"lcms"}`, false},
	{`{"value":1}`, `value.loinc null value.loinc or analyte is required.`, false},
	{`{"loinc":"creatinine"}`, `value.loinc "creatinine" value.loinc must be a code such as 2160-0.`, false},
	{`{"loinc":"2160-0","value":"high"}`, `value.value "high" value.value must be a number.`, false},
	{`{"loinc":"2160-0","ref_low":2,"ref_high":1}`, `value.ref_low 2 value.ref_low must not be above ref_high.`, true},
	{`{"analyte":"x","method":"urine"}`, `value.method "urine" value.method must be one of immunoassay, lcms.`, false},
	{`{"analyte":"x","result":"pos"}`, `value.result "pos" value.result must be one of positive, negative, invalid.`, false},
	{`{"analyte":"x","expected":true}`, `value.expected true value.expected must be a string.`, false},
}

var noteCases = []valueCase{
	{`{"text":"a\nb"}`, `{"text":"a\nb"}`, false},
	{`{"text":"` + strings.Repeat("é", 20_000) + `","note_type":"progress"}`, `{"text":"` + strings.Repeat("é", 20_000) + `","note_type":"progress"}`, false},
	{`{"text":"` + strings.Repeat("x", 20_001) + `"}`, `value.text "` + strings.Repeat("x", 200) + `…" value.text must have at most 20000 characters.`, false},
	{`{"text":"a\u0000"}`, `value.text "a\u0000" value.text must not contain control characters.`, true},
	{`{"text":""}`, `value.text "" value.text is required.`, true},
	{`{}`, `value.text null value.text is required.`, false},
	{`{"text":"a","note_type":7}`, `value.note_type 7 value.note_type must be a string.`, false},
}
