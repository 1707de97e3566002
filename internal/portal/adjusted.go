package portal

import (
	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/figure"
)

// sheet is a table of figures with an explanation.
type sheet struct {
	Title, Note string
	Header      []string
	Rows        [][]string
}

// sheets returns the comparison with an earlier period, the adjusted outcomes
// and the standardised rates.
func (a *analyticsPage) sheets() (list []sheet) {
	if c := a.Outcomes.Comparison; c != nil {
		s := sheet{"Compared with " + c.StartDate + " to " + c.EndDate, figure.EarlierPeriod(c), []string{"Figure", "This period", "n", "Earlier", "n", "Difference"}, nil}
		s.compare(c)
		if c := a.Population.Comparison; c != nil {
			s.compare(c)
		}
		list = append(list, s)
	}
	if of := a.Outcomes.Adjusted; of != nil {
		list = append(list, adjusted(of))
	}
	of := &a.Population.Standardized
	s := sheet{"Rates standardised by gender and age", of.Label + " " + figure.Standard(of), []string{"Measure", "Patients", "Crude", "Standardised"}, nil}
	for i := range of.Rates {
		r := &of.Rates[i]
		s.Rows = append(s.Rows, []string{figure.Words(r.Measure), figure.OfKnown(&r.Crude), figure.Share(&r.Crude), figure.Estimated(r.Standardized, r.CI95, r.Reason, true)})
	}
	return append(list, s)
}

func (s *sheet) compare(c *analytics.Comparison) {
	for i := range c.Means {
		m := &c.Means[i]
		s.Rows = append(s.Rows, []string{figure.Term(m.Figure), figure.Mean(&m.Current), figure.Count(m.Current.N), figure.Mean(&m.Earlier), figure.Count(m.Earlier.N), figure.Difference(m.Difference, m.DiffCI95, m.Reason, false)})
	}
	for i := range c.Rates {
		r := &c.Rates[i]
		s.Rows = append(s.Rows, []string{figure.Term(r.Figure), figure.Share(&r.Current), figure.Count(r.Current.N), figure.Share(&r.Earlier), figure.Count(r.Earlier.N), figure.Difference(r.Difference, r.DiffCI95, r.Reason, true)})
	}
}

func adjusted(of *analytics.Adjusted) sheet {
	c, r := &of.Change, &of.Responder30
	return sheet{"Outcomes adjusted for the case mix", of.Label + " " + figure.LeftOut(of), []string{"Figure", "n", "Crude", "Organisation", "Expected", "Adjusted"}, [][]string{
		{figure.Term("change"), figure.Count(c.Crude.N), figure.Mean(&c.Crude), figure.Mean(&c.Organization), figure.Estimated(c.Expected, nil, nil, false), figure.Estimated(c.Adjusted, c.CI95, c.Reason, false)},
		{figure.Term("responder_30"), figure.Count(r.Crude.N), figure.Share(&r.Crude), figure.Share(&r.Organization), figure.Estimated(r.Expected, nil, nil, true), figure.Estimated(r.Adjusted, r.CI95, r.Reason, true)},
	}}
}
