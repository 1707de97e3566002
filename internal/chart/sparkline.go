package chart

import "strconv"

// Sparkline shows a few values without axes; nil is a gap.
type Sparkline struct {
	Title     string
	Values    []*float64
	Low, High float64 // the range drawn; use the same to compare charts
}

// Draw lays out the line.
func (c *Sparkline) Draw(f Frame) *Scene {
	s := newScene(f, c.Title, "")
	r := min(f.Height*0.12, 3)
	p := &plot{Scene: s, box: box{r + 1, r + 1, f.Width - r - 1, f.Height - r - 1}, low: c.Low, high: c.High, end: float64(len(c.Values) - 1)}
	var run []point
	var last *point
	first := ""
	flush := func() {
		if len(run) == 1 {
			s.dot(run[0], r*0.7, Accent, pen{})
		}
		s.polyline(run, pen{Accent, 1.4, nil})
		run = nil
	}
	for i, v := range c.Values {
		if v == nil || !finite(*v) {
			flush()
			continue
		}
		at := point{p.x(float64(i)), p.y(min(max(*v, c.Low), c.High))}
		run, last = append(run, at), &at
		if first == "" {
			first = formatNumber(*v)
		}
		s.Desc = "From " + first + " to " + formatNumber(*v) + "."
	}
	flush()
	if last == nil {
		s.Desc = "No values."
	} else {
		s.dot(*last, r, Accent, pen{Surface, 0.8, nil})
	}
	return s
}

// Table lists the values.
func (c *Sparkline) Table() (header []string, rows [][]string) {
	for i, v := range c.Values {
		cell := "–"
		if v != nil {
			cell = formatNumber(*v)
		}
		rows = append(rows, []string{strconv.Itoa(i + 1), cell})
	}
	return []string{"No.", "Value"}, rows
}
