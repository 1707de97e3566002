package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/chart"
	"anodyne.example/anodyne/internal/figure"
)

// Outcomes is the outcomes report.
type Outcomes struct {
	Head
	Result *analytics.Outcomes
}

// WritePDF writes the document.
func (d *Outcomes) WritePDF(w io.Writer) error {
	s := newSheet(&d.Head, "Outcomes")
	p := outcomePages{s, d.Result}
	s.cover(fmt.Sprintf("Pain at follow-up after %d days (± %d) against baseline, one value per patient.", d.Result.FollowUp.TargetDay, d.Result.FollowUp.ToleranceDays))
	p.tiles()
	p.mayMatch(p.Cohort.Undetermined)
	p.cohort()
	p.response()
	if err := p.trend(); err != nil {
		return err
	}
	p.timeToResponse()
	p.instruments()
	p.treatments("Before and after procedures", p.Procedures)
	p.treatments("Before and after a class of medicines began", p.MedicationClasses)
	if n := p.ClassesUndetermined.Count; n == nil || *n > 0 {
		p.paragraph("With a medicine that is not recognised in the period or the 90 days before: "+figure.Count(n)+". These patients may have started a class in which they are not counted, or may not have started one in which they are.", small)
	}
	p.adjusted()
	p.comparison(p.Comparison)
	p.definitions()
	return s.finish(w)
}

// outcomePages writes the pages of an outcomes report.
type outcomePages struct {
	*sheet
	*analytics.Outcomes
}

func (p *outcomePages) tiles() {
	c := &p.Cohort
	change := tile{"MEAN CHANGE OF PAIN", mean0(&p.FollowUp.Change), interval(p.FollowUp.Change.CI95), "n = " + figure.Count(p.FollowUp.Change.N)}
	p.tileRow([]tile{
		{"PATIENTS WITH SCORES", figure.Counted(c.WithScores), "of " + figure.Counted(c.Patients) + " patients", "followed up: " + figure.Counted(c.FollowedUp)},
		{"PAIN AT BASELINE", mean0(&p.FollowUp.Baseline), interval(p.FollowUp.Baseline.CI95), "n = " + figure.Count(p.FollowUp.Baseline.N)},
		change,
		{"30 % RESPONDERS", rate(&p.Response.Responder30), percentInterval(&p.Response.Responder30), figure.OfN(&p.Response.Responder30)},
	})
}

// mayMatch states how many more patients may match a medication class filter.
func (s *sheet) mayMatch(c analytics.Count) {
	if c.Count == nil || *c.Count > 0 {
		s.paragraph("May match the filter by class too: "+figure.Counted(c)+", with a medicine that is not recognised.", small)
	}
}

func rate(p *analytics.Proportion) string { return figure.Rate(p.Count, p.N) }

// mean0 returns a mean without its interval.
func mean0(m *analytics.Mean) string {
	switch {
	case m.Mean != nil:
		return figure.Decimal(*m.Mean)
	case m.Suppressed:
		return figure.Hidden
	}
	return figure.None
}

func interval(b *analytics.Bounds) string {
	if b == nil {
		return "no interval"
	}
	return fmt.Sprintf("95 %% CI %s to %s", figure.Decimal(b.Low), figure.Decimal(b.High))
}

func percentInterval(p *analytics.Proportion) string {
	b := figure.Limits(p)
	if b == nil {
		return "no interval"
	}
	return fmt.Sprintf("95 %% CI %s to %s %%", figure.Decimal(100*b.Low), figure.Decimal(100*b.High))
}

func (p *outcomePages) cohort() {
	c := &p.Cohort
	matched, scored, due := c.Patients.Count, c.WithScores.Count, c.Due.Count
	p.flow([]step{
		{"match the filters", matched, nil, ""},
		{"no comparable pain score in the period", c.WithoutScores.Count, matched, ""},
		{"comparable pain scores in the period", scored, matched, ""},
		{"by average pain", c.ByAverage.Count, scored, ""},
		{"by current pain", c.ByCurrent.Count, scored, ""},
		{"follow-up window not yet over", c.NotYetDue.Count, scored, ""},
		{"follow-up due", due, scored, ""},
		{"missing: due, without a score in the window", c.Missing.Count, due, figure.Share(&c.Missing)},
		{"followed up", c.FollowedUp.Count, due, ""},
	})
	p.sites()
}

func (p *outcomePages) response() {
	c := figure.Responders(&p.Response)
	height := chart.RowsHeight(len(c.Rows), smallSize+0.3, 1)
	p.section("Response", height+figureFrame)
	p.figure("Share of patients, with 95 % confidence intervals (Wilson)", c, height)
	p.paragraph("\"Missing counted as non-response\" treats every patient who was due and has no score as a non-responder. Percentages of a baseline under 4 are misleading.", small)
}

func (p *outcomePages) trend() error {
	c, err := figure.Trend(&p.Trend)
	if err != nil {
		return err
	}
	few := ""
	if slices.ContainsFunc(p.Trend.Buckets, func(b analytics.Bucket) bool { return b.Suppressed }) {
		few = " –: hidden, because it would tell of few patients."
	}
	p.section("Trend", 190)
	p.figure(fmt.Sprintf("Mean pain by %s, one value per patient; n below the axis", p.Trend.Interval), c, 165)
	slope := "No slope: fewer than two patients have three scores over 14 days."
	if s := &p.Trend.Slope; s.PerWeek.Mean != nil && s.Direction != nil {
		slope = fmt.Sprintf("Mean slope: %s points a week (n = %s), %s. By patient:", figure.Fixed(s.PerWeek.Mean), figure.Count(s.PerWeek.N), *s.Direction)
		for _, g := range s.Patients.Groups {
			slope += fmt.Sprintf(" %s %s;", figure.Words(g.Group), figure.Count(g.Count))
		}
		slope = strings.TrimSuffix(slope, ";") + "."
	}
	p.paragraph(slope+few, small)
	return nil
}

func (p *outcomePages) timeToResponse() {
	r := &p.TimeToResponse
	c := figure.TimeToResponse(r)
	if len(c.Steps) == 0 {
		p.section("Time to response", 30)
		p.paragraph("Nobody has responded, or too few to be shown.", body)
		return
	}
	p.section("Time to response", 200)
	p.figure("Share of patients without a confirmed response of 30 % (Kaplan-Meier)", c, 175)
	text := fmt.Sprintf("n = %s; responded %s; censored %s. ", figure.Count(r.N), figure.Count(r.Events), figure.Count(r.Censored))
	if r.MedianDays == nil {
		text += "The median is not reached."
	}
	if r.Suppressed {
		text += " Steps are put together where they would tell of few patients."
	}
	p.paragraph(text, small)
}
