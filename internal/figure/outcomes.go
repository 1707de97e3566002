package figure

import (
	"fmt"
	"time"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/chart"
	"anodyne.example/anodyne/internal/pain"
)

// Proportions returns a bar chart of proportions with intervals.
func Proportions(title string, labels []string, list []*analytics.Proportion) *chart.Proportions {
	c := &chart.Proportions{Title: title}
	for i, p := range list {
		c.Rows = append(c.Rows, proportion(labels[i], p))
	}
	return c
}

func proportion(label string, p *analytics.Proportion) chart.Proportion {
	row := chart.Proportion{Label: label, Share: part(p.Count, p.N), Words: OfKnown(p)}
	if ci := Limits(p); ci != nil {
		row.Low, row.High = &ci.Low, &ci.High
	}
	return row
}

// part returns a count as a fraction of n, or nil.
func part(count, n *int) *float64 {
	if count == nil || n == nil || *n == 0 {
		return nil
	}
	return new(float64(*count) / float64(*n))
}

// Responders returns a chart of the proportions that improved or worsened.
func Responders(r *analytics.Response) *chart.Proportions {
	return Proportions("Responders",
		[]string{"30 % improvement or more", "50 % improvement or more", "2-point improvement or more", "30 % worsening or more", "baseline under 4", "30 % response, missing counted as non-response", "50 % response, missing counted as non-response"},
		[]*analytics.Proportion{&r.Responder30, &r.Responder50, &r.NRSAtLeast2, &r.Worsened30, &r.LowBaseline,
			&r.NonresponderImputation.Responder30, &r.NonresponderImputation.Responder50})
}

// Trend returns a chart of the mean pain over time.
func Trend(t *analytics.Trend) (*chart.Trend, error) {
	scheme := pain.DefaultScheme
	c := &chart.Trend{Title: "Mean pain over patients", Bands: chart.Bands{Moderate: scheme.Moderate, Severe: scheme.Severe}}
	for _, b := range t.Buckets {
		at, err := time.Parse(time.DateOnly, b.From)
		if err != nil {
			return nil, fmt.Errorf("a bucket of the trend: %w", err)
		}
		c.Points = append(c.Points, chart.TrendPoint{Start: at, Mean: b.Mean, N: b.N})
	}
	return c, nil
}

// TimeToResponse returns a chart of the proportion without a response by day.
func TimeToResponse(r *analytics.TimeToResponse) *chart.Survival {
	c := &chart.Survival{Title: "Time to response", Event: "a confirmed response of 30 %"}
	if r.MedianDays != nil {
		c.Median = new(float64(*r.MedianDays))
	}
	for _, step := range r.Curve {
		s := chart.SurvivalStep{Day: float64(step.Day), AtRisk: step.AtRisk, Events: step.Events, Censored: step.Censored, Share: step.Survival}
		if ci := step.CI95; ci != nil {
			s.Low, s.High = &ci.Low, &ci.High
		}
		c.Steps = append(c.Steps, s)
	}
	return c
}
