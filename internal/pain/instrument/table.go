package instrument

// Version is the version of the table, for output that depends on it.
const Version = "2026-01"

// What the licence permits.
const (
	free     = "free to use; scored from items"
	licensed = "licensed; only the total is accepted, no item text is stored"
)

// table is the closed list of instruments. "General knowledge" marks facts
// that were not checked against a publication.
var table = []Info{
	{
		Name: "peg", Title: "PEG (pain, enjoyment, general activity)", Measure: "mean of 3 items, past week",
		Items: 3, ItemMax: 10, ScoreMax: 10, Missing: "all items required", combine: mean,
		Change: Change{Points: 1, Percent: 30}, Licence: free + " (described as public domain)",
		LOINC:  LOINC{Panel: "91148-7", Score: "91147-9", Items: []string{"75893-8", "91145-3", "91146-1"}},
		Source: "Krebs 2009; important change: PMC10859144",
	},
	{
		Name: "phq_9", Title: "Patient Health Questionnaire, 9 items", Measure: "sum of 9 items",
		Items: 9, ItemMax: 3, ScoreMax: 27, Whole: true, Missing: "1 or 2 missing: replaced by the mean of the others; more: no score", MayMiss: 2,
		combine: substituted, Positive: 10, Safety: 9,
		Bands:   []Band{{Name: "minimal"}, {Name: "mild", From: 5}, {Name: "moderate", From: 10}, {Name: "moderately_severe", From: 15}, {Name: "severe", From: 20}},
		Change:  Change{Points: 5, Percent: 20, PercentFrom: 20, Note: "the percentage applies to severe depression"},
		Licence: free + " (no permission needed)", LOINC: LOINC{Panel: "44249-1", Score: "44261-6"},
		Source: "NHS Data Dictionary, PHQ-9; important change: 5 points Löwe 2004, PMID 15550799; 20 % Kounali 2022, PMC9340848",
	},
	{
		Name: "phq_2", Title: "Patient Health Questionnaire, 2 items", Measure: "sum of 2 items",
		Items: 2, ItemMax: 3, ScoreMax: 6, Whole: true, Missing: "both items required", combine: plainSum, Positive: 3,
		Bands:   []Band{{Name: "negative"}, {Name: "positive", From: 3}},
		Licence: free + " (no permission needed)", LOINC: LOINC{Score: "55758-7"}, Source: "PMC2906530",
	},
	{
		Name: "gad_7", Title: "Generalized Anxiety Disorder scale, 7 items", Measure: "sum of 7 items",
		Items: 7, ItemMax: 3, ScoreMax: 21, Whole: true, Missing: "1 missing: replaced by the mean of the others; more: no score", MayMiss: 1,
		combine: substituted, Positive: 10,
		Bands:   []Band{{Name: "minimal"}, {Name: "mild", From: 5}, {Name: "moderate", From: 10}, {Name: "severe", From: 15}},
		Licence: free + " (no permission needed)", LOINC: LOINC{Panel: "69737-5", Score: "70274-6"},
		Change: Change{Points: 4}, Source: "Spitzer 2006; important change: Toussaint 2020, doi 10.1016/j.jad.2020.01.032",
	},
	{
		Name: "rmdq", Title: "Roland-Morris Disability Questionnaire", Measure: "number of 24 statements ticked",
		Items: 24, ItemMax: 1, ScoreMax: 24, Whole: true, Missing: "not ticked counts as 0", MayMiss: 24, combine: plainSum,
		Change: Change{Points: 5, Percent: 30}, Licence: free + " (public domain)", Source: "Roland 1983; change: Ostelo 2008",
	},
	{
		Name: "pgic", Title: "Patient Global Impression of Change", Measure: "one item, 1 very much improved to 7 very much worse",
		Items: 1, ItemMin: 1, ItemMax: 7, ScoreMin: 1, ScoreMax: 7, Whole: true, Missing: "the item is required", combine: plainSum,
		Bands: []Band{{Name: "very_much_improved", From: 1}, {Name: "much_improved", From: 2}, {Name: "minimally_improved", From: 3}, {Name: "no_change", From: 4},
			{Name: "minimally_worse", From: 5}, {Name: "much_worse", From: 6}, {Name: "very_much_worse", From: 7}},
		Change: Change{Note: "a responder answers 1 or 2"}, Licence: free + " (generic item; general knowledge)", Source: "Farrar 2001",
	},
	{
		Name: "bpi_severity", Title: "Brief Pain Inventory, severity", Measure: "mean of worst, least, average and current pain",
		TotalOnly: true, ScoreMax: 10, Missing: "as scored elsewhere", Licence: licensed, Source: "BPI User Guide",
	},
	{
		Name: "bpi_interference", Title: "Brief Pain Inventory, interference", Measure: "mean of 7 items",
		TotalOnly: true, ScoreMax: 10, Missing: "at least 4 of 7 items", Change: Change{Points: 1},
		LOINC: LOINC{Score: "77565-0"}, Licence: licensed, Source: "BPI User Guide; change: Dworkin 2008 (IMMPACT)",
	},
	{
		Name: "promis_pi", Title: "PROMIS Pain Interference, T score", Measure: "T score, 50 is the US mean, 10 a standard deviation",
		TotalOnly: true, ScoreMin: 10, ScoreMax: 90, Missing: "complete forms only",
		Bands:  []Band{{Name: "within_normal_limits", From: 10}, {Name: "mild", From: 55}, {Name: "moderate", From: 60}, {Name: "severe", From: 70}},
		Change: Change{Points: 3, Note: "2 to 3; 3.5 to 5.5 in back pain"}, LOINC: LOINC{Score: "77865-4"},
		Licence: licensed, Source: "HealthMeasures; bands: general knowledge",
	},
	{
		Name: "odi", Title: "Oswestry Disability Index", Measure: "percentage, sum / (5 x sections answered) x 100",
		TotalOnly: true, ScoreMax: 100, Missing: "denominator reduced by 5 for each missing section",
		Bands: []Band{{Name: "minimal"}, {Name: "moderate", From: 20, Above: true}, {Name: "severe", From: 40, Above: true},
			{Name: "crippling", From: 60, Above: true}, {Name: "bed_bound", From: 80, Above: true}},
		Change: Change{Points: 10, Percent: 30}, Licence: licensed, Source: "Fairbank 2000; change: Ostelo 2008",
	},
	{
		Name: "ndi", Title: "Neck Disability Index", Measure: "raw score, 0 to 50",
		TotalOnly: true, ScoreMax: 50, Missing: "replaced by the mean of the others",
		Bands:  []Band{{Name: "none"}, {Name: "mild", From: 5}, {Name: "moderate", From: 15}, {Name: "severe", From: 25}, {Name: "complete", From: 35}},
		Change: Change{Points: 5}, Licence: licensed, Source: "Vernon, author's note",
	},
	{
		Name: "pcs", Title: "Pain Catastrophizing Scale", Measure: "sum of 13 items",
		TotalOnly: true, ScoreMax: 52, Whole: true, Missing: "all items required", Positive: 31,
		Bands:   []Band{{Name: "below_threshold"}, {Name: "clinically_relevant", From: 31}},
		Licence: licensed, Source: "PCS manual",
	},
	{
		Name: "pain_detect", Title: "painDETECT", Measure: "sum, -1 to 38",
		TotalOnly: true, ScoreMin: -1, ScoreMax: 38, Whole: true, Missing: "all items required", Positive: 19,
		Bands:   []Band{{Name: "unlikely", From: -1}, {Name: "unclear", From: 13}, {Name: "likely", From: 19}},
		Licence: licensed, Source: "NINDS common data elements F1775",
	},
	{
		Name: "dn4", Title: "Douleur neuropathique 4", Measure: "number of 10 questions answered yes",
		TotalOnly: true, ScoreMax: 10, Whole: true, Missing: "all items required", Positive: 4,
		Bands:   []Band{{Name: "unlikely"}, {Name: "likely", From: 4}},
		Licence: licensed, Source: "Bouhassira 2005",
	},
	{
		Name: "ort", Title: "Opioid Risk Tool", Measure: "weighted sum",
		TotalOnly: true, ScoreMax: 26, Whole: true, Missing: "all items required", Positive: 8,
		Bands:   []Band{{Name: "low"}, {Name: "moderate", From: 4}, {Name: "high", From: 8}},
		Licence: licensed, Source: "Webster 2005; highest sum: general knowledge",
	},
	{
		Name: "ort_oud", Title: "Opioid Risk Tool for opioid use disorder", Measure: "number of 9 questions answered yes",
		TotalOnly: true, ScoreMax: 9, Whole: true, Missing: "all items required", Positive: 3,
		Bands:   []Band{{Name: "low"}, {Name: "high", From: 3}},
		Licence: licensed, Source: "PMC6768552; cut-off: general knowledge",
	},
	{
		Name: "comm", Title: "Current Opioid Misuse Measure", Measure: "sum of 17 items",
		TotalOnly: true, ScoreMax: 68, Whole: true, Missing: "all items required", Positive: 9,
		Bands:   []Band{{Name: "negative"}, {Name: "positive", From: 9}},
		Licence: licensed, Source: "Butler 2007; cut-off: general knowledge (13 in primary care)",
	},
}
