package analytics

// Outcomes describes treatment outcomes. Its JSON form is the response of
// GET /v1/analytics/outcomes.
type Outcomes struct {
	GeneratedAt         string          `json:"generated_at"`
	Parameters          Params          `json:"parameters"`
	Cohort              OutcomeCohort   `json:"cohort"`
	Baseline            Mean            `json:"baseline"` // of all patients with an index date
	FollowUp            FollowUp        `json:"follow_up"`
	Response            Response        `json:"response"`
	Trend               Trend           `json:"trend"`
	TimeWeightedAverage Mean            `json:"time_weighted_average"`
	TimeToResponse      TimeToResponse  `json:"time_to_response"`
	Instruments         []InstrumentUse `json:"instruments"`
	GlobalImpression    Proportion      `json:"global_impression"` // PGIC 1 or 2
	Procedures          []BeforeAfter   `json:"procedures"`
	MedicationClasses   []BeforeAfter   `json:"medication_classes"`
	// ClassesUndetermined counts patients with an unclassified medicine in the
	// period or in the washout before it. They may belong to another class than
	// the one they are counted in, or to none.
	ClassesUndetermined Count `json:"medication_classes_undetermined"`
	// Adjusted is adjusted for case mix, and Comparison is with an earlier
	// period. Each is null if not requested.
	Adjusted   *Adjusted   `json:"adjusted"`
	Comparison *Comparison `json:"comparison"`
}

// OutcomeCohort describes the patients included, and the missing data.
type OutcomeCohort struct {
	Definition     string     `json:"definition"`
	PrimaryOutcome string     `json:"primary_outcome"` // rule that selects the outcome
	Patients       Count      `json:"patients"`        // matching the filters
	Undetermined   Count      `json:"undetermined"`    // further patients who may have taken the requested class
	WithScores     Count      `json:"with_scores"`     // with an index date
	WithoutScores  Count      `json:"without_scores"`
	ByAverage      Count      `json:"by_average"` // of those with scores: primary outcome is average pain
	ByCurrent      Count      `json:"by_current"`
	BySite         Split      `json:"by_site"` // of those with scores: by body site and side
	NotYetDue      Count      `json:"not_yet_due"`
	Due            Count      `json:"due"`
	FollowedUp     Count      `json:"followed_up"`
	Missing        Proportion `json:"missing"` // of those due for follow-up
}

// FollowUp compares baseline and follow-up of the patients with a score in the
// follow-up window.
type FollowUp struct {
	TargetDay          int      `json:"target_day"`
	ToleranceDays      int      `json:"tolerance_days"`
	Baseline           Mean     `json:"baseline"`
	Pain               Mean     `json:"pain"`
	Change             Mean     `json:"change"`
	PercentChange      Mean     `json:"percent_change"` // excluding patients with a baseline of 0
	SRM                *float64 `json:"standardized_response_mean"`
	BaselineEffectSize *float64 `json:"baseline_effect_size"`
}

// Response gives the proportion of patients by reduction in pain.
type Response struct {
	Responder30 Proportion `json:"responder_30"`
	Responder50 Proportion `json:"responder_50"`
	NRSAtLeast2 Proportion `json:"nrs_ge_2"`
	Worsened30  Proportion `json:"worsened_30"`
	// LowBaseline is the proportion with a baseline below 4, where percentages
	// mislead.
	LowBaseline Proportion `json:"low_baseline"`
	// NonresponderImputation counts missing patients as non-responders.
	NonresponderImputation Imputed `json:"nonresponder_imputation"`
}

// Imputed gives response rates with missing patients counted as
// non-responders.
type Imputed struct {
	Responder30 Proportion `json:"responder_30"`
	Responder50 Proportion `json:"responder_50"`
}

// Trend is the primary outcome over the period.
type Trend struct {
	Definition string   `json:"definition"`
	Interval   Interval `json:"interval"`
	Buckets    []Bucket `json:"buckets"`
	Slope      Slope    `json:"slope"`
}

