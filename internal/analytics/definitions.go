package analytics

// The names of the definitions, which docs/analytics.md explains.
const (
	defIndexDate         = "index_date"
	defSite              = "primary_outcome_site"
	defBaseline          = "baseline_14_days"
	defFollowUp          = "follow_up_nearest"
	defChange            = "change_from_baseline"
	defPercentChange     = "percent_change"
	defMissing           = "missing_follow_up"
	defResponder30       = "responder_30"
	defResponder50       = "responder_50"
	defNRS2              = "nrs_ge_2"
	defWorsened30        = "worsened_30"
	defLowBaseline       = "low_baseline"
	defImputation        = "nonresponder_imputation"
	defTrend             = "trend_mean_of_patients"
	defSlope             = "ols_slope_per_week"
	defDirection         = "direction_of_slope"
	defTimeWeighted      = "time_weighted_average"
	defTimeToResponse    = "time_to_response_30"
	defInstrument        = "instrument_change"
	defMCID              = "mcid_met"
	defGlobalImpression  = "pgic_responder"
	defProcedure         = "before_after_procedure"
	defProcedureRecorded = "before_after_recorded"
	defClass             = "before_after_medication_class"

	defPopulation     = "population"
	defSeverity       = "severity_prevalence"
	defAge            = "age_at_period_end"
	defGender         = "gender_folded"
	defExposure       = "opioid_exposure"
	defLongTerm       = "long_term_opioid"
	defPeak           = "mme_peak_definition_4"
	defPeakOverlapped = "mme_peak_overlapped"
	defAverage        = "mme_average_definition_2"
	defBands          = "mme_bands"
	defAtLeast50      = "ge_50"
	defAtLeast90      = "ge_90"
	defBenzo          = "opioid_benzo_overlap"
	defGabapentinoid  = "opioid_gabapentinoid_overlap"
	defNaloxone       = "naloxone_coverage"
	defOutOfScope     = "out_of_guideline_scope"
	defTreatment      = "treatment_mix"
	defGap            = "follow_up_gap"
	defDisparity      = "disparity_to_largest_group"
	defStandardized   = "direct_standardization"
	defEarlier        = "earlier_period"
	defCaseMix        = "case_mix_adjusted"
)

// The denominators, in plain English.
const (
	ofDue           = "patients whose follow-up window has ended"
	ofFollowed      = "patients with a baseline and a follow-up score"
	ofFollowedAbove = "patients with a baseline above 0 and a follow-up score"
	ofDueAbove      = "patients with a baseline above 0 whose follow-up window has ended"
	ofSloped        = "patients with 3 scores over 14 days"
	ofImpressed     = "patients with an answer in the period"
	ofScoredTwice   = "patients with a score at baseline and at follow-up"
	ofActive        = "patients with a pain score, an assessment, a procedure or a day of a medicine in the period"
	ofScored        = "patients with an average or current pain score in the period"
	ofExposed       = "patients with an opioid in the period"
	ofPatients      = "patients who match the filters"
	ofActiveKnown   = ofActive + ", for whom it is known"
	ofExposedKnown  = ofExposed + ", for whom it is known"
	ofComplete      = ofFollowedAbove + ", with PHQ-9 and opioid use at baseline known"
)

// uncontrolled is shown with every before-and-after comparison.
const uncontrolled = "uncontrolled: patients are compared with themselves, without accounting for regression to the mean"

// primaryRule describes which scores are the primary outcome.
const primaryRule = "Scores of one scale, aspect, body site and side. Aspect average if it was scored in the period, otherwise current; " +
	"among those scored in the period, the scale, site and side with the most scores in the 14 days up to and including the index date, then with the worst mean. Scores are from 0 to 10; vrs4 cannot be converted and is excluded."
