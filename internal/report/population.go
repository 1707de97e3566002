package report

import (
	"fmt"
	"io"
	"slices"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/chart"
	"anodyne.example/anodyne/internal/figure"
)

// Population is the population health report.
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
	p.mayMatch(p.Cohort.Undetermined)
	p.whoWasLookedAt()
	p.insights()
	p.severity()
	p.people()
	p.opioids()
	p.sheet.measures("Aligned measures", p.Measures)
	p.treatments()
	p.disparities()
	p.standardized()
	p.comparison(p.Comparison)
	p.definitions()
	return s.finish(w)
}

// populationPages writes the pages of a population health report.
type populationPages struct {
	*sheet
	*analytics.Population
}

func (p *populationPages) tiles() {
	severe := tile{"SEVERE PAIN", figure.None, "by the latest score", "n = " + figure.Count(p.Severity.Bands.N)}
	for _, g := range p.Severity.Bands.Groups {
		if g.Group == "severe" {
			severe.value = figure.Rate(g.Count, p.Severity.Bands.N)
		}
	}
	o := &p.Opioids
	p.tileRow([]tile{
		{"ACTIVE PATIENTS", figure.Counted(p.Cohort.Active), "of " + figure.Counted(p.Cohort.Patients) + " patients", "with a record in the period"},
		severe,
		{"WITH AN OPIOID", rate(&o.Exposure), figure.OfKnown(&o.Exposure), percentInterval(&o.Exposure)},
		{"NO SCORE IN 90 DAYS", rate(&p.FollowUpGap.Gap), figure.OfN(&p.FollowUpGap.Gap), percentInterval(&p.FollowUpGap.Gap)},
	})
}

// insights lists the insights.
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
	height := chart.RowsHeight(1, smallSize+0.3, 2)
	p.section("Severity of pain", height+figureFrame)
	p.figure("Latest score of each patient", figure.Severity(&p.Severity), height)
	p.paragraph(fmt.Sprintf("Bands: %s scheme. By average pain: %s patients, by current pain: %s. Of %s: n = %s.", p.Severity.Scheme,
		figure.Counted(p.Severity.ByAverage), figure.Counted(p.Severity.ByCurrent), p.Severity.Bands.Denominator, figure.Count(p.Severity.Bands.N)), small)
}

// parts draws the groups of a whole as bars.
func (p *populationPages) parts(title string, of *analytics.Split) {
	c := figure.Split(title, of)
	p.figure(title, c, chart.RowsHeight(len(c.Rows), smallSize+0.3, 1))
}

func (p *populationPages) people() {
	height := chart.RowsHeight(len(p.AgeBands.Groups), smallSize+0.3, 1)
	p.section("Age and gender", height+figureFrame)
	p.parts("Age at the end of the period", &p.AgeBands)
	p.parts("Gender", &p.Genders)
}

func (p *populationPages) opioids() {
	o := &p.Opioids
	p.section("Opioids", 170)
	p.figure("Patients by their highest daily dose in the period", figure.Doses(&o.MME.Peak.Bands), 130)
	if text := figure.DosesNotKnown(&o.MME.Peak.Bands); text != "" {
		p.paragraph(text, small)
	}
	p.doses()
	p.proportions([]*analytics.Proportion{&o.Exposure, &o.LongTerm, &o.AtLeast50, &o.AtLeast90, &o.BenzodiazepineOverlap, &o.GabapentinoidOverlap, &o.NaloxoneCoverage})
	p.paragraph(fmt.Sprintf("Of those counted, outside the scope of the opioid guideline (cancer, sickle cell disease, palliative care): with an opioid %s, ≥ 50 MME %s, ≥ 90 MME %s, with a benzodiazepine %s; of more of them one of these is not known: %s. ",
		figure.Counted(o.OutOfScope.Exposure), figure.Counted(o.OutOfScope.AtLeast50), figure.Counted(o.OutOfScope.AtLeast90), figure.Counted(o.OutOfScope.BenzodiazepineOverlap), figure.Counted(o.OutOfScope.Undetermined))+
		"Opioid dose unknown or incomplete: "+figure.Counted(o.MME.Incomplete)+". Patients with an opioid that is assumed to be taken, because it has neither supply nor end: "+figure.Counted(o.MME.Assumed)+". "+o.MME.Caveat, small)
}

