package client

import "time"

// PopulationHealth describes the current state of the patients. It is returned
// by [Client.PopulationHealth].
type PopulationHealth struct {
	GeneratedAt time.Time           `json:"generated_at"`
	Parameters  AnalyticsParameters `json:"parameters"`
	Cohort      PopulationCohort    `json:"cohort"`
	Severity    SeverityPrevalence  `json:"severity_prevalence"`
	AgeBands    GroupSplit          `json:"age_bands"`
	Genders     GroupSplit          `json:"genders"`
	Opioids     OpioidUse           `json:"opioids"`
	Treatments  TreatmentMix        `json:"treatment_mix"`
	FollowUpGap FollowUpGap         `json:"follow_up_gap"`
	Disparities []Disparity         `json:"disparities"`
	Insights    []Insight           `json:"insights"`
	Measures    []AlignedMeasure    `json:"measures"`
	// Standardized holds the main rates, standardised by gender and age.
	Standardized Standardization `json:"standardized"`
	// Comparison is with an earlier period, or nil if not requested.
	Comparison *Comparison `json:"comparison"`
}

// PopulationCohort describes the patients included.
type PopulationCohort struct {
	Definition string `json:"definition"`
	Patients   Count  `json:"patients"` // matching the filters
	Active     Count  `json:"active"`   // of these, with a record in the period
	Inactive   Count  `json:"inactive"`
	// Undetermined counts further patients who may match a medication class
	// filter because they have an unclassified medicine in the period.
	Undetermined Count `json:"undetermined"`
}

// SeverityPrevalence splits patients by the severity band of their latest
// score.
type SeverityPrevalence struct {
	Scheme string     `json:"scheme"`
	Bands  GroupSplit `json:"bands"`
	// ByAverage and ByCurrent count the scores by aspect.
	ByAverage Count `json:"by_average"`
	ByCurrent Count `json:"by_current"`
}

// OpioidUse describes the use of opioids.
type OpioidUse struct {
	Exposure              Proportion `json:"opioid_exposure"`
	LongTerm              Proportion `json:"long_term_opioid"`
	MME                   MMEUse     `json:"mme"`
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

// MMEUse describes the daily opioid doses of exposed patients.
type MMEUse struct {
	Table  string           `json:"table"`
	Caveat string           `json:"caveat"`
	Peak   DoseDistribution `json:"peak"` // definition 4
	// PeakOverlapped is the peak if early refills count on top of the current
	// supply instead of being carried forward.
	PeakOverlapped DoseDistribution `json:"peak_overlapped"`
	Average        DoseDistribution `json:"average"` // definition 2
	// Incomplete counts exposed patients with an opioid of unknown dose or with
	// an unclassified medicine. They are in the band unknown, unless the known
	// part of the dose reaches 90, and in no mean or quantile.
	Incomplete Count `json:"incomplete"`
	// Assumed counts exposed patients with an opioid that has neither supply
	// nor end date and is therefore assumed to be taken on a day of the period.
	Assumed Count `json:"assumed"`
}

// DoseDistribution is the distribution of a dose over patients. Quantiles are
// of type 7.
type DoseDistribution struct {
	Definition string   `json:"definition"`
	N          *int     `json:"n"`
	Mean       *float64 `json:"mean"`
	Q1         *float64 `json:"q1"`
	Median     *float64 `json:"median"`
	Q3         *float64 `json:"q3"`
	P90        *float64 `json:"p90"`
	Suppressed bool     `json:"suppressed"`
	// Bands cover all active patients. Band 0 has those with no opioid and no
	// unclassified medicine; unknown has those with an opioid of excluded or
	// partly unknown dose, or with an unclassified medicine.
	Bands GroupSplit `json:"bands"`
}

// TreatmentMix describes which medicines patients had.
type TreatmentMix struct {
	Classes   []Proportion `json:"classes"` // not exclusive; proportions of active patients
	Exclusive GroupSplit   `json:"exclusive"`
	// Assumed counts active patients who are assumed to take a medicine of any
	// class on a day of the period.
	Assumed Count `json:"assumed"`
}

// FollowUpGap describes patients without a score for over 90 days.
type FollowUpGap struct {
	Gap  Proportion `json:"gap"`
	Last GroupSplit `json:"last_score"` // within_90_days, over_90_days, never
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
	Group      string      `json:"group"`
	Count      *int        `json:"count"`
	N          *int        `json:"n"`
	Proportion *float64    `json:"proportion"`
	Percent    *float64    `json:"percent"`
	CI95       *Interval95 `json:"ci95"`
	Difference *float64    `json:"difference"` // of proportions
	DiffCI95   *Interval95 `json:"difference_ci95"`
	Ratio      *float64    `json:"ratio"`
	Suppressed bool        `json:"suppressed"`
	// Undetermined counts further patients of the group whose data does not
	// decide the measure; they are not in N. It is null for measures that are
	// always determined.
	Undetermined *int              `json:"undetermined"`
	Standardized GroupStandardized `json:"standardized"`
}

// Insight is a sentence generated from the figures alone.
type Insight struct {
	Insight string         `json:"insight"`
	Text    string         `json:"text"`
	Figures map[string]any `json:"figures"`
}

// AlignedMeasure follows a published quality measure. It gives the count out
// of N patients, and the reasons for which others were left out. Considered is
// the sum of the exclusions, Undetermined and N. It is not certified, and its
// rate is not comparable with published ones.
type AlignedMeasure struct {
	ID          string             `json:"id"`
	Name        string             `json:"name"`
	Aligned     bool               `json:"aligned"`   // always true
	Proxy       bool               `json:"proxy"`     // stands in for another measure
	Direction   string             `json:"direction"` // lower_is_better or higher_is_better
	Definition  string             `json:"definition"`
	Denominator string             `json:"denominator"`
	Numerator   string             `json:"numerator"`
	Considered  *int               `json:"considered"`
	Exclusions  []MeasureExclusion `json:"exclusions"`
	// Undetermined counts patients for whom unclassified medicines, or unknown
	// doses or days, leave open whether they belong in N or in Count.
	Undetermined *int `json:"undetermined"`
	// NotRecorded counts those of Undetermined for whom prescribers or
	// pharmacies are not recorded; nil if the measure does not use them.
	NotRecorded *int        `json:"not_recorded"`
	Count       *int        `json:"count"`
	N           *int        `json:"n"`
	Proportion  *float64    `json:"proportion"`
	Percent     *float64    `json:"percent"`
	CI95        *Interval95 `json:"ci95"`
	Unstable    bool        `json:"unstable"` // n < 10
	Suppressed  bool        `json:"suppressed"`
	Caveat      string      `json:"caveat"`
}

// MeasureExclusion counts the patients excluded from a measure for one reason.
type MeasureExclusion struct {
	Reason     string `json:"reason"`
	Count      *int   `json:"count"`
	Suppressed bool   `json:"suppressed"`
}
