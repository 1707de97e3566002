package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"anodyne/internal/analytics"
	"anodyne/internal/chart"
)

// Population is how the patients of a period are.
type Population struct {
	Head
	Result *analytics.Population
}

// WritePDF writes the document.
func (d *Population) WritePDF(w io.Writer) error {
	s := newSheet(&d.Head, "Population health")
	p := populationPages{s, d.Result}
	s.cover("How the patients of the period are: pain, opioids, treatment and follow-up.")
	p.tiles()
	p.insights()
	p.severity()
	p.people()
	p.opioids()
	p.treatments()
	p.disparities()
	p.definitions()
	return s.finish(w)
}

// populationPages are the pages of the population.
type populationPages struct {
	*sheet
	*analytics.Population
}

func (p *populationPages) tiles() {
	severe := tile{"SEVERE PAIN", none, "by the latest score", "n = " + count(p.Severity.Bands.N)}
	for _, g := range p.Severity.Bands.Groups {
		if g.Group == "severe" {
			severe.value = percent(g.Percent)
		}
	}
	o := &p.Opioids
	p.tileRow([]tile{
		{"ACTIVE PATIENTS", counted(p.Cohort.Active), "of " + counted(p.Cohort.Patients) + " patients", "with a record in the period"},
		severe,
		{"WITH AN OPIOID", percent(o.Exposure.Percent), ofN(&o.Exposure), percentInterval(o.Exposure.CI95)},
		{"NO SCORE IN 90 DAYS", percent(p.FollowUpGap.Gap.Percent), ofN(&p.FollowUpGap.Gap), percentInterval(p.FollowUpGap.Gap.CI95)},
	})
}

// insights are the sentences that the numbers make.
func (p *populationPages) insights() {
	if len(p.Insights) == 0 {
		return
	}
	p.section("In words", 30)
	for _, in := range p.Insights {
		p.paragraph("• "+in.Text, body)
	}
}

func (p *populationPages) severity() {
	row := chart.SeverityRow{Label: "all"}
	for i, g := range p.Severity.Bands.Groups[:min(len(row.Counts), len(p.Severity.Bands.Groups))] {
		row.Counts[i] = g.Count
	}
	c := &chart.Severity{Title: "Severity of pain", Rows: []chart.SeverityRow{row}}
	height := chart.RowsHeight(1, smallSize+0.3, 2)
	p.section("Severity of pain", height+20)
	p.figure("Latest score of each patient", c, height)
	p.paragraph(fmt.Sprintf("Bands: %s scheme. By average pain: %s patients, by current pain: %s. Of %s: n = %s.", p.Severity.Scheme,
		counted(p.Severity.ByAverage), counted(p.Severity.ByCurrent), p.Severity.Bands.Denominator, count(p.Severity.Bands.N)), small)
}

// parts draws the groups of a whole as bars.
func (p *populationPages) parts(title string, of *analytics.Split) {
	c := &chart.Proportions{Title: title}
	for _, g := range of.Groups {
		row := chart.Proportion{Label: words(g.Group), Words: "n = " + count(g.Count)}
		if g.Percent != nil {
			row.Share = new(*g.Percent / 100)
		}
		c.Rows = append(c.Rows, row)
	}
	p.figure(title, c, chart.RowsHeight(len(c.Rows), smallSize+0.3, 1))
}

func (p *populationPages) people() {
	height := chart.RowsHeight(len(p.AgeBands.Groups), smallSize+0.3, 1)
	p.section("Age and gender", height+20)
	p.parts("Age at the end of the period", &p.AgeBands)
	p.parts("Gender", &p.Genders)
}

// bandEdges are the doses at which the bands of MME begin and end.
var bandEdges = map[string]chart.Bin{
	">0-<20": {Low: 0, High: 20}, "20-<50": {Low: 20, High: 50}, "50-<90": {Low: 50, High: 90}, ">=90": {Low: 90, High: 130, Open: true},
}

func (p *populationPages) opioids() {
	o := &p.Opioids
	c := &chart.Histogram{Title: "Opioid dose"}
	for _, g := range o.MME.Peak.Bands.Groups {
		if bin, ok := bandEdges[g.Group]; ok {
			bin.Count = g.Count
			c.Bins = append(c.Bins, bin)
		}
	}
	p.section("Opioids", 170)
	p.figure("Patients by their highest daily dose in the period", c, 130)
	p.doses()
	p.proportions([]*analytics.Proportion{&o.Exposure, &o.LongTerm, &o.AtLeast50, &o.AtLeast90, &o.BenzodiazepineOverlap, &o.GabapentinoidOverlap, &o.NaloxoneCoverage})
	p.paragraph(fmt.Sprintf("Of those counted, outside the scope of the opioid guideline (cancer, sickle cell disease, palliative care): with an opioid %s, ≥ 50 MME %s, ≥ 90 MME %s, with a benzodiazepine %s. ",
		counted(o.OutOfScope.Exposure), counted(o.OutOfScope.AtLeast50), counted(o.OutOfScope.AtLeast90), counted(o.OutOfScope.BenzodiazepineOverlap))+
		"Opioid dose not known or not complete: "+counted(o.MME.Incomplete)+". "+o.MME.Caveat, small)
}

