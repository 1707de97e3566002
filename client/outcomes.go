package client

import "time"

// Outcomes is how patients fared. [Client.Outcomes] returns it.
type Outcomes struct {
	GeneratedAt         time.Time           `json:"generated_at"`
	Parameters          AnalyticsParameters `json:"parameters"`
	Cohort              OutcomeCohort       `json:"cohort"`
	Baseline            Mean                `json:"baseline"` // of all with an index date
	FollowUp            FollowUpPain        `json:"follow_up"`
	Response            PainResponse        `json:"response"`
	Trend               PainTrend           `json:"trend"`
	TimeWeightedAverage Mean                `json:"time_weighted_average"`
	TimeToResponse      TimeToResponse      `json:"time_to_response"`
	Instruments         []InstrumentUse     `json:"instruments"`
	GlobalImpression    Proportion          `json:"global_impression"` // PGIC 1 or 2
	Procedures          []BeforeAfter       `json:"procedures"`
	MedicationClasses   []BeforeAfter       `json:"medication_classes"`
	// ClassesUndetermined is how many have an unclassified medicine in the period
	// or the washout before it: they may belong to a class, or not to the one
	// that they are counted in.
	ClassesUndetermined Count `json:"medication_classes_undetermined"`
	// Adjusted is for the case mix, and Comparison with an earlier period; nil
	// when not asked for.
	Adjusted   *AdjustedOutcomes `json:"adjusted"`
	Comparison *Comparison       `json:"comparison"`
}

// OutcomeCohort says who was looked at, and what is missing.
type OutcomeCohort struct {
	Definition     string     `json:"definition"`
	PrimaryOutcome string     `json:"primary_outcome"` // the rule
	Patients       Count      `json:"patients"`        // that match the filters
	Undetermined   Count      `json:"undetermined"`    // more who may have taken the class that is asked for
	WithScores     Count      `json:"with_scores"`     // that have an index date
	WithoutScores  Count      `json:"without_scores"`
	ByAverage      Count      `json:"by_average"` // of those with scores: whose primary outcome is average pain
	ByCurrent      Count      `json:"by_current"`
	BySite         GroupSplit `json:"by_site"` // of those with scores: by body site and side
	NotYetDue      Count      `json:"not_yet_due"`
	Due            Count      `json:"due"`
	FollowedUp     Count      `json:"followed_up"`
	Missing        Proportion `json:"missing"` // of those due
}

// FollowUpPain compares patients with themselves: those with a score in the window.
type FollowUpPain struct {
	TargetDay          int      `json:"target_day"`
	ToleranceDays      int      `json:"tolerance_days"`
	Baseline           Mean     `json:"baseline"`
	Pain               Mean     `json:"pain"`
	Change             Mean     `json:"change"`
	PercentChange      Mean     `json:"percent_change"` // without those whose baseline is 0
	SRM                *float64 `json:"standardized_response_mean"`
	BaselineEffectSize *float64 `json:"baseline_effect_size"`
}

// PainResponse is whose pain fell by how much.
type PainResponse struct {
	Responder30 Proportion `json:"responder_30"`
	Responder50 Proportion `json:"responder_50"`
	NRSAtLeast2 Proportion `json:"nrs_ge_2"`
	Worsened30  Proportion `json:"worsened_30"`
	// LowBaseline is who began below 4, where percentages mislead.
	LowBaseline Proportion `json:"low_baseline"`
	// NonresponderImputation counts who is missing as not having responded.
	NonresponderImputation ImputedResponse `json:"nonresponder_imputation"`
}

// ImputedResponse is the responders with the missing as non-responders.
type ImputedResponse struct {
	Responder30 Proportion `json:"responder_30"`
	Responder50 Proportion `json:"responder_50"`
}

// PainTrend is the primary outcome over the period.
type PainTrend struct {
	Definition string        `json:"definition"`
	Interval   string        `json:"interval"`
	Buckets    []TrendBucket `json:"buckets"`
	Slope      TrendSlope    `json:"slope"`
}

// TrendBucket is a day, week or month, as far as it lies in the period. Without a
// score everything but N is null.
type TrendBucket struct {
	From       string   `json:"from"`
	To         string   `json:"to"`
	N          *int     `json:"n"` // patients
	Mean       *float64 `json:"mean"`
	Min        *float64 `json:"min"`
	Max        *float64 `json:"max"`
	Suppressed bool     `json:"suppressed"`
}

// TrendSlope is the mean over patients of the slope of each, in points a week.
type TrendSlope struct {
	PerWeek Mean `json:"per_week"`
	// Direction is improving, stable or worsening; null without patients.
	Direction *string    `json:"direction"`
	Patients  GroupSplit `json:"patients"` // by their own direction
}

// TimeToResponse is how many days after the index date patients responded.
type TimeToResponse struct {
	Definition string `json:"definition"`
	N          *int   `json:"n"`
	Events     *int   `json:"events"`
	Censored   *int   `json:"censored"`
	// MedianDays is null when less than half have responded.
	MedianDays *int            `json:"median_days"`
	Curve      []SurvivalPoint `json:"curve"`
	Suppressed bool            `json:"suppressed"`
}

// SurvivalPoint is a step of the Kaplan-Meier curve. Survival is the share
// that has not responded yet. Under min_cell_size steps are put together;
// at_risk is then who was left when the ones before had ended.
type SurvivalPoint struct {
	Day      int     `json:"day"`
	AtRisk   int     `json:"at_risk"`
	Events   int     `json:"events"`
	Censored int     `json:"censored"` // since the step before, and before this one
	Survival float64 `json:"survival"`
	// CI95 is the log-log interval; null when nobody is left, and under
	// min_cell_size, which it could be used to see through.
	CI95 *Interval95 `json:"ci95"`
}

// InstrumentUse is the change on a questionnaire.
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
	// MCIDMet is who got better by at least the points or the percentage;
	// null when none are published.
	MCIDMet *Proportion `json:"mcid_met"`
}

// ImportantChange is the smallest change that matters to patients.
type ImportantChange struct {
	Points  *float64 `json:"points"`
	Percent *float64 `json:"percent"`
	// PercentFrom is the baseline from which on the percentage counts; null
	// when it counts for all.
	PercentFrom *float64 `json:"percent_from"`
	Source      string   `json:"source"`
}

// BeforeAfter compares pain before and after a treatment began.
type BeforeAfter struct {
	Treatment  string     `json:"treatment"`
	Definition string     `json:"definition"`
	Label      string     `json:"label"`    // that it is uncontrolled
	Patients   Count      `json:"patients"` // who had it in the period
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
	// Recorded compares what the procedures' own records say of pain before
	// and after; null for a class of medicines.
	Recorded *RecordedPain `json:"recorded"`
}

// RecordedPain is the pain that procedures were recorded with, of patients with
// both scores.
type RecordedPain struct {
	Definition string `json:"definition"`
	Before     Mean   `json:"before"`
	After      Mean   `json:"after"`
	Change     Mean   `json:"change"`
}
