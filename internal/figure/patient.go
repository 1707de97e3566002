package figure

import (
	"strings"
	"time"

	"anodyne.example/anodyne/internal/chart"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/summary"
)

// Curves are the charts of a patient's pain and opioid dose over a period.
type Curves struct {
	Pain *chart.Pain
	MME  *chart.MME
	// Kind describes the scores shown.
	Kind string
	// Before is the number of scores before the period.
	Before int
}

// CurvesOf returns the charts of a patient for a period that ends on the day
// of the summary.
func CurvesOf(c *summary.Chart, s *summary.Summary, from, to pain.Date) (Curves, error) {
	first, last := dayOf(from), dayOf(to)
	scheme := pain.DefaultScheme
	curves := Curves{Kind: kindOf(&s.Pain), Pain: &chart.Pain{
		Title: "Pain", From: first, To: last, Bands: chart.Bands{Moderate: scheme.Moderate, Severe: scheme.Severe},
	}}
	if base := s.Pain.Baseline; base != nil {
		curves.Pain.Baseline = base.Score
	}
	curves.readScores(c, &s.Pain)
	var err error
	if curves.Pain.Events, err = events(c.Records, first, last); err != nil {
		return curves, err
	}
	curves.MME = dosesOf(&s.MME, first, last)
	return curves, nil
}

// readScores uses all scores of the series; the summary itself only lists the
// newest.
func (c *Curves) readScores(of *summary.Chart, sum *summary.Pain) {
	if sum.Aspect == nil {
		return
	}
	before := c.Pain.To.AddDate(0, 0, 1).UnixMilli()
	for i := range of.Series.Scores {
		s := &of.Series.Scores[i]
		score, ok := s.Normalized()
		if !ok || s.At >= before || s.Aspect.String() != *sum.Aspect || s.Scale.String() != *sum.Scale || s.Site.String() != *sum.BodySite || s.Side.String() != *sum.Laterality {
			continue
		}
		if s.At < c.Pain.From.UnixMilli() {
			c.Before++
			continue
		}
		c.Pain.Points = append(c.Pain.Points, chart.PainPoint{At: time.UnixMilli(s.At).UTC(), Score: score})
	}
}

func dosesOf(sum *summary.MME, first, last time.Time) *chart.MME {
	m := &chart.MME{Title: "MME a day", From: first, To: last}
	if window, err := time.Parse(time.DateOnly, sum.From); err == nil && m.From.Before(window) {
		m.From = window // there is no data before
	}
	for _, run := range sum.Timeline {
		from, errFrom := time.Parse(time.DateOnly, run.From)
		to, errTo := time.Parse(time.DateOnly, run.To)
		if errFrom == nil && errTo == nil && !to.Before(m.From) {
			m.Runs = append(m.Runs, chart.MMERun{From: from, To: to, MME: run.MME, Incomplete: run.Incomplete})
		}
	}
	return m
}

// kindOf describes the scores.
func kindOf(sum *summary.Pain) string {
	if sum.Aspect == nil {
		return "no comparable scores"
	}
	text := Words(*sum.Aspect) + " pain, scale " + Words(*sum.Scale)
	if place := Place(*sum.BodySite, *sum.Laterality); place != "" {
		text += ", " + place
	}
	return text
}

// Place returns a body site with its side, such as "left knee".
func Place(site, side string) string { return strings.TrimSpace(Words(side) + " " + Words(site)) }

func dayOf(d pain.Date) time.Time { return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC) }