func (p *populationPages) doses() {
	t := p.newTable(column{title: "MME a day", share: 40}, column{title: "n", share: 10, right: true}, column{title: "Mean", share: 10, right: true}, column{title: "Quartile 1", share: 12, right: true}, column{title: "Median", share: 10, right: true}, column{title: "Quartile 3", share: 12, right: true}, column{title: "90th percentile", share: 16, right: true})
	t.header()
	for _, d := range []struct {
		name string
		of   *analytics.Distribution
	}{{"peak: the highest single day (definition 4)", &p.Opioids.MME.Peak}, {"average over covered days (definition 2)", &p.Opioids.MME.Average}} {
		t.row(d.name, count(d.of.N), num(d.of.Mean), num(d.of.Q1), num(d.of.Median), num(d.of.Q3), num(d.of.P90))
	}
	t.end()
}

// proportions lists shares, each with what it is of.
func (p *populationPages) proportions(list []*analytics.Proportion) {
	t := p.newTable(column{title: "Measure", share: 34}, column{title: "Patients", share: 18, right: true}, column{title: "Share (95 % CI)", share: 26, right: true}, column{title: "Unknown", share: 13, right: true}, column{title: "Of", share: 50})
	p.need(60)
	t.header()
	for _, m := range list {
		unknown := ""
		if m.Undetermined != nil {
			unknown = count(m.Undetermined)
		}
		t.row(words(m.Definition), ofN(m), share(m), unknown, m.Denominator)
	}
	t.end()
}

func (p *populationPages) treatments() {
	c := &chart.Proportions{Title: "Classes of medicines"}
	for i := range p.Treatments.Classes {
		m := &p.Treatments.Classes[i]
		_, class, _ := strings.Cut(m.Definition, ".")
		row := chart.Proportion{Label: words(class), Share: m.Proportion, Words: ofN(m)}
		if m.CI95 != nil {
			row.Low, row.High = &m.CI95.Low, &m.CI95.High
		}
		c.Rows = append(c.Rows, row)
	}
	height := chart.RowsHeight(len(c.Rows), smallSize+0.3, 1)
	p.section("Treatment", height+20)
	p.figure("Patients with a medicine of the class; a patient can have several", c, height)
	p.parts("With and without opioids", &p.Treatments.Exclusive)
	p.parts("Last pain score", &p.FollowUpGap.Last)
}

// disparities compares groups, as far as they can be compared.
func (p *populationPages) disparities() {
	first := true
	for i := range p.Disparities {
		d := &p.Disparities[i]
		if !slices.ContainsFunc(d.Groups, func(g analytics.DisparityGroup) bool { return g.Difference != nil }) {
			continue
		}
		c := forest(d)
		height := chart.RowsHeight(len(c.Rows), smallSize+0.3, 2)
		if first {
			p.section("Differences between groups", height+40)
			p.paragraph("Each group against the largest, as the difference of shares in percentage points (Newcombe's 95 % interval). Groups of fewer than 11 are not compared. "+
				"Many comparisons are made, and age is not adjusted for: a difference is a question, no finding.", small)
			first = false
		}
		p.figure(c.Title, c, height)
	}
}

func forest(d *analytics.Disparity) *chart.Forest {
	c := &chart.Forest{Title: capital(words(d.Measure)) + " by " + words(d.Dimension), Measure: "difference in percentage points"}
	for _, g := range d.Groups {
		row := chart.Effect{Label: words(g.Group), Words: "not compared"}
		switch {
		case g.Suppressed:
			row.Words = hidden
		case d.Reference != nil && g.Group == *d.Reference:
			row.Words = "reference, " + percent(g.Percent) + " of " + count(g.N)
		case g.Difference != nil && g.DiffCI95 != nil:
			row.Words = percent(g.Percent) + " of " + count(g.N)
			row.Estimate, row.Low, row.High = points(*g.Difference), points(g.DiffCI95.Low), points(g.DiffCI95.High)
		case g.N != nil:
			row.Words = "not compared, n = " + count(g.N)
		}
		c.Rows = append(c.Rows, row)
	}
	return c
}

// points are percentage points with one decimal.
func points(difference float64) *float64 {
	return new(math.Round(difference*1000) / 10)
}

func (p *populationPages) definitions() {
	p.section("Definitions", 50)
	p.paragraph("Active are "+p.AgeBands.Denominator+". Age is that at the end of the period. Gender is folded: case is ignored, other words are other, nothing is unknown. "+
		"Opioid measures look at days that prescriptions cover; what is filled elsewhere is not seen, so rates are not comparable with published ones, and related quality measures are aligned, not certified. "+
		"MME: "+p.Opioids.MME.Table+". Hidden: a number that would tell of few patients is left out, and others with it where it could be worked out.", small)
}
