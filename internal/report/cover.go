package report

import (
	"fmt"
	"strings"

	"anodyne.example/anodyne/internal/chart"
	"anodyne.example/anodyne/internal/figure"
)

// cover writes the top of a document about many patients.
func (s *sheet) cover(about string) {
	h := s.head
	const side = 150.0
	height := s.heading(s.y, fullWidth-side-16, s.title)
	right := margin + fullWidth
	s.text(right, s.y+8, "PERIOD", caption.at(chart.End))
	s.text(right, s.y+20, fmt.Sprintf("%s to %s", h.From, h.To), strong.at(chart.End))
	s.text(right, s.y+34, "FIGURES AS OF", caption.at(chart.End))
	s.text(right, s.y+46, h.To.String(), strong.at(chart.End))
	y := s.y + height
	y += s.block(margin, y, fullWidth-side-16, about, body, 3)
	s.y = max(y, s.y+50) + 4
	if len(h.Filters) > 0 {
		var parts []string
		for _, f := range h.Filters {
			parts = append(parts, figure.Words(f.Name)+": "+f.Value)
		}
		s.paragraph("Parameters: "+strings.Join(parts, "; ")+".", small)
	}
	s.rule(s.y, chart.Grid)
	s.y += 10
}
