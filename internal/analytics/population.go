package analytics

// Population describes the current state of the patients. Its JSON form is the
// response of GET /v1/analytics/population-health.
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
	// Standardized holds the main rates, standardised by gender and age.
	Standardized Standardization `json:"standardized"`
	// Comparison is with an earlier period, or null if not requested.
	Comparison *Comparison `json:"comparison"`
}

// PopulationCohort describes the patients included.
type PopulationCohort struct {
	Definition string `json:"definition"`
	Patients   Count  `json:"patients"` // matching the filters
	Active     Count  `json:"active"`   // of these, with a record in the period
	Inactive   Count  `json:"inactive"`
	// Undetermined counts further patients who may match a medication class
	// filter because they have an unclassified medicine.
	Undetermined Count `json:"undetermined"`
}

// Severity splits patients by the severity band of their latest score.
type Severity struct {
	Scheme string `json:"scheme"`
	Bands  Split  `json:"bands"`
	// ByAverage and ByCurrent count the scores by aspect.
	ByAverage Count `json:"by_average"`
	ByCurrent Count `json:"by_current"`
}

// Opioids describes the use of opioids.
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

// OutOfScope counts patients with a condition that the opioid guideline
// excludes.
type OutOfScope struct {
	Definition            string `json:"definition"`
	Exposure              Count  `json:"opioid_exposure"`
	AtLeast50             Count  `json:"ge_50"`
	AtLeast90             Count  `json:"ge_90"`
	BenzodiazepineOverlap Count  `json:"opioid_benzo_overlap"`
	// Undetermined counts patients with such a condition who are, or may be,
	// missing from one of the other counts.
	Undetermined Count `json:"undetermined"`
}

// MME describes the daily opioid doses of exposed patients.
type MME struct {
	Table  string       `json:"table"`
	Caveat string       `json:"caveat"`
	Peak   Distribution `json:"peak"` // definition 4
	// PeakOverlapped is the peak if early refills count on top of the current
	// supply instead of being carried forward.
	PeakOverlapped Distribution `json:"peak_overlapped"`
	Average        Distribution `json:"average"` // definition 2
	// Incomplete counts exposed patients with an opioid of unknown dose, or
	// with another medicine that may be an opioid. They are in the band
	// unknown, unless the known part of the dose is in the highest band, and in
	// no mean or quantile.
	Incomplete Count `json:"incomplete"`
	// Assumed counts exposed patients with an opioid that has neither supply
	// nor end date and is therefore assumed to be taken on a day of the period.
	Assumed Count `json:"assumed"`
}

// Distribution is the distribution of a dose over patients. Quantiles are of
// type 7.
type Distribution struct {
	Definition string   `json:"definition"`
	N          *int     `json:"n"`
	Mean       *float64 `json:"mean"`
	Q1         *float64 `json:"q1"`
	Median     *float64 `json:"median"`
	Q3         *float64 `json:"q3"`
	P90        *float64 `json:"p90"`
	Suppressed bool     `json:"suppressed"`
	// Bands cover all active patients. Band 0 has those without an opioid or a
	// medicine that may be one; unknown has those with an opioid of excluded or
	// unknown dose, or with a medicine that may be an opioid.
	Bands Split `json:"bands"`
}

// Treatments describes which medicines patients had.
type Treatments struct {
	Classes   []Proportion `json:"classes"` // not exclusive; proportions of active patients
	Exclusive Split        `json:"exclusive"`
	// Assumed counts active patients who are assumed to take a medicine of any
	// class on a day of the period.
	Assumed Count `json:"assumed"`
}

// FollowUpGap describes patients without a score for over 90 days.
type FollowUpGap struct {
	Gap  Proportion `json:"gap"`
	Last Split      `json:"last_score"` // within_90_days, over_90_days, never
}

// Disparity compares groups with the largest group.
type Disparity struct {
	Measure    string           `json:"measure"`
	Definition string           `json:"definition"`
	Dimension  string           `json:"dimension"` // gender or age_band
	Reference  *string          `json:"reference"`
	Groups     []DisparityGroup `json:"groups"`
}

// DisparityGroup is one of the compared groups. Difference and Ratio are
// relative to the reference group, and null if either group has fewer than 11
// patients.
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
	// Undetermined counts further patients of the group whose data does not
	// decide the measure; they are not in N. It is null for measures that are
	// always determined.
	Undetermined *int `json:"undetermined"`
	// Standardized is the rate, standardised by age for a gender and by gender
	// for an age band.
	Standardized Standardized `json:"standardized"`
}

// Insight is a sentence generated from the figures alone.
type Insight struct {
	Insight string         `json:"insight"`
	Text    string         `json:"text"`
	Figures map[string]any `json:"figures"`
}
