package client

// Standardization holds rates directly standardised by gender and age band,
// that is, weighted as if the patients had the composition of a standard
// population.
type Standardization struct {
	Definition string `json:"definition"`
	Label      string `json:"label"`
	// Standard is "organization", or "given" if the query set the weights.
	Standard string            `json:"standard"`
	Strata   []StandardStratum `json:"strata"`
	// Suppressed is set if showing the organisation's composition would reveal
	// small groups of patients. No standardised rate is given then either.
	Suppressed bool               `json:"suppressed"`
	Rates      []StandardizedRate `json:"rates"`
}

// StandardStratum is one stratum of the standard population. A nil gender or
// age band stands for all of them.
type StandardStratum struct {
	Gender  *string `json:"gender"`
	AgeBand *string `json:"age_band"`
	Count   *int    `json:"count"`  // nil if the weights were given
	Weight  float64 `json:"weight"` // as a fraction of 1
}

// StandardizedRate is a rate, both crude and standardised.
type StandardizedRate struct {
	Measure      string      `json:"measure"`
	Crude        Proportion  `json:"crude"`
	Standardized *float64    `json:"standardized"`
	CI95         *Interval95 `json:"ci95"`
	Reason       *string     `json:"reason"` // why the standardised rate is missing
	// EmptyStrata lists the strata that have a weight but no patients.
	EmptyStrata []string `json:"empty_strata"`
}

// GroupStandardized is the rate of one group: standardised by age for a
// gender, and by gender for an age band.
type GroupStandardized struct {
	Rate   *float64    `json:"rate"`
	CI95   *Interval95 `json:"ci95"`
	Reason *string     `json:"reason"` // why the rate is missing
}

// Comparison compares the main figures with those of an earlier period.
type Comparison struct {
	Definition string `json:"definition"`
	Label      string `json:"label"`
	StartDate  string `json:"start_date"`
	EndDate    string `json:"end_date"`
	AsOf       string `json:"as_of"`
	Patients   Count  `json:"patients"` // matching the filters in the earlier period
	// Undetermined counts further patients who may match a medication class
	// filter in the earlier period.
	Undetermined Count          `json:"undetermined"`
	Rates        []ComparedRate `json:"rates"`
	Means        []ComparedMean `json:"means"`
}

// ComparedRate is a proportion in both periods. Difference is current minus
// earlier, with Newcombe's interval.
type ComparedRate struct {
	Figure     string      `json:"figure"`
	Current    Proportion  `json:"current"`
	Earlier    Proportion  `json:"earlier"`
	Difference *float64    `json:"difference"`
	DiffCI95   *Interval95 `json:"difference_ci95"`
	Reason     *string     `json:"reason"` // why the difference is missing
}

// ComparedMean is a mean in both periods. Difference is current minus earlier,
// with Welch's interval.
type ComparedMean struct {
	Figure     string      `json:"figure"`
	Current    Mean        `json:"current"`
	Earlier    Mean        `json:"earlier"`
	Difference *float64    `json:"difference"`
	DiffCI95   *Interval95 `json:"difference_ci95"`
	Reason     *string     `json:"reason"`
}

// AdjustedOutcomes holds outcomes adjusted for case mix: baseline pain, age,
// gender, depression, and opioid use at baseline.
type AdjustedOutcomes struct {
	Definition         string       `json:"definition"`
	Label              string       `json:"label"`
	Patients           Count        `json:"patients"` // followed up, with all covariates known
	WithoutPHQ9        Count        `json:"without_phq_9"`
	OpioidUndetermined Count        `json:"opioid_use_undetermined"`
	Organization       LeftOut      `json:"organization"` // the same counts for all patients the models could be fitted to
	Change             AdjustedMean `json:"change"`
	Responder30        AdjustedRate `json:"responder_30"`
}

// LeftOut counts the patients with follow-up who are left out of the models.
type LeftOut struct {
	WithoutPHQ9        Count `json:"without_phq_9"`
	OpioidUndetermined Count `json:"opioid_use_undetermined"`
}

// AdjustedMean is a mean with the value the model expects for the same
// patients. Adjusted is the organisation's mean plus observed minus expected.
type AdjustedMean struct {
	Method       string        `json:"method"`
	Crude        Mean          `json:"crude"`
	Organization Mean          `json:"organization"`
	Expected     *float64      `json:"expected"`
	Adjusted     *float64      `json:"adjusted"`
	CI95         *Interval95   `json:"ci95"`
	Unstable     bool          `json:"unstable"`
	Reason       *string       `json:"reason"` // why the values are missing
	Coefficients []Coefficient `json:"coefficients"`
}

// AdjustedRate is a proportion with the value the model expects for the same
// patients.
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

// Coefficient is a model coefficient, in points or log odds. Status is
// estimated, reference, merged, constant or too_few.
type Coefficient struct {
	Term          string      `json:"term"`
	Status        string      `json:"status"`
	Estimate      *float64    `json:"estimate"`
	StandardError *float64    `json:"standard_error"`
	CI95          *Interval95 `json:"ci95"`
	OddsRatio     *float64    `json:"odds_ratio"`
}
