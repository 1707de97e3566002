package chart

import "fmt"

// Severity shows the number of patients with no, mild, moderate and severe
// pain, by group.
type Severity struct {
	Title string
	Rows  []SeverityRow
}

// SeverityRow is one group. Counts are for none, mild, moderate and severe;
// nil if too small to be shown.
type SeverityRow struct {
	Label  string
	Counts [4]*int
}

var severitySigns = []sign{{"none", FillNone, Plain}, {"mild", FillMild, Rising}, {"moderate", FillModerate, Falling}, {"severe", FillSevere, Crossed}}

// total returns the sum of a row. It is not ok if a part is hidden.
func (r *SeverityRow) total() (n int, ok bool) {
	for _, c := range r.Counts {
		if c == nil {
			return 0, false
		}
		n += *c
	}
	return n, true
}

func (r *SeverityRow) words() string {
	n, ok := r.total()
	if !ok {
		return "hidden: few patients"
	}
	return "n = " + formatNumber(float64(n))
}

// Draw lays out the chart.
func (c *Severity) Draw(f Frame) *Scene {
	size := f.text()
	s := newScene(f, c.Title, fmt.Sprintf("Share of patients by severity of pain, %d groups.", len(c.Rows)))
	texts := make([]rowText, len(c.Rows))
	for i := range c.Rows {
		texts[i] = rowText{c.Rows[i].Label, c.Rows[i].words()}
	}
	above := signs(s, severitySigns).draw(s, 0, 0, f.Width, size) + size*0.4
	r := layRows(s, size, above, size*1.8, texts)
	r.start, r.end = 0, 100
	r.verticals(percentTicks)
	for i := range c.Rows {
		row := &c.Rows[i]
		middle := r.middle(i)
		n, ok := row.total()
		if !ok || n == 0 {
			continue
		}
		half := min(r.height*0.36, size*0.85)
		from := 0.0
		for k, sign := range severitySigns {
			share := 100 * float64(*row.Counts[k]) / float64(n)
			if share == 0 {
				continue
			}
			b := box{r.x(from), middle - half, r.x(from + share), middle + half}
			sign.draw(s, b)
			within(s, b, Decimals(share, 0)+" %", size*0.9, sign.fill)
			from += share
		}
	}
	return s
}

// within writes text into a hatched box, on a plain background, if it fits.
func within(s *Scene, b box, text string, size float64, ground Ink) {
	l := label{text: text, x: (b.left + b.right) / 2, y: (b.top+b.bottom)/2 + size*0.33, anchor: Middle, weight: Bold, size: size}
	at := l.box()
	pad := size * 0.25
	if at.right-at.left+4*pad > b.right-b.left || at.bottom-at.top > b.bottom-b.top {
		return
	}
	s.rect(box{at.left - pad, max(at.top, b.top+0.8), at.right + pad, min(at.bottom, b.bottom-0.8)}, ground, pen{})
	s.write(l)
}

// Table lists the counts.
func (c *Severity) Table() (header []string, table [][]string) {
	header = []string{"Group"}
	for _, sign := range severitySigns {
		header = append(header, sign.name)
	}
	for i := range c.Rows {
		cells := []string{c.Rows[i].Label}
		for _, n := range c.Rows[i].Counts {
			cells = append(cells, count(n))
		}
		table = append(table, append(cells, c.Rows[i].words()))
	}
	return append(header, "all"), table
}
