package chart

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Trend shows the mean pain over patients by bucket, on 0-10.
type Trend struct {
	Title  string
	Points []TrendPoint // sorted by time, equally spaced
	Bands  Bands
}

// TrendPoint is one bucket. The mean is nil if there are no or too few scores.
type TrendPoint struct {
	Start     time.Time
	Mean      *float64
	Low, High *float64
	N         *int // patients; nil if hidden
}

// Draw lays out the chart, with the number of patients below each bucket.
func (c *Trend) Draw(f Frame) *Scene {
	size := f.text()
	s := newScene(f, c.Title, c.describe())
	names := c.Bands.names()
	p := &plot{Scene: s, size: size, low: 0, high: 10}
	p.left, p.right = sideLeft(size), f.Width-sideRight(size, names[:]...)
	p.top, p.bottom = size*0.7, f.Height-size*3.2
	c.Bands.draw(p, names)
	p.horizontals([]tick{{0, "0"}, {2, "2"}, {4, "4"}, {6, "6"}, {8, "8"}, {10, "10"}})
	if len(c.Points) == 0 {
		p.bottomAxis(nil)
		return s
	}
	first, last := c.Points[0].Start, c.Points[len(c.Points)-1].Start
	pad := (seconds(last) - seconds(first)) / float64(2*max(len(c.Points)-1, 1))
	p.start, p.end = seconds(first)-pad, seconds(last)+pad
	p.dates(first, last)
	c.counts(p)
	c.curve(p)
	return s
}

// curve draws the means with their intervals, joined unless a bucket between
// them has none.
func (c *Trend) curve(p *plot) {
	var run, low, high []point
	flush := func() {
		p.intervals(low, high, len(c.Points))
		p.join(run, len(c.Points))
		run, low, high = nil, nil, nil
	}
	for _, pt := range c.Points {
		if pt.Mean == nil {
			flush()
			continue
		}
		x := p.day(pt.Start)
		run = append(run, point{x, p.y(*pt.Mean)})
		if pt.Low != nil && pt.High != nil {
			low, high = append(low, point{x, p.y(max(*pt.Low, 0))}), append(high, point{x, p.y(min(*pt.High, 10))})
		}
	}
	flush()
}

// intervals draws whiskers, or one band if there are too many to be
// distinguished.
func (p *plot) intervals(low, high []point, all int) {
	if p.dense(all) && len(low) > 1 {
		around := slices.Clone(low)
		for _, at := range slices.Backward(high) {
			around = append(around, at)
		}
		p.polygon(around, AccentSoft, pen{})
		return
	}
	half := p.size * 0.22
	for i := range low {
		for _, line := range [][2]point{{low[i], high[i]}, {{low[i].x - half, low[i].y}, {low[i].x + half, low[i].y}}, {{high[i].x - half, high[i].y}, {high[i].x + half, high[i].y}}} {
			p.line(line[0].x, line[0].y, line[1].x, line[1].y, pen{Accent, 1, nil})
		}
	}
}

// counts writes the number of patients of each mean, as many as fit.
func (c *Trend) counts(p *plot) {
	y := p.bottom + p.size*2.7
	p.write(label{text: "n", x: p.left - p.size*0.45, y: y, anchor: End, size: p.size, ink: Muted})
	for _, pt := range c.Points {
		text := "–"
		if pt.N != nil {
			text = strconv.Itoa(*pt.N)
		}
		l := label{text: text, x: p.day(pt.Start), y: y, anchor: Middle, size: p.size, ink: Muted}
		b := l.box()
		gap := p.size * 0.4
		free := true
		for _, o := range p.taken {
			free = free && !(box{b.left - gap, b.top, b.right + gap, b.bottom}).meets(o)
		}
		if free {
			p.write(l)
		}
	}
}

func (c *Trend) describe() string {
	var first, last *TrendPoint
	known := 0
	for i := range c.Points {
		if c.Points[i].Mean == nil {
			continue
		}
		if first == nil {
			first = &c.Points[i]
		}
		last = &c.Points[i]
		known++
	}
	if known == 0 {
		return "Mean pain over patients: nothing to show."
	}
	return fmt.Sprintf("Mean pain over patients from 0 to 10, %d of %d periods with data; %s in the first, %s in the last.",
		known, len(c.Points), formatNumber(*first.Mean), formatNumber(*last.Mean))
}

// Table lists the buckets.
func (c *Trend) Table() (header []string, rows [][]string) {
	for _, pt := range c.Points {
		mean, interval := "–", "–"
		if pt.Mean != nil {
			mean = formatNumber(*pt.Mean)
		}
		if pt.Low != nil && pt.High != nil {
			interval = formatNumber(*pt.Low) + " to " + formatNumber(*pt.High)
		}
		rows = append(rows, []string{pt.Start.UTC().Format(time.DateOnly), mean, interval, count(pt.N)})
	}
	return []string{"From", "Mean", "95 % CI", "Patients"}, rows
}
