package chart

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Survival is a Kaplan-Meier curve: the proportion of patients without an
// event by day.
type Survival struct {
	Title string
	// Event is the event, such as "response of 30 %".
	Event  string
	Steps  []SurvivalStep // sorted by day
	Median *float64       // first day on which at most half remain, if any
}

// SurvivalStep is one step of the curve.
type SurvivalStep struct {
	Day      float64
	AtRisk   int // before the day's events
	Events   int
	Censored int     // since the previous step and before this one
	Share    float64 // after the day's events, from 0 to 1
	// Low and High are the 95 % interval of the proportion, or nil.
	Low, High *float64
}

// Draw lays out the chart, with the patients at risk below the steps.
func (c *Survival) Draw(f Frame) *Scene {
	size := f.text()
	s := newScene(f, c.Title, c.describe())
	var end float64 = 1
	if n := len(c.Steps); n > 0 {
		end = max(end, c.Steps[n-1].Day)
	}
	const row = "at risk"
	p := &plot{Scene: s, size: size, low: 0, high: 100}
	var first float64 // half the width of the first number at risk, which is centred on the axis
	if len(c.Steps) > 0 {
		first = Regular.Width(strconv.Itoa(c.Steps[0].AtRisk), size) / 2
	}
	p.left = size*1.1 + max(Regular.Width("100 %", size), Regular.Width(row, size)+first)
	p.right = f.Width - size*1.2
	ticks := numberTicks(end, max(2, int((p.right-p.left)/(size*6))))
	p.end = ticks[len(ticks)-1].at
	p.bottom = f.Height - size*4.5
	p.top = c.legend(s, size).draw(s, p.left, 0, f.Width, size) + size*0.7
	p.horizontals(percentTicks)

	c.bound(p, func(s *SurvivalStep) *float64 { return s.Low })
	c.bound(p, func(s *SurvivalStep) *float64 { return s.High })
	line := []point{{p.x(0), p.y(100)}}
	for _, step := range c.Steps {
		x := p.x(step.Day)
		line = append(line, point{x, line[len(line)-1].y}, point{x, p.y(100 * step.Share)})
	}
	p.polyline(line, pen{Accent, 1.8, nil})
	before, share := 0.0, 1.0
	for _, step := range c.Steps {
		if step.Censored > 0 {
			x, y := p.x((before+step.Day)/2), p.y(100*share)
			p.line(x, y-size*0.35, x, y+size*0.35, pen{Text, 1.2, nil})
		}
		before, share = step.Day, step.Share
	}
	if c.Median != nil {
		x, y := p.x(*c.Median), p.y(50)
		p.polyline([]point{{p.left, y}, {x, y}, {x, p.bottom}}, pen{Muted, 1, dashed})
	}
	p.numbers(ticks)
	p.write(label{text: "days", x: p.right, y: p.bottom + size*2.55, anchor: End, size: size, ink: Muted})
	y := p.bottom + size*4
	p.write(label{text: row, x: p.left - size*0.6 - first, y: y, anchor: End, size: size, ink: Muted})
	c.atRisk(p, y)
	return s
}

// boundPen draws the limits of the interval.
var boundPen = pen{Accent, 0.8, dotted}

// bound draws one limit of the interval, from the first step that has one to
// the first that has none.
func (c *Survival) bound(p *plot, of func(*SurvivalStep) *float64) {
	var line []point
	for i := range c.Steps {
		x, end := p.x(c.Steps[i].Day), of(&c.Steps[i])
		if len(line) > 0 {
			line = append(line, point{x, line[len(line)-1].y})
		}
		if end == nil {
			break
		}
		line = append(line, point{x, p.y(100 * *end)})
	}
	if len(line) > 1 {
		p.polyline(line, boundPen)
	}
}

// hasInterval reports whether any step has an interval.
func (c *Survival) hasInterval() bool {
	return slices.ContainsFunc(c.Steps, func(s SurvivalStep) bool { return s.Low != nil })
}

// atRisk writes the numbers at risk below the steps, as many as fit. They are
// only known on the days of the steps: patients censored in between, or after
// the last step, may have left on any day.
func (c *Survival) atRisk(p *plot, y float64) {
	end := math.Inf(-1)
	for _, step := range c.Steps {
		l := label{text: strconv.Itoa(step.AtRisk), x: p.x(step.Day), y: y, anchor: Middle, size: p.size, ink: Muted}
		if b := l.box(); b.left > end && p.writeIfFree(l) {
			end = b.right + p.size
		}
	}
}

func (c *Survival) legend(s *Scene, size float64) legend {
	l := legend{
		{"without " + c.Event, func(b box) {
			y := (b.top + b.bottom) / 2
			s.polyline([]point{{b.left, y - size*0.25}, {(b.left + b.right) / 2, y - size*0.25}, {(b.left + b.right) / 2, y + size*0.25}, {b.right, y + size*0.25}}, pen{Accent, 1.8, nil})
		}},
		{"censored", func(b box) {
			x, y := (b.left+b.right)/2, (b.top+b.bottom)/2
			s.line(b.left, y, b.right, y, pen{Accent, 1.8, nil})
			s.line(x, y-size*0.35, x, y+size*0.35, pen{Text, 1.2, nil})
		}},
	}
	if c.hasInterval() {
		l = append(l, legendEntry{"95 % confidence interval", func(b box) {
			s.line(b.left, (b.top+b.bottom)/2, b.right, (b.top+b.bottom)/2, boundPen)
		}})
	}
	if c.Median != nil {
		l = append(l, legendEntry{"median: day " + formatNumber(*c.Median), func(b box) {
			s.line(b.left, (b.top+b.bottom)/2, b.right, (b.top+b.bottom)/2, pen{Muted, 1, dashed})
		}})
	}
	return l
}

func (c *Survival) describe() string {
	if len(c.Steps) == 0 {
		return "Nobody to follow."
	}
	text := fmt.Sprintf("Share of %d patients without %s by day. ", c.Steps[0].AtRisk, c.Event)
	if c.Median != nil {
		return text + fmt.Sprintf("Half of them have had it by day %s.", formatNumber(*c.Median))
	}
	return text + "Fewer than half of them have had it."
}

// Table lists the steps.
func (c *Survival) Table() (header []string, rows [][]string) {
	for _, s := range c.Steps {
		interval := "–"
		if s.Low != nil && s.High != nil {
			interval = percent(*s.Low) + " to " + percent(*s.High)
		}
		rows = append(rows, []string{formatNumber(s.Day), strconv.Itoa(s.AtRisk), strconv.Itoa(s.Events), strconv.Itoa(s.Censored), percent(s.Share), interval})
	}
	return []string{"Day", "At risk", "Events", "Censored", "Without the event", "95 % interval"}, rows
}
