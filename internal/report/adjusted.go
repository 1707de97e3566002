package report

import (
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/figure"
	"anodyne.example/anodyne/internal/report/grid"
)

// standardized lists the main rates, crude and standardised.
func (p *populationPages) standardized() {
	s := &p.Standardized
	p.section("Standardised by gender and age", 110)
	p.paragraph(s.Label+" "+figure.Standard(s), small)
	t := p.newTable(column{title: "Measure", share: 36}, column{title: "Patients", share: 26, right: true}, column{title: "Crude (95 % CI)", share: 30, right: true}, column{title: "Standardised (95 % CI)", share: 40, right: true})
	t.header()
	for i := range s.Rates {
		r := &s.Rates[i]
		t.row(figure.Words(r.Measure), figure.OfKnown(&r.Crude), figure.Share(&r.Crude), figure.Estimated(r.Standardized, r.CI95, r.Reason, true))
	}
	t.end()
}

// comparison compares the main figures with those of an earlier period.
func (s *sheet) comparison(c *analytics.Comparison) {
	if c == nil {
		return
	}
	s.section("Compared with an earlier period", 110)
	s.paragraph(figure.EarlierPeriod(c), small)
	t := s.newTable(column{title: "Figure", share: 36}, column{title: "This period (95 % CI)", share: 34, right: true}, column{title: "n", share: 11, right: true},
		column{title: "Earlier (95 % CI)", share: 34, right: true}, column{title: "n", share: 11, right: true}, column{title: "Difference (95 % CI)", share: 40, right: true})
	t.header()
	for i := range c.Means {
		m := &c.Means[i]
		t.row(figure.Term(m.Figure), figure.Mean(&m.Current), figure.Count(m.Current.N), figure.Mean(&m.Earlier), figure.Count(m.Earlier.N), figure.Difference(m.Difference, m.DiffCI95, m.Reason, false))
	}
	for i := range c.Rates {
		r := &c.Rates[i]
		t.row(figure.Term(r.Figure), figure.Share(&r.Current), figure.Count(r.Current.N), figure.Share(&r.Earlier), figure.Count(r.Earlier.N), figure.Difference(r.Difference, r.DiffCI95, r.Reason, true))
	}
	t.end()
}

// adjusted shows outcomes adjusted for case mix, and the models.
func (p *outcomePages) adjusted() {
	a := p.Adjusted
	if a == nil {
		return
	}
	p.section("Adjusted for the case mix", 110)
	p.paragraph(a.Label, small)
	t := p.newTable(column{title: "Figure", share: 36}, column{title: "n", share: 10, right: true}, column{title: "Crude (95 % CI)", share: 28, right: true}, column{title: "Organisation (95 % CI)", share: 28, right: true},
		column{title: "Expected", share: 16, right: true}, column{title: "Adjusted (95 % CI)", share: 36, right: true})
	t.header()
	c, r := &a.Change, &a.Responder30
	t.row(figure.Term("change"), figure.Count(c.Crude.N), figure.Mean(&c.Crude), figure.Mean(&c.Organization), figure.Estimated(c.Expected, nil, nil, false), figure.Estimated(c.Adjusted, c.CI95, c.Reason, false))
	t.row(figure.Term("responder_30"), figure.Count(r.Crude.N), figure.Share(&r.Crude), figure.Share(&r.Organization), figure.Estimated(r.Expected, nil, nil, true), figure.Estimated(r.Adjusted, r.CI95, r.Reason, true))
	t.end()
	p.paragraph(figure.LeftOut(a), small)
	p.coefficients("Change of pain: least squares, in points", c.Coefficients)
	p.coefficients("Response: logistic, as odds ratios", r.Coefficients)
}

func (p *outcomePages) coefficients(title string, list []analytics.Coefficient) {
	if len(list) == 0 {
		return
	}
	p.need(70)
	t := p.newTable(column{title: title, share: 60}, column{title: "Coefficient (95 % CI)", share: 36, right: true}, column{title: "Standard error", share: 20, right: true}, column{title: "Odds ratio", share: 16, right: true})
	t.header()
	for i := range list {
		c := &list[i]
		estimate := figure.Words(c.Status)
		if c.Estimate != nil {
			estimate = figure.Estimated(c.Estimate, c.CI95, nil, false)
		}
		t.row(figure.Term(c.Term), estimate, figure.Fixed(c.StandardError), figure.Fixed(c.OddsRatio))
	}
	t.end()
}

// The same figures for tables.

// estimate adds a number estimated by a model.
func (f *figures) estimate(section, figure string, value *float64, ci *analytics.Bounds, unstable bool, definition string) {
	low, high := limits(ci)
	f.lines = append(f.lines, []any{section, figure, nil, nil, value, nil, low, high, unstable, nil, definition, nil, nil, nil})
}

