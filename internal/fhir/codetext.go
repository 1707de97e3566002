package fhir

import "anodyne.example/anodyne/internal/pain/instrument"

// codeTexts has the text of our codes, by code system and code, in words of our
// own: the displays of LOINC and SNOMED CT belong to their editions. A code of
// another system that stands for one of ours has its text. The vital signs,
// which have no code system of ours, are listed by part and field. Codes without
// an entry, such as other, have no text.
var codeTexts = map[string]map[string]string{
	dataTypeSystem: {
		"vitals": "Vital signs", "sleep": "Sleep", "activity": "Physical activity", "mood": "Mood",
	},
	"pain_scores-scale": {
		"nrs":   "Pain intensity, numeric rating scale",
		"vas":   "Pain intensity, visual analogue scale",
		"vrs4":  "Pain intensity, verbal rating scale with four words",
		"fps_r": "Pain intensity, Faces Pain Scale - Revised",
	},
	"vitals": {
		"bp": "Blood pressure", "hr": "Heart rate", "rr": "Respiratory rate", "spo2": "Oxygen saturation by pulse oximetry",
		"temp": "Body temperature", "weight": "Body weight", "height": "Body height",
		"systolic": "Systolic blood pressure", "diastolic": "Diastolic blood pressure",
	},
	"sleep": {
		"hours": "Hours of sleep", "quality": "Quality of sleep", "awakenings": "Number of awakenings", "pain_interference": "Interference of pain with sleep",
	},
	"activity": {
		"steps": "Steps in a day", "active_minutes": "Minutes of activity",
	},
	"functional_status-measure": {
		"tug_s":               "Timed up and go test",
		"six_min_walk_m":      "Six-minute walk test, distance",
		"work_days_missed":    "Days of work missed",
		"limits_life_or_work": "How often pain limited life or work",
		"pain_frequency":      "How often there was pain",
	},
	"procedures-procedure_type": {
		"epidural_steroid": "Epidural steroid injection", "facet_injection": "Facet joint injection", "medial_branch_block": "Medial branch block",
		"radiofrequency_ablation": "Radiofrequency ablation", "nerve_block": "Nerve block", "trigger_point": "Trigger point injection",
		"joint_injection": "Joint injection", "scs_trial": "Spinal cord stimulation, trial", "scs_implant": "Spinal cord stimulation, implant",
		"intrathecal_pump": "Intrathecal pump", "physical_therapy": "Physical therapy", "cbt": "Cognitive behavioural therapy", "acupuncture": "Acupuncture",
	},
	"adverse_events-event": {
		"constipation": "Constipation", "nausea": "Nausea", "sedation": "Sedation", "dizziness": "Dizziness", "pruritus": "Itching",
		"respiratory_depression": "Respiratory depression", "fall": "Fall", "overdose": "Overdose", "withdrawal": "Withdrawal", "infection": "Infection",
	},
	"assessments-instrument": instrumentTexts(),
}

func instrumentTexts() map[string]string {
	texts := map[string]string{}
	for _, info := range instrument.All() {
		texts[info.Name] = info.Title
	}
	return texts
}
