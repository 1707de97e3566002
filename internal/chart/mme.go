package chart

import (
	"fmt"
	"slices"
	"time"
)

// MME shows the daily opioid dose over time, in morphine milligram
// equivalents.
type MME struct {
	Title    string
	From, To time.Time // days, inclusive
	Runs     []MMERun  // in order
}

// MMERun is a range of days with the same dose, inclusive. Without MME no dose
// counts; an incomplete dose may be too low.
type MMERun struct {
	From, To   time.Time
	MME        *float64
	Incomplete bool
}

// The doses that call for a review.
const (
	reviewFrom = 50
	highFrom   = 90
)

// Draw lays out the chart.
func (c *MME) Draw(f Frame) *Scene {
	size := f.text()
	from, to := midnight(c.From), midnight(c.To).AddDate(0, 0, 1)
	cut := *c
	cut.Runs = slices.DeleteFunc(slices.Clone(c.Runs), func(r MMERun) bool { return r.To.Before(from) || !r.From.Before(to) })
	c = &cut
	s := newScene(f, c.Title, c.describe())
	ticks := numberTicks(max(100, c.peak()*1.05), max(2, int(f.Height/(size*4))))
	p := &plot{Scene: s, size: size, high: ticks[len(ticks)-1].at, start: seconds(from), end: seconds(to)}
	p.left, p.right = sideLeft(size, labels(ticks)...), f.Width-sideRight(size)
	p.bottom = f.Height - size*1.8
	p.top = c.legend(s).draw(s, p.left, 0, f.Width, size) + size*0.7

	p.horizontals(ticks)
	c.fill(p)
	thresholds(p)
	c.steps(p)
	p.dates(from, midnight(c.To))
	if len(c.Runs) == 0 {
		s.writeIfFree(label{text: "No opioid in this period", x: (p.left + p.right) / 2, y: p.y(p.high * 0.2), anchor: Middle, size: size, ink: Muted})
	}
	return s
}

// thresholds draws the lines at 50 and 90 with labels on the right.
func thresholds(p *plot) {
	for _, at := range []float64{reviewFrom, highFrom} {
		y := p.y(at)
		p.line(p.left, y, p.right, y, pen{Threshold, 1, dashed})
		p.writeIfFree(label{text: fmt.Sprintf("≥ %g MME", at), x: p.right + p.size*0.4, y: y + p.size*0.33, size: p.size, ink: Threshold})
	}
}

// span returns the position of a run, with a minimum width.
func (c *MME) span(p *plot, r *MMERun) (left, right float64) {
	left = max(p.day(midnight(r.From)), p.left)
	right = min(p.day(midnight(r.To).AddDate(0, 0, 1)), p.right)
	return left, max(right, left+0.5)
}

func (c *MME) fill(p *plot) {
	for i := range c.Runs {
		r := &c.Runs[i]
		left, right := c.span(p, r)
		switch {
		case r.MME == nil:
			p.hatched(box{left, p.y(p.high * 0.12), right, p.bottom}, FillNone, Crossed, pen{Axis, 0.6, nil})
		case r.Incomplete:
			p.hatched(box{left, p.y(*r.MME), right, p.bottom}, AccentSoft, Rising, pen{Accent, 0.5, nil})
		default:
			p.rect(box{left, p.y(*r.MME), right, p.bottom}, AccentSoft, pen{})
		}
	}
}

// steps draws the dose as a line that drops to zero on days without one.
func (c *MME) steps(p *plot) {
	var run []point
	flush := func() {
		if n := len(run); n > 0 {
			run = append(run, point{run[n-1].x, p.bottom})
		}
		p.polyline(run, pen{Accent, 1.6, nil})
		run = nil
	}
	var last time.Time
	for i := range c.Runs {
		r := &c.Runs[i]
		if r.MME == nil {
			flush()
			continue
		}
		left, right := c.span(p, r)
		if len(run) > 0 && midnight(r.From).Sub(midnight(last)) > 24*time.Hour {
			flush()
		}
		if len(run) == 0 {
			run = append(run, point{left, p.bottom})
		}
		y := p.y(*r.MME)
		run = append(run, point{left, y}, point{right, y})
		last = r.To
	}
	flush()
}

func (c *MME) legend(s *Scene) legend {
	var missing, incomplete bool
	for i := range c.Runs {
		missing = missing || c.Runs[i].MME == nil
		incomplete = incomplete || c.Runs[i].MME != nil && c.Runs[i].Incomplete
	}
	l := legend{{"MME a day", func(b box) {
		s.rect(box{b.left, b.top + 2, b.right, b.bottom}, AccentSoft, pen{})
		s.line(b.left, b.top+2, b.right, b.top+2, pen{Accent, 1.6, nil})
	}}}
	if incomplete {
		l = append(l, legendEntry{"at least: not all of the dose is known", func(b box) {
			s.hatched(b, AccentSoft, Rising, pen{Accent, 0.5, nil})
		}})
	}
	if missing {
		l = append(l, legendEntry{"dose not known or not counted", func(b box) {
			s.hatched(b, FillNone, Crossed, pen{Axis, 0.6, nil})
		}})
	}
	return l
}

func (c *MME) peak() (most float64) {
	for i := range c.Runs {
		if c.Runs[i].MME != nil {
			most = max(most, *c.Runs[i].MME)
		}
	}
	return most
}

func (c *MME) describe() string {
	if len(c.Runs) == 0 {
		return "No opioid in this period."
	}
	return fmt.Sprintf("Daily opioid dose in MME, %s to %s. The highest is %s. Lines mark 50 and 90.", dayLabel(c.From, true), dayLabel(c.To, true), formatNumber(c.peak()))
}

// Table lists the runs.
func (c *MME) Table() (header []string, rows [][]string) {
	for i := range c.Runs {
		r := &c.Runs[i]
		dose := "not known or not counted"
		if r.MME != nil {
			dose = formatNumber(*r.MME)
			if r.Incomplete {
				dose = "at least " + dose
			}
		}
		rows = append(rows, []string{r.From.UTC().Format(time.DateOnly), r.To.UTC().Format(time.DateOnly), dose})
	}
	return []string{"From", "To", "MME a day"}, rows
}