func (p *populationPages) doses() {
	t := p.newTable(column{title: "MME a day", share: 40}, column{title: "n", share: 10, right: true}, column{title: "Mean", share: 10, right: true}, column{title: "Quartile 1", share: 12, right: true}, column{title: "Median", share: 10, right: true}, column{title: "Quartile 3", share: 12, right: true}, column{title: "90th percentile", share: 16, right: true})
	t.header()
	for _, d := range []struct {
		name string
		of   *analytics.Distribution
	}{{"peak: the highest single day (definition 4)", &p.Opioids.MME.Peak}, {"peak with early refills counted at once", &p.Opioids.MME.PeakOverlapped}, {"average over covered days (definition 2)", &p.Opioids.MME.Average}} {
		t.row(d.name, figure.Count(d.of.N), figure.Num(d.of.Mean), figure.Num(d.of.Q1), figure.Num(d.of.Median), figure.Num(d.of.Q3), figure.Num(d.of.P90))
	}
	t.end()
}

// proportions lists proportions with their denominators.
func (p *populationPages) proportions(list []*analytics.Proportion) {
	t := p.newTable(column{title: "Measure", share: 34}, column{title: "Patients", share: 18, right: true}, column{title: "Share (95 % CI)", share: 26, right: true}, column{title: "Unknown", share: 13, right: true}, column{title: "Of", share: 50})
	p.need(60)
	t.header()
	for _, m := range list {
		unknown := ""
		if m.Undetermined != nil {
			unknown = figure.Count(m.Undetermined)
		}
		t.row(figure.Words(m.Definition), figure.OfN(m), figure.Share(m), unknown, m.Denominator)
	}
	t.end()
}

func (p *populationPages) treatments() {
	c := figure.Classes(p.Treatments.Classes)
	height := chart.RowsHeight(len(c.Rows), smallSize+0.3, 1)
	p.section("Treatment", height+figureFrame)
	p.figure("Patients with a medicine of the class; a patient can have several", c, height)
	p.parts("With and without opioids", &p.Treatments.Exclusive)
	p.parts("Last pain score", &p.FollowUpGap.Last)
}

// disparities compares groups, where possible.
func (p *populationPages) disparities() {
	first := true
	for i := range p.Disparities {
		d := &p.Disparities[i]
		if !slices.ContainsFunc(d.Groups, func(g analytics.DisparityGroup) bool { return g.Difference != nil }) {
			continue
		}
		c := figure.Disparity(d)
		height := chart.RowsHeight(len(c.Rows), smallSize+0.3, 2)
		if first {
			p.section("Differences between groups", height+figureFrame+30)
			p.paragraph("Each group against the largest, as the difference of shares in percentage points (Newcombe's 95 % interval). Groups of fewer than 11 are not compared. "+
				"Many comparisons are made, and neither age nor gender is adjusted for here: a difference is a question, no finding.", small)
			first = false
		}
		p.figure(c.Title, c, height)
	}
}

func (p *populationPages) definitions() {
	p.section("Definitions", 50)
	p.paragraph("Active are "+p.AgeBands.Denominator+". Age is that at the end of the period. Gender is folded: case is ignored, other words are other, nothing is unknown. "+
		"Opioid measures look at days that prescriptions cover; what is filled elsewhere is not seen, so rates are not comparable with published ones, and related quality measures are aligned, not certified. "+
		"MME: "+p.Opioids.MME.Table+". Hidden: a number that would tell of few patients is left out, and others with it where it could be worked out.", small)
}
