package client

// Standardization is rates as they would be if patients were made up like a
// standard population: direct standardisation by gender and age band.
type Standardization struct {
	Definition string `json:"definition"`
	Label      string `json:"label"`
	// Standard is organization, or given when the query gave the weights.
	Standard string            `json:"standard"`
	Strata   []StandardStratum `json:"strata"`
	// Suppressed is set when the make-up of the organisation would tell of few
	// patients: there is then no standardised rate either.
	Suppressed bool               `json:"suppressed"`
	Rates      []StandardizedRate `json:"rates"`
}

// StandardStratum is a part of the standard population. A gender or an age band
// that is nil is all of them.
type StandardStratum struct {
	Gender  *string `json:"gender"`
	AgeBand *string `json:"age_band"`
	Count   *int    `json:"count"`  // nil when the weights were given
	Weight  float64 `json:"weight"` // of 1
}

// StandardizedRate is a rate in both forms.
type StandardizedRate struct {
	Measure      string      `json:"measure"`
	Crude        Proportion  `json:"crude"`
	Standardized *float64    `json:"standardized"`
	CI95         *Interval95 `json:"ci95"`
	Reason       *string     `json:"reason"` // why there is no standardised one
	// EmptyStrata are those with a weight in which nobody is counted.
	EmptyStrata []string `json:"empty_strata"`
}

// GroupStandardized is the rate of a group, standardised by age for a gender and
// by gender for an age band.
type GroupStandardized struct {
	Rate   *float64    `json:"rate"`
	CI95   *Interval95 `json:"ci95"`
	Reason *string     `json:"reason"` // why there is none
}

// Comparison sets the main figures against those of an earlier period.
type Comparison struct {
	Definition string `json:"definition"`
	Label      string `json:"label"`
	StartDate  string `json:"start_date"`
	EndDate    string `json:"end_date"`
	AsOf       string `json:"as_of"`
	Patients   Count  `json:"patients"` // who match the filters in the earlier period
	// Undetermined is how many more may match a filter by class in it.
	Undetermined Count          `json:"undetermined"`
	Rates        []ComparedRate `json:"rates"`
	Means        []ComparedMean `json:"means"`
}

// ComparedRate is a share in both periods. The difference is current less
// earlier, with Newcombe's interval.
type ComparedRate struct {
	Figure     string      `json:"figure"`
	Current    Proportion  `json:"current"`
	Earlier    Proportion  `json:"earlier"`
	Difference *float64    `json:"difference"`
	DiffCI95   *Interval95 `json:"difference_ci95"`
	Reason     *string     `json:"reason"` // why there is no difference
}

// ComparedMean is a mean in both periods. The difference is current less
// earlier, with Welch's interval.
type ComparedMean struct {
	Figure     string      `json:"figure"`
	Current    Mean        `json:"current"`
	Earlier    Mean        `json:"earlier"`
	Difference *float64    `json:"difference"`
	DiffCI95   *Interval95 `json:"difference_ci95"`
	Reason     *string     `json:"reason"`
}

// AdjustedOutcomes is outcomes adjusted for the case mix: baseline pain, age,
// gender, depression and opioid use at baseline.
type AdjustedOutcomes struct {
	Definition         string       `json:"definition"`
	Label              string       `json:"label"`
	Patients           Count        `json:"patients"` // followed up, with all covariates known
	WithoutPHQ9        Count        `json:"without_phq_9"`
	OpioidUndetermined Count        `json:"opioid_use_undetermined"`
	Organization       LeftOut      `json:"organization"` // the same of everybody that the models could be fitted to
	Change             AdjustedMean `json:"change"`
	Responder30        AdjustedRate `json:"responder_30"`
}

// LeftOut is who of those followed up is left out of the models.
type LeftOut struct {
	WithoutPHQ9        Count `json:"without_phq_9"`
	OpioidUndetermined Count `json:"opioid_use_undetermined"`
}

// AdjustedMean is a mean beside what the model expects of such patients.
// Adjusted is the organisation's mean, plus observed less expected.
type AdjustedMean struct {
	Method       string        `json:"method"`
	Crude        Mean          `json:"crude"`
	Organization Mean          `json:"organization"`
	Expected     *float64      `json:"expected"`
	Adjusted     *float64      `json:"adjusted"`
	CI95         *Interval95   `json:"ci95"`
	Unstable     bool          `json:"unstable"`
	Reason       *string       `json:"reason"` // why there is none
	Coefficients []Coefficient `json:"coefficients"`
}

// AdjustedRate is a share beside what the model expects of such patients.
type AdjustedRate struct {
	Method       string        `json:"method"`
	Crude        Proportion    `json:"crude"`
	Organization Proportion    `json:"organization"`
	Expected     *float64      `json:"expected"`
	Adjusted     *float64      `json:"adjusted"`
	CI95         *Interval95   `json:"ci95"`
	Unstable     bool          `json:"unstable"`
	Reason       *string       `json:"reason"`
	Coefficients []Coefficient `json:"coefficients"`
}

// Coefficient is one of a model: of points, or of log odds. Status is
// estimated, reference, merged, constant or too_few.
type Coefficient struct {
	Term          string      `json:"term"`
	Status        string      `json:"status"`
	Estimate      *float64    `json:"estimate"`
	StandardError *float64    `json:"standard_error"`
	CI95          *Interval95 `json:"ci95"`
	OddsRatio     *float64    `json:"odds_ratio"`
}