func (f *figures) adjusted(a *analytics.Adjusted) {
	if a == nil {
		return
	}
	f.count("adjusted", "patients", a.Patients)
	f.count("adjusted", "without_phq_9", a.WithoutPHQ9)
	f.count("adjusted", "opioid_use_undetermined", a.OpioidUndetermined)
	f.count("adjusted organization", "without_phq_9", a.Organization.WithoutPHQ9)
	f.count("adjusted organization", "opioid_use_undetermined", a.Organization.OpioidUndetermined)
	c, r := &a.Change, &a.Responder30
	f.mean("adjusted change", "crude", &c.Crude)
	f.mean("adjusted change", "organization", &c.Organization)
	f.value("adjusted change", "expected", c.Expected)
	f.estimate("adjusted change", "adjusted", c.Adjusted, c.CI95, c.Unstable, a.Definition)
	f.value("adjusted change", "reason", c.Reason)
	f.proportion("adjusted responder_30", "crude", &r.Crude)
	f.proportion("adjusted responder_30", "organization", &r.Organization)
	f.value("adjusted responder_30", "expected", r.Expected)
	f.estimate("adjusted responder_30", "adjusted", r.Adjusted, r.CI95, r.Unstable, a.Definition)
	f.value("adjusted responder_30", "reason", r.Reason)
}

func (f *figures) comparison(c *analytics.Comparison) {
	if c == nil {
		return
	}
	f.count("comparison earlier", "patients", c.Patients)
	f.count("comparison earlier", "undetermined", c.Undetermined)
	for i := range c.Rates {
		f.proportion("comparison current", c.Rates[i].Figure, &c.Rates[i].Current)
		f.proportion("comparison earlier", c.Rates[i].Figure, &c.Rates[i].Earlier)
	}
	for i := range c.Means {
		f.mean("comparison current", c.Means[i].Figure, &c.Means[i].Current)
		f.mean("comparison earlier", c.Means[i].Figure, &c.Means[i].Earlier)
	}
}

// comparisonGrid returns the differences with their figures, or nothing if no
// earlier period was requested.
func comparisonGrid(c *analytics.Comparison) []grid.Table {
	if c == nil {
		return nil
	}
	var rows [][]any
	for _, r := range c.Rates {
		low, high := limits(r.DiffCI95)
		rows = append(rows, []any{r.Figure, typed(c.StartDate), typed(c.EndDate), r.Current.N, r.Current.Proportion, r.Earlier.N, r.Earlier.Proportion, r.Difference, low, high, r.Reason})
	}
	for _, m := range c.Means {
		low, high := limits(m.DiffCI95)
		rows = append(rows, []any{m.Figure, typed(c.StartDate), typed(c.EndDate), m.Current.N, m.Current.Mean, m.Earlier.N, m.Earlier.Mean, m.Difference, low, high, m.Reason})
	}
	return []grid.Table{{Name: "Comparison", Columns: []string{"figure", "earlier_start_date", "earlier_end_date", "n", "value", "earlier_n", "earlier_value", "difference", "difference_ci95_low", "difference_ci95_high", "reason"},
		Rows: slices.Values(rows)}}
}

// coefficientsGrid returns the models, or nothing if no adjustment was
// requested.
func coefficientsGrid(a *analytics.Adjusted) []grid.Table {
	if a == nil {
		return nil
	}
	var rows [][]any
	for _, model := range []struct {
		name, method string
		list         []analytics.Coefficient
	}{{"change", a.Change.Method, a.Change.Coefficients}, {"responder_30", a.Responder30.Method, a.Responder30.Coefficients}} {
		for _, c := range model.list {
			low, high := limits(c.CI95)
			rows = append(rows, []any{model.name, model.method, c.Term, c.Status, c.Estimate, c.StandardError, low, high, c.OddsRatio})
		}
	}
	return []grid.Table{{Name: "Coefficients", Columns: []string{"model", "method", "term", "status", "estimate", "standard_error", "ci95_low", "ci95_high", "odds_ratio"}, Rows: slices.Values(rows)}}
}

// standardGrids returns the standardised rates and the standard population.
func standardGrids(s *analytics.Standardization) []grid.Table {
	var rates, strata [][]any
	for i := range s.Rates {
		r := &s.Rates[i]
		low, high := limits(r.Crude.CI95)
		standardLow, standardHigh := limits(r.CI95)
		rates = append(rates, []any{r.Measure, r.Crude.Count, r.Crude.N, r.Crude.Proportion, low, high, r.Standardized, standardLow, standardHigh, r.Reason, strings.Join(r.EmptyStrata, "; "),
			r.Crude.Percent, r.Crude.Undetermined, r.Crude.Unstable, r.Crude.Suppressed, r.Crude.Denominator, r.Crude.Definition, s.Definition})
	}
	for _, one := range s.Strata {
		strata = append(strata, []any{s.Standard, one.Gender, one.AgeBand, one.Count, one.Weight})
	}
	return []grid.Table{
		{Name: "Standardised", Columns: []string{"measure", "count", "n", "crude", "ci95_low", "ci95_high", "standardized", "standardized_ci95_low", "standardized_ci95_high", "reason", "empty_strata",
			"percent", "undetermined", "unstable", "suppressed", "denominator", "definition", "standardized_definition"}, Rows: slices.Values(rates)},
		{Name: "Standard population", Columns: []string{"standard", "gender", "age_band", "count", "weight"}, Rows: slices.Values(strata)},
	}
}
