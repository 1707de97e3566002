package analytics

// Adjusted holds outcomes adjusted for case mix: pain, age, gender, depression
// and opioid use of the patients at baseline.
type Adjusted struct {
	Definition string `json:"definition"`
	Label      string `json:"label"`
	Patients   Count  `json:"patients"` // with follow-up and all covariates known
	// Patients with follow-up who are left out: without a PHQ-9 at baseline, or
	// else with unknown opioid use at baseline.
	WithoutPHQ9        Count `json:"without_phq_9"`
	OpioidUndetermined Count `json:"opioid_use_undetermined"`
	// Organization has the same counts for all patients the models could be
	// fitted to.
	Organization LeftOut      `json:"organization"`
	Change       AdjustedMean `json:"change"`
	Responder30  AdjustedRate `json:"responder_30"`
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
	Crude        Mean          `json:"crude"`        // of the same patients
	Organization Mean          `json:"organization"` // of all patients the model was fitted to
	Expected     *float64      `json:"expected"`
	Adjusted     *float64      `json:"adjusted"`
	CI95         *Bounds       `json:"ci95"`
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
	CI95         *Bounds       `json:"ci95"`
	Unstable     bool          `json:"unstable"`
	Reason       *string       `json:"reason"`
	Coefficients []Coefficient `json:"coefficients"`
}

// Coefficient is a model coefficient, in points or log odds. Status is
// estimated, reference, merged (too few patients, counted with the reference),
// constant (all patients are alike) or too_few.
type Coefficient struct {
	Term          string   `json:"term"`
	Status        string   `json:"status"`
	Estimate      *float64 `json:"estimate"`
	StandardError *float64 `json:"standard_error"`
	CI95          *Bounds  `json:"ci95"`
	OddsRatio     *float64 `json:"odds_ratio"` // of the logistic model
}

// caseMixLabel is shown with adjusted outcomes.
const caseMixLabel = "Adjusted for baseline pain, age, gender, depression (PHQ-9) and opioid use at baseline: the organisation's figure plus observed minus expected. Complete cases only. " +
	"Unmeasured factors are not adjusted for, and the interval does not include the uncertainty of the model."

// The adjustment methods.
const (
	byLeastSquares = "ordinary_least_squares"
	byLogistic     = "logistic_regression"
)

// printAdjusted prints the requested adjustment. followed, above and responded
// are the counts of the crude figures: those with follow-up, those with a
// baseline above 0, and those of these who responded.
func (t *OutcomesTally) printAdjusted(l *ledger, out *Outcomes, followed, above, responded *cell) {
	if t.mix == nil {
		return
	}
	a := &Adjusted{Definition: defCaseMix, Label: caseMixLabel}
	out.Adjusted = a
	whole := newMixTally()
	whole.merge(t.mix)
	whole.merge(t.others)
	n, noDepression, noOpioid := l.cell(t.mix.n()), l.cell(t.mix.noDepression), l.cell(t.mix.noOpioid)
	l.sum(followed, n, noDepression, noOpioid)
	l.count(&a.Patients, n)
	l.count(&a.WithoutPHQ9, noDepression)
	l.count(&a.OpioidUndetermined, noOpioid)
	known, yes := l.cell(t.mix.above()), l.cell(t.mix.yes())
	l.within(n, known)
	l.within(above, known)
	l.within(responded, yes)
	all, allKnown, allYes, allNoDepression, allNoOpioid := n, known, yes, noDepression, noOpioid
	if t.filter.Any() {
		all, allKnown, allYes = l.cell(whole.n()), l.cell(whole.above()), l.cell(whole.yes())
		l.within(all, n)
		l.within(all, allKnown)
		l.within(allKnown, known)
		l.within(allYes, yes)
		allNoDepression, allNoOpioid = l.cell(whole.noDepression), l.cell(whole.noOpioid)
		l.within(allNoDepression, noDepression)
		l.within(allNoOpioid, noOpioid)
	}
	l.count(&a.Organization.WithoutPHQ9, allNoDepression)
	l.count(&a.Organization.OpioidUndetermined, allNoOpioid)
	l.mean(&a.Change.Crude, defChange, n, t.mix.change(), 1, painScale.changes())
	l.mean(&a.Change.Organization, defChange, all, whole.change(), 1, painScale.changes())
	l.proportion(&a.Responder30.Crude, defResponder30, ofComplete, yes, known)
	l.proportion(&a.Responder30.Organization, defResponder30, ofComplete, allYes, allKnown)
	l.after(func() {
		a.Change.fill(t.mix, whole, n.hidden || all.hidden, l.min)
		r := &a.Responder30
		r.fill(t.mix, whole, r.Crude.Suppressed || r.Organization.Suppressed || n.hidden || all.hidden, l.min)
	})
}

// fill fits the model to all patients and prints what it expects for some.
func (a *AdjustedMean) fill(some, whole *mixTally, hidden bool, least int) {
	a.Method, a.Coefficients = byLeastSquares, []Coefficient{}
	design := designOf(whole, func(c *mixCell) int32 { return c.n })
	if hidden || design.tells(least) {
		a.Reason = new(reasonHidden)
		return
	}
	change := whole.change()
	squares := change.squares.float()
	f := leastSquares(design.observations(whole), len(design.terms), squares/fraction/fraction)
	own := some.change()
	if a.Reason = f.missing(own.n); a.Reason != nil {
		return
	}
	expected := 0.0
	for _, o := range design.observations(some) {
		expected += o.n * f.dot(o.x)
	}
	expected /= float64(own.n)
	adjusted := change.mean() + own.mean() - expected
	scale := painScale.changes()
	a.Unstable = own.n < stableFrom
	a.Expected, a.Adjusted = rounded(expected, 4), rounded(min(max(adjusted, scale.Low), scale.High), 4)
	quantile := student(f.df)
	if own.n >= minForInterval {
		half := quantile * f.sigma / sqrt(own.n)
		a.CI95 = Bounds{adjusted - half, adjusted + half}.within(scale).rounded()
	}
	a.Coefficients = design.coefficients(&f, quantile, false)
}

// fill does the same for a proportion. The interval is Wilson's interval of
// the observed proportion, shifted like the proportion itself.
func (a *AdjustedRate) fill(some, whole *mixTally, hidden bool, least int) {
	a.Method, a.Coefficients = byLogistic, []Coefficient{}
	design := designOf(whole, func(c *mixCell) int32 { return c.above })
	if hidden || design.tells(least) {
		a.Reason = new(reasonHidden)
		return
	}
	f := logistic(design.observations(whole), len(design.terms))
	n, yes := some.above(), some.yes()
	if a.Reason = f.missing(n); a.Reason != nil {
		return
	}
	expected := 0.0
	for _, o := range design.observations(some) {
		expected += o.known * expit(f.dot(o.x))
	}
	expected /= float64(n)
	move := float64(whole.yes())/float64(whole.above()) - expected
	ci, scale := Wilson(yes, n), Bounds{0, 1}
	adjusted := float64(yes)/float64(n) + move
	a.Unstable = n < stableFrom
	a.Expected, a.Adjusted = rounded(expected, 4), rounded(min(max(adjusted, 0), 1), 4)
	a.CI95 = Bounds{min(max(ci.Low+move, 0), 1), min(max(ci.High+move, 0), 1)}.within(scale).rounded()
	a.Coefficients = design.coefficients(&f, z, true)
}
