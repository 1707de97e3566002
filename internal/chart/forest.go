package chart

import (
	"fmt"
	"math"
)

// Forest compares groups with a reference: a square at the estimate, a whisker
// for its interval, and a line at no difference.
type Forest struct {
	Title string
	// Measure is the title of the axis, such as "difference in percentage
	// points".
	Measure string
	Rows    []Effect
}

// Effect is one group's estimate. Estimate is nil if there is none.
type Effect struct {
	Label               string
	Estimate, Low, High *float64
	Words               string // the number of patients, or why there is no estimate
}

func (e *Effect) words() string {
	if e.Estimate == nil {
		return e.Words
	}
	text := Decimals(*e.Estimate, 1)
	if e.Low != nil && e.High != nil {
		text += fmt.Sprintf(" (%s to %s)", Decimals(*e.Low, 1), Decimals(*e.High, 1))
	}
	if e.Words != "" {
		text += ", " + e.Words
	}
	return text
}

// Draw lays out the chart.
func (c *Forest) Draw(f Frame) *Scene {
	size := f.text()
	s := newScene(f, c.Title, fmt.Sprintf("%s by group, with 95 %% confidence intervals. No difference is 0.", c.Measure))
	texts := make([]rowText, len(c.Rows))
	for i := range c.Rows {
		texts[i] = rowText{c.Rows[i].Label, c.Rows[i].words()}
	}
	r := layRows(s, size, size*0.4, size*3.2, texts)
	ticks := c.ticks(max(2, int((r.right-r.left)/(size*6))))
	r.start, r.end = ticks[0].at, ticks[len(ticks)-1].at
	r.verticals(ticks)
	r.line(r.x(0), r.top, r.x(0), r.bottom, pen{Text, 1, dashed})
	for i := range c.Rows {
		row := &c.Rows[i]
		if row.Estimate == nil {
			continue
		}
		middle := r.middle(i)
		r.whisker(middle, size*0.3, row.Low, row.High, 1)
		s.mark(square, point{r.x(*row.Estimate), middle}, size*0.7, Accent, pen{Surface, 0.8, nil})
	}
	measure := Regular.Fit(printable(c.Measure), size, s.Width)
	half := Regular.Width(measure, size) / 2
	s.write(label{text: measure, x: min(max((r.left+r.right)/2, half), s.Width-half), y: r.bottom + size*2.7, anchor: Middle, size: size, ink: Muted})
	return s
}

// ticks extend equally far on both sides, to cover the estimates and their
// intervals.
func (c *Forest) ticks(about int) []tick {
	var reach float64
	for i := range c.Rows {
		for _, v := range []*float64{c.Rows[i].Estimate, c.Rows[i].Low, c.Rows[i].High} {
			if v != nil && finite(*v) {
				reach = max(reach, math.Abs(*v))
			}
		}
	}
	side := numberTicks(reach, max(1, about/2))
	var ticks []tick
	for i := len(side) - 1; i > 0; i-- {
		ticks = append(ticks, tick{-side[i].at, formatNumber(-side[i].at)})
	}
	return append(ticks, side...)
}

// Table lists the estimates.
func (c *Forest) Table() (header []string, table [][]string) {
	for i := range c.Rows {
		table = append(table, []string{c.Rows[i].Label, c.Rows[i].words()})
	}
	return []string{"Group", c.Measure + " (95 % CI)"}, table
}
