package report

import (
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/figure"
	"anodyne.example/anodyne/internal/report/grid"
)

// measures lists aligned measures with their denominators and exclusions.
func (s *sheet) measures(title string, list []analytics.Measure) {
	if len(list) == 0 {
		return
	}
	s.section(title, 120)
	s.paragraph(list[0].Caveat+" Adults only. Lower is better, unless a measure says otherwise. Unknown: an unclassified medicine, or a dose, days, "+
		"a prescriber or a pharmacy that are not known, leave open where the patient belongs.", small)
	t := s.newTable(column{title: "Measure", share: 46}, column{title: "Patients", share: 17, right: true}, column{title: "Share (95 % CI)", share: 23, right: true},
		column{title: "Unknown", share: 13, right: true}, column{title: "Excluded", share: 22}, column{title: "Of", share: 44})
	t.header()
	for i := range list {
		m := &list[i]
		rate := m.Rate()
		t.row(measureWords(m), figure.OfN(rate), figure.Share(rate), figure.Count(m.Undetermined), figure.Excluded(m), m.Denominator)
	}
	t.end()
}

// measureWords returns a measure's name with its numerator.
func measureWords(m *analytics.Measure) string {
	text := m.Name + ": " + m.Numerator
	if m.Proxy {
		text += " (proxy)"
	}
	if m.Direction == analytics.HigherIsBetter {
		text += " (higher is better)"
	}
	return text
}

// measureGrid has a line for each measure, with a column for each exclusion.
func measureGrid(list []analytics.Measure) grid.Table {
	columns := strings.Fields("measure name aligned proxy direction count n proportion percent ci95_low ci95_high unstable suppressed considered undetermined not_recorded")
	for _, reason := range analytics.ExclusionReasons() {
		columns = append(columns, "excluded_"+reason)
	}
	columns = append(columns, "numerator", "denominator", "definition", "caveat")
	var lines [][]any
	for i := range list {
		m := &list[i]
		low, high := limits(m.CI95)
		line := []any{m.ID, m.Name, m.Aligned, m.Proxy, m.Direction, m.Count, m.N, m.Proportion, m.Percent, low, high, m.Unstable, m.Suppressed, m.Considered, m.Undetermined, m.NotRecorded}
		for _, reason := range analytics.ExclusionReasons() {
			line = append(line, m.Exclusion(reason))
		}
		lines = append(lines, append(line, m.Numerator, m.Denominator, m.Definition, m.Caveat))
	}
	return grid.Table{Name: "Measures", Columns: columns, Rows: slices.Values(lines)}
}
