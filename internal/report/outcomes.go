package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"anodyne/internal/analytics"
	"anodyne/internal/chart"
	"anodyne/internal/pain"
)

// Outcomes is how the patients of a period fared.
type Outcomes struct {
	Head
	Result *analytics.Outcomes
}

// WritePDF writes the document.
func (d *Outcomes) WritePDF(w io.Writer) error {
	s := newSheet(&d.Head, "Outcomes")
	p := outcomePages{s, d.Result}
	s.cover(fmt.Sprintf("Pain at follow-up after %d days (± %d) against baseline, one value a patient.", d.Result.FollowUp.TargetDay, d.Result.FollowUp.ToleranceDays))
	p.tiles()
	p.cohort()
	p.response()
	if err := p.trend(); err != nil {
		return err
	}
	p.timeToResponse()
	p.instruments()
	p.treatments("Before and after procedures", p.Procedures)
	p.treatments("Before and after a class of medicines began", p.MedicationClasses)
	p.definitions()
	return s.finish(w)
}

// outcomePages are the pages of the outcomes.
type outcomePages struct {
	*sheet
	*analytics.Outcomes
}

func (p *outcomePages) tiles() {
	c := &p.Cohort
	change := tile{"MEAN CHANGE OF PAIN", mean0(&p.FollowUp.Change), interval(p.FollowUp.Change.CI95), "n = " + count(p.FollowUp.Change.N)}
	p.tileRow([]tile{
		{"PATIENTS WITH SCORES", counted(c.WithScores), "of " + counted(c.Patients) + " patients", "followed up: " + counted(c.FollowedUp)},
		{"PAIN AT BASELINE", mean0(&p.FollowUp.Baseline), interval(p.FollowUp.Baseline.CI95), "n = " + count(p.FollowUp.Baseline.N)},
		change,
		{"30 % BETTER OR MORE", percent(p.Response.Responder30.Percent), percentInterval(p.Response.Responder30.CI95), ofN(&p.Response.Responder30)},
	})
}

// mean0 is a mean without its interval.
func mean0(m *analytics.Mean) string {
	switch {
	case m.Mean != nil:
		return decimal(*m.Mean)
	case m.Suppressed:
		return hidden
	}
	return none
}

func interval(b *analytics.Bounds) string {
	if b == nil {
		return "no interval"
	}
	return fmt.Sprintf("95 %% CI %s to %s", decimal(b.Low), decimal(b.High))
}

func percentInterval(b *analytics.Bounds) string {
	if b == nil {
		return "no interval"
	}
	return fmt.Sprintf("95 %% CI %s to %s %%", percentOf(b.Low), percentOf(b.High))
}

func (p *outcomePages) cohort() {
	c := &p.Cohort
	p.section("Who was looked at", 90)
	t := p.newTable(column{title: "", share: 60}, column{title: "Patients", share: 15, right: true}, column{title: "Share (95 % CI)", share: 40, right: true})
	t.header()
	t.row("match the filters", counted(c.Patients), "")
	t.row("have comparable pain scores in the period", counted(c.WithScores), "")
	t.row("of those, by average pain; the others by current pain", counted(c.ByAverage), "")
	t.row("follow-up window not yet over", counted(c.NotYetDue), "")
	t.row("due", counted(c.Due), "")
	t.row("followed up", counted(c.FollowedUp), "")
	t.row("missing, of those due", count(c.Missing.Count), share(&c.Missing))
	t.end()
}

// bars are proportions as a chart shows them.
func bars(labels []string, list []*analytics.Proportion) *chart.Proportions {
	c := &chart.Proportions{}
	for i, p := range list {
		row := chart.Proportion{Label: labels[i], Share: p.Proportion, Words: ofN(p)}
		if p.CI95 != nil {
			row.Low, row.High = &p.CI95.Low, &p.CI95.High
		}
		c.Rows = append(c.Rows, row)
	}
	return c
}

func (p *outcomePages) response() {
	r := &p.Response
	labels := []string{"30 % better or more", "50 % better or more", "2 points better or more", "30 % worse or more", "baseline under 4", "30 %, missing as no", "50 %, missing as no"}
	c := bars(labels, []*analytics.Proportion{&r.Responder30, &r.Responder50, &r.NRSAtLeast2, &r.Worsened30, &r.LowBaseline,
		&r.NonresponderImputation.Responder30, &r.NonresponderImputation.Responder50})
	c.Title = "Responders"
	height := chart.RowsHeight(len(labels), smallSize+0.3, 1)
	p.section("Response", height+20)
	p.figure("Share of patients, with 95 % confidence intervals (Wilson)", c, height)
	p.paragraph("\"Missing as no\" counts every patient who was due and has no score as one who did not respond. Percentages of a baseline under 4 mislead.", small)
}

func (p *outcomePages) trend() error {
	scheme := pain.DefaultScheme
	c := &chart.Trend{Title: "Mean pain over patients", Bands: chart.Bands{Moderate: scheme.Moderate, Severe: scheme.Severe}}
	few := ""
	for _, b := range p.Trend.Buckets {
		if b.Suppressed {
			few = " –: hidden, because it would tell of few patients."
		}
		at, err := time.Parse(time.DateOnly, b.From)
		if err != nil {
			return fmt.Errorf("a bucket of the trend: %w", err)
		}
		c.Points = append(c.Points, chart.TrendPoint{Start: at, Mean: b.Mean, N: b.N})
	}
	p.section("Trend", 190)
	p.figure(fmt.Sprintf("Mean pain by %s, one value a patient; n under the axis", p.Trend.Interval), c, 165)
	slope := "No slope: fewer than two patients have three scores over 14 days."
	if s := &p.Trend.Slope; s.PerWeek.Mean != nil && s.Direction != nil {
		slope = fmt.Sprintf("Mean slope: %s points a week (n = %s), %s. By patient:", fixed(s.PerWeek.Mean), count(s.PerWeek.N), *s.Direction)
		for _, g := range s.Patients.Groups {
			slope += fmt.Sprintf(" %s %s;", words(g.Group), count(g.Count))
		}
		slope = strings.TrimSuffix(slope, ";") + "."
	}
	p.paragraph(slope+few, small)
	return nil
}

func (p *outcomePages) timeToResponse() {
	r := &p.TimeToResponse
	c := &chart.Survival{Title: "Time to response", Event: "a confirmed response of 30 %"}
	if r.MedianDays != nil {
		c.Median = new(float64(*r.MedianDays))
	}
	for _, step := range r.Curve {
		c.Steps = append(c.Steps, chart.SurvivalStep{Day: float64(step.Day), AtRisk: step.AtRisk, Events: step.Events, Censored: step.Censored, Share: step.Survival})
	}
	if len(c.Steps) == 0 {
		p.section("Time to response", 30)
		p.paragraph("Nobody has responded, or too few to be shown.", body)
		return
	}
	p.section("Time to response", 200)
	p.figure("Share of patients without a confirmed response of 30 % (Kaplan-Meier)", c, 175)
	text := fmt.Sprintf("n = %s; responded %s; last seen without %s. ", count(r.N), count(r.Events), count(r.Censored))
	if r.MedianDays == nil {
		text += "The median is not reached."
	}
	if r.Suppressed {
		text += " Steps are put together where they would tell of few patients."
	}
	p.paragraph(text, small)
}
