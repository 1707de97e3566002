package analytics

// Population is how patients are. Its JSON form is the API's answer.
type Population struct {
	GeneratedAt string           `json:"generated_at"`
	Parameters  Params           `json:"parameters"`
	Cohort      PopulationCohort `json:"cohort"`
	Severity    Severity         `json:"severity_prevalence"`
	AgeBands    Split            `json:"age_bands"`
	Genders     Split            `json:"genders"`
	Opioids     Opioids          `json:"opioids"`
	Treatments  Treatments       `json:"treatment_mix"`
	FollowUpGap FollowUpGap      `json:"follow_up_gap"`
	Disparities []Disparity      `json:"disparities"`
	Insights    []Insight        `json:"insights"`
	Measures    []Measure        `json:"measures"`
	// Standardized is the main rates, standardised by gender and age.
	Standardized Standardization `json:"standardized"`
	// Comparison is with an earlier period; null when none was asked for.
	Comparison *Comparison `json:"comparison"`
}

// PopulationCohort says who was looked at.
type PopulationCohort struct {
	Definition string `json:"definition"`
	Patients   Count  `json:"patients"` // that match the filters
	Active     Count  `json:"active"`   // of those, with a record in the period
	Inactive   Count  `json:"inactive"`
	// Undetermined is how many more may match a filter by class: they have an
	// unclassified medicine.
	Undetermined Count `json:"undetermined"`
}

// Severity is the latest score of each patient by band.
type Severity struct {
	Scheme string `json:"scheme"`
	Bands  Split  `json:"bands"`
	// ByAverage and ByCurrent say which aspect the scores are of.
	ByAverage Count `json:"by_average"`
	ByCurrent Count `json:"by_current"`
}

// Opioids is about medicines of the class.
type Opioids struct {
	Exposure              Proportion `json:"opioid_exposure"`
	LongTerm              Proportion `json:"long_term_opioid"`
	MME                   MME        `json:"mme"`
	AtLeast50             Proportion `json:"ge_50"`
	AtLeast90             Proportion `json:"ge_90"`
	BenzodiazepineOverlap Proportion `json:"opioid_benzo_overlap"`
	GabapentinoidOverlap  Proportion `json:"opioid_gabapentinoid_overlap"`
	NaloxoneCoverage      Proportion `json:"naloxone_coverage"`
	OutOfScope            OutOfScope `json:"out_of_guideline_scope"`
}

// OutOfScope is how many of those counted have a condition that the opioid
// guideline leaves out.
type OutOfScope struct {
	Definition            string `json:"definition"`
	Exposure              Count  `json:"opioid_exposure"`
	AtLeast50             Count  `json:"ge_50"`
	AtLeast90             Count  `json:"ge_90"`
	BenzodiazepineOverlap Count  `json:"opioid_benzo_overlap"`
	// Undetermined is how many with such a condition are, or may be, missing
	// from one of the others.
	Undetermined Count `json:"undetermined"`
}

// MME is the daily opioid doses of those exposed.
type MME struct {
	Table  string       `json:"table"`
	Caveat string       `json:"caveat"`
	Peak   Distribution `json:"peak"` // definition 4
	// PeakOverlapped is the peak when early refills are not carried forward, but
	// count beside the supply at hand.
	PeakOverlapped Distribution `json:"peak_overlapped"`
	Average        Distribution `json:"average"` // definition 2
	// Incomplete is of how many of those exposed the dose of an opioid is not
	// known, or another medicine may be an opioid. They are in the band unknown,
	// unless what is known reaches the highest, and in no mean or quantile.
	Incomplete Count `json:"incomplete"`
	// Assumed is how many of those exposed are assumed to take an opioid on a day
	// of the period: it has neither supply nor end.
	Assumed Count `json:"assumed"`
}

// Distribution is a number over patients. Quantiles are of type 7.
type Distribution struct {
	Definition string   `json:"definition"`
	N          *int     `json:"n"`
	Mean       *float64 `json:"mean"`
	Q1         *float64 `json:"q1"`
	Median     *float64 `json:"median"`
	Q3         *float64 `json:"q3"`
	P90        *float64 `json:"p90"`
	Suppressed bool     `json:"suppressed"`
	// Bands are of all active patients: 0 is who had no opioid and nothing that
	// may be one, unknown who had one that is not counted or of unknown dose, or
	// a medicine that may be one.
	Bands Split `json:"bands"`
}

// Treatments is who had which medicines.
type Treatments struct {
	Classes   []Proportion `json:"classes"` // not exclusive, each of the active
	Exclusive Split        `json:"exclusive"`
	// Assumed is how many of the active are assumed to take a medicine, of any
	// class, on a day of the period.
	Assumed Count `json:"assumed"`
}

// FollowUpGap is who has had no score for over 90 days.
type FollowUpGap struct {
	Gap  Proportion `json:"gap"`
	Last Split      `json:"last_score"` // within_90_days, over_90_days, never
}

// Disparity compares groups with the largest of them.
type Disparity struct {
	Measure    string           `json:"measure"`
	Definition string           `json:"definition"`
	Dimension  string           `json:"dimension"` // gender or age_band
	Reference  *string          `json:"reference"`
	Groups     []DisparityGroup `json:"groups"`
}

// DisparityGroup is one group. Difference and ratio are to the reference, and
// null when either has fewer than 11 patients.
type DisparityGroup struct {
	Group      string   `json:"group"`
	Count      *int     `json:"count"`
	N          *int     `json:"n"`
	Proportion *float64 `json:"proportion"`
	Percent    *float64 `json:"percent"`
	CI95       *Bounds  `json:"ci95"`
	Difference *float64 `json:"difference"` // of proportions
	DiffCI95   *Bounds  `json:"difference_ci95"`
	Ratio      *float64 `json:"ratio"`
	Suppressed bool     `json:"suppressed"`
	// Undetermined is how many more of the group there are of whom it is not
	// known; they are not in n. It is null where there is no such.
	Undetermined *int `json:"undetermined"`
	// Standardized is the rate, standardised by age for a gender, and by gender
	// for an age band.
	Standardized Standardized `json:"standardized"`
}

// Insight is a sentence made from the numbers, and nothing more.
type Insight struct {
	Insight string         `json:"insight"`
	Text    string         `json:"text"`
	Figures map[string]any `json:"figures"`
}
