package chart

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Pain shows a patient's pain over time, on 0-10, with treatments.
type Pain struct {
	Title string
	// From and To are the first and last day.
	From, To time.Time
	Points   []PainPoint // in order of time
	Bands    Bands
	Baseline *float64
	Events   []Event
}

// PainPoint is one score.
type PainPoint struct {
	At    time.Time
	Score float64
}

// Bands are the lower limits of moderate and severe pain.
type Bands struct{ Moderate, Severe float64 }

// EventKind is the kind of a treatment.
type EventKind uint8

// The kinds of events.
const (
	Started EventKind = iota
	Ended
	Procedural
	eventKinds
)

// Event is a treatment on a day.
type Event struct {
	At    time.Time
	Kind  EventKind
	Label string
}

// longestGap is the longest time between scores joined by a line: the pain in
// a longer gap is unknown.
const longestGap = 30 * 24 * time.Hour

var eventSigns = [eventKinds]struct {
	name string
	mark marker
	fill Ink
	ink  Ink
}{
	Started:    {"medicine started", triangleUp, Medication, Medication},
	Ended:      {"medicine ended", triangleDown, Surface, Medication},
	Procedural: {"procedure", diamond, Procedure, Procedure},
}

// within returns the chart without data outside its days.
func (c *Pain) within(from, to time.Time) *Pain {
	cut := *c
	outside := func(at time.Time) bool { return at.Before(from) || !at.Before(to) }
	cut.Points = slices.DeleteFunc(slices.Clone(c.Points), func(p PainPoint) bool { return outside(p.At) })
	cut.Events = slices.DeleteFunc(slices.Clone(c.Events), func(e Event) bool { return outside(e.At) })
	return &cut
}

// Draw lays out the chart.
func (c *Pain) Draw(f Frame) *Scene {
	size := f.text()
	from, to := midnight(c.From), midnight(c.To).AddDate(0, 0, 1)
	c = c.within(from, to)
	s := newScene(f, c.Title, c.describe())
	names := c.Bands.names()
	p := &plot{Scene: s, size: size, low: 0, high: 10, start: seconds(from), end: seconds(to)}
	p.left, p.right = sideLeft(size), f.Width-sideRight(size, names[:]...)
	p.bottom = f.Height - size*1.8

	legend := c.legend(s, size)
	p.top = legend.draw(s, p.left, 0, f.Width, size) + size*0.4
	flags := c.flags(p, int((p.bottom-p.top)*0.4/(size*1.25)))
	p.top += float64(flags.lanes)*size*1.25 + size*0.7
	if len(c.Events) > 0 {
		p.top += size * 0.8
	}

	c.Bands.draw(p, names)
	p.horizontals([]tick{{0, "0"}, {2, "2"}, {4, "4"}, {6, "6"}, {8, "8"}, {10, "10"}})
	flags.draw(p)
	p.dates(from, midnight(c.To))
	if c.Baseline != nil {
		y := p.y(*c.Baseline)
		p.line(p.left, y, p.right, y, pen{Accent, 1, dashed})
	}
	c.curve(p)
	if len(c.Points) == 0 {
		s.write(label{text: Regular.Fit("No comparable scores in this period", size, p.right-p.left), x: (p.left + p.right) / 2, y: p.y(5.3), anchor: Middle, size: size, ink: Muted})
	}
	return s
}

// names returns the labels of the bands, from the top.
func (b Bands) names() [3]string {
	return [3]string{"severe ≥ " + formatNumber(b.Severe), "moderate ≥ " + formatNumber(b.Moderate), "mild < " + formatNumber(b.Moderate)}
}

func (b Bands) draw(p *plot, names [3]string) {
	edges := [4]float64{10, b.Severe, b.Moderate, 0}
	for i, fill := range []Ink{BandSevere, BandModerate, BandMild} {
		band := box{p.left, p.y(edges[i]), p.right, p.y(edges[i+1])}
		p.rect(band, fill, pen{})
		if i > 0 {
			p.line(p.left, band.top, p.right, band.top, pen{Axis, 0.7, dotted})
		}
		p.writeIfFree(label{text: names[i], x: p.right + p.size*0.5, y: (band.top+band.bottom)/2 + p.size*0.33, size: p.size, ink: Muted})
	}
}

