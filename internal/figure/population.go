package figure

import (
	"strings"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/chart"
	"anodyne.example/anodyne/internal/decimal"
)

// Severity returns a chart of the number of patients by severity band.
func Severity(s *analytics.Severity) *chart.Severity {
	row := chart.SeverityRow{Label: "all"}
	for i, g := range s.Bands.Groups[:min(len(row.Counts), len(s.Bands.Groups))] {
		row.Counts[i] = g.Count
	}
	return &chart.Severity{Title: "Severity of pain", Rows: []chart.SeverityRow{row}}
}

// Split returns a bar chart of the groups of a whole.
func Split(title string, of *analytics.Split) *chart.Proportions {
	c := &chart.Proportions{Title: title}
	for _, g := range of.Groups {
		c.Rows = append(c.Rows, chart.Proportion{Label: Words(g.Group), Share: part(g.Count, of.N), Words: partOf(g.Count, of.N)})
	}
	return c
}

// partOf returns "18 of 40".
func partOf(count, n *int) string {
	if count == nil || n == nil {
		return Count(count)
	}
	return Thousands(*count) + " of " + Thousands(*n)
}

// DoseBands are the limits of the MME bands.
var DoseBands = map[string]chart.Bin{
	">0-<20": {Low: 0, High: 20}, "20-<50": {Low: 20, High: 50}, "50-<90": {Low: 50, High: 90}, ">=90": {Low: 90, High: 130, Open: true},
}

// UnknownDose is the label of the bar for unknown doses.
const UnknownDose = "not known"

// Doses returns a chart of the number of patients by dose, including unknown
// doses.
func Doses(bands *analytics.Split) *chart.Histogram {
	c := &chart.Histogram{Title: "Opioid dose"}
	for _, g := range bands.Groups {
		if bin, ok := DoseBands[g.Group]; ok {
			bin.Count = g.Count
			c.Bins = append(c.Bins, bin)
		} else if g.Group == "unknown" {
			c.Apart = append(c.Apart, chart.Apart{Name: UnknownDose, Count: g.Count})
		}
	}
	return c
}

// Classes returns a chart of the number of patients by medication class.
func Classes(list []analytics.Proportion) *chart.Proportions {
	c := &chart.Proportions{Title: "Classes of medicines"}
	for i := range list {
		_, class, _ := strings.Cut(list[i].Definition, ".")
		c.Rows = append(c.Rows, proportion(Words(class), &list[i]))
	}
	return c
}

// Disparity returns a chart that compares groups with the reference.
func Disparity(d *analytics.Disparity) *chart.Forest {
	c := &chart.Forest{Title: Capital(Words(d.Measure)) + " by " + Words(d.Dimension), Measure: "difference in percentage points"}
	reference := d.Compared()
	for _, g := range d.Groups {
		row := chart.Effect{Label: Words(g.Group), Words: "not compared"}
		switch {
		case g.Suppressed:
			row.Words = Hidden
		case d.Reference != nil && g.Group == *d.Reference:
			row.Words = "reference, " + Rate(g.Count, g.N) + " of " + Count(g.N) + NotKnown(g.Undetermined)
		case g.Difference != nil && reference != nil:
			row.Words = Rate(g.Count, g.N) + " of " + Count(g.N) + NotKnown(g.Undetermined)
			difference, ci := analytics.Newcombe(*g.Count, *g.N, *reference.Count, *reference.N)
			row.Estimate, row.Low, row.High = points(difference), points(ci.Low), points(ci.High)
		case g.N != nil:
			row.Words = "not compared, n = " + Count(g.N) + NotKnown(g.Undetermined)
		}
		c.Rows = append(c.Rows, row)
	}
	return c
}

// points converts a difference to percentage points with one decimal.
func points(difference float64) *float64 { return new(decimal.Round(100*difference, 1)) }