// Bucket is a day, week or month, clipped to the period. Without scores all
// fields except N are null.
type Bucket struct {
	From       string   `json:"from"`
	To         string   `json:"to"`
	N          *int     `json:"n"` // patients
	Mean       *float64 `json:"mean"`
	Min        *float64 `json:"min"`
	Max        *float64 `json:"max"`
	Suppressed bool     `json:"suppressed"`
}

// Slope is the mean of the patients' individual slopes, in points per week.
type Slope struct {
	PerWeek Mean `json:"per_week"`
	// Direction is improving, stable or worsening, or null without patients.
	Direction *string `json:"direction"`
	Patients  Split   `json:"patients"` // by individual direction
}

// TimeToResponse is the number of days from the index date to the response.
type TimeToResponse struct {
	Definition string `json:"definition"`
	N          *int   `json:"n"`
	Events     *int   `json:"events"`
	Censored   *int   `json:"censored"`
	// MedianDays is null if fewer than half of the patients have responded.
	MedianDays *int            `json:"median_days"`
	Curve      []SurvivalPoint `json:"curve"`
	Suppressed bool            `json:"suppressed"`
}

// SurvivalPoint is one step of the Kaplan-Meier curve. Survival is the
// proportion without a response so far. Under min_cell_size, steps are merged;
// AtRisk then counts the patients left after the previous step.
type SurvivalPoint struct {
	Day      int     `json:"day"`
	AtRisk   int     `json:"at_risk"`
	Events   int     `json:"events"`
	Censored int     `json:"censored"` // since the previous step and before this one
	Survival float64 `json:"survival"`
	// CI95 is the log-log interval. It is null if no patient is at risk, and
	// under min_cell_size, where it could reveal suppressed counts.
	CI95 *Bounds `json:"ci95"`
}

// InstrumentUse is the change in the score of a questionnaire.
type InstrumentUse struct {
	Instrument      string           `json:"instrument"`
	Definition      string           `json:"definition"`
	ImportantChange *ImportantChange `json:"important_change"`
	Patients        Count            `json:"patients"` // with a score in the period
	NotYetDue       Count            `json:"not_yet_due"`
	Missing         Count            `json:"missing"`
	Baseline        Mean             `json:"baseline"`
	FollowUp        Mean             `json:"follow_up"`
	Change          Mean             `json:"change"`
	// MCIDMet is the proportion that improved by at least the minimal
	// clinically important difference; null if none is published.
	MCIDMet *Proportion `json:"mcid_met"`
}

// ImportantChange is the minimal clinically important difference.
type ImportantChange struct {
	Points  *float64 `json:"points"`
	Percent *float64 `json:"percent"`
	// PercentFrom is the lowest baseline to which the percentage applies; null
	// if it applies to all.
	PercentFrom *float64 `json:"percent_from"`
	Source      string   `json:"source"`
}

// BeforeAfter compares pain before and after the start of a treatment.
type BeforeAfter struct {
	Treatment  string     `json:"treatment"`
	Definition string     `json:"definition"`
	Label      string     `json:"label"`    // notes that the comparison is uncontrolled
	Patients   Count      `json:"patients"` // treated in the period
	NotYetDue  Count      `json:"not_yet_due"`
	NoBaseline Count      `json:"no_baseline"`
	Missing    Count      `json:"missing"`
	Before     Mean       `json:"before"`
	After      Mean       `json:"after"`
	Change     Mean       `json:"change"`
	SRM        *float64   `json:"standardized_response_mean"`
	EffectSize *float64   `json:"baseline_effect_size"`
	R30        Proportion `json:"responder_30"`
	R50        Proportion `json:"responder_50"`
	// Recorded compares the pain scores in the procedure records themselves,
	// before and after. It is null for a medication class.
	Recorded *Recorded `json:"recorded"`
}

// Recorded is the pain recorded with procedures, for patients with both
// scores.
type Recorded struct {
	Definition string `json:"definition"`
	Before     Mean   `json:"before"`
	After      Mean   `json:"after"`
	Change     Mean   `json:"change"`
}