// curve draws the scores, joined if they are close in time.
func (c *Pain) curve(p *plot) {
	var run []point
	flush := func() { p.join(run, len(c.Points)); run = nil }
	for i, pt := range c.Points {
		if i > 0 && pt.At.Sub(c.Points[i-1].At) > longestGap {
			flush()
		}
		run = append(run, point{p.day(pt.At), p.y(pt.Score)})
	}
	flush()
	if n := len(c.Points); n > 0 {
		last := c.Points[n-1]
		x, y := p.day(last.At), p.y(last.Score)
		for _, dy := range []float64{-0.75, 1.45} {
			l := label{text: formatNumber(last.Score), x: min(x+p.size*0.5, p.right-p.size), y: y + dy*p.size, anchor: Middle, weight: Bold, size: p.size * 1.1, ink: Accent}
			if l.box().top > p.top-p.size*0.3 && l.box().bottom < p.bottom && p.writeIfFree(l) {
				break
			}
		}
	}
}

func (c *Pain) legend(s *Scene, size float64) legend {
	l := legend{{"pain, 0 to 10", func(b box) {
		y := (b.top + b.bottom) / 2
		s.line(b.left, y, b.right, y, pen{Accent, 1.6, nil})
		s.mark(disc, point{(b.left + b.right) / 2, y}, size*0.55, Accent, pen{Surface, 0.8, nil})
	}}}
	if c.Baseline != nil {
		l = append(l, legendEntry{"baseline " + formatNumber(*c.Baseline), func(b box) {
			s.line(b.left, (b.top+b.bottom)/2, b.right, (b.top+b.bottom)/2, pen{Accent, 1, dashed})
		}})
	}
	var seen [eventKinds]bool
	for _, e := range c.Events {
		seen[e.Kind] = true
	}
	for kind, sign := range eventSigns {
		if seen[kind] {
			l = append(l, legendEntry{sign.name, func(b box) {
				s.mark(sign.mark, point{(b.left + b.right) / 2, (b.top + b.bottom) / 2}, size*0.75, sign.fill, pen{sign.ink, 1, nil})
			}})
		}
	}
	return l
}

func (c *Pain) describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Pain from 0 to 10, %s to %s. ", dayLabel(c.From, true), dayLabel(c.To, true))
	switch n := len(c.Points); n {
	case 0:
		b.WriteString("No scores.")
	case 1:
		fmt.Fprintf(&b, "One score: %s on %s.", formatNumber(c.Points[0].Score), dayLabel(c.Points[0].At, true))
	default:
		least, most := c.Points[0].Score, c.Points[0].Score
		for _, pt := range c.Points {
			least, most = min(least, pt.Score), max(most, pt.Score)
		}
		fmt.Fprintf(&b, "%d scores, from %s to %s; the first is %s, the last %s.", n, formatNumber(least), formatNumber(most), formatNumber(c.Points[0].Score), formatNumber(c.Points[n-1].Score))
	}
	if n := len(c.Events); n > 0 {
		fmt.Fprintf(&b, " Events shown: %d.", n)
	}
	return b.String()
}

// Table lists scores and events by time.
func (c *Pain) Table() (header []string, rows [][]string) {
	for _, pt := range c.Points {
		rows = append(rows, []string{pt.At.UTC().Format(time.DateOnly), "pain", formatNumber(pt.Score)})
	}
	for _, e := range c.Events {
		rows = append(rows, []string{e.At.UTC().Format(time.DateOnly), eventSigns[e.Kind].name, e.Label})
	}
	sortByFirst(rows)
	return []string{"Date", "What", "Value"}, rows
}
