package chart

import "time"

// plot is the data area of a scene, with axes around it.
type plot struct {
	*Scene
	box
	size       float64 // font size
	low, high  float64 // values at the bottom and top
	start, end float64 // values at the left and right
}

func newScene(f Frame, title, desc string) *Scene {
	return &Scene{Width: f.Width, Height: f.Height, Title: title, Desc: desc}
}

// x and y return the positions of values. If the range is empty, they are in
// the middle.
func (p *plot) x(v float64) float64 { return between(p.left, p.right, p.start, p.end, v) }
func (p *plot) y(v float64) float64 { return between(p.bottom, p.top, p.low, p.high, v) }

func between(a, b, from, to, v float64) float64 {
	if to == from {
		return (a + b) / 2
	}
	return a + (b-a)*(v-from)/(to-from)
}

// day returns the position of a time, if the range is in [seconds].
func (p *plot) day(t time.Time) float64 { return p.x(seconds(t)) }

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

func midnight(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// dense reports whether this many points would be indistinguishable.
func (p *plot) dense(all int) bool {
	return (p.right-p.left)/float64(max(all, 1)) < p.size*0.7
}

// join draws a line through points, and the points themselves unless the chart
// has too many in all. A single point is always drawn.
func (p *plot) join(run []point, all int) {
	p.polyline(run, pen{Accent, 1.6, nil})
	across := p.size * 0.55
	if p.dense(all) {
		if len(run) > 1 {
			return
		}
		across = p.size * 0.3
	}
	for _, at := range run {
		p.mark(disc, at, across, Accent, pen{Surface, 0.8, nil})
	}
}

// horizontals draws horizontal grid lines with labels on the left: first those
// at the ends, then as many others as fit.
func (p *plot) horizontals(ticks []tick) {
	for _, t := range ticks {
		p.line(p.left, p.y(t.at), p.right, p.y(t.at), pen{Grid, 0.7, nil})
	}
	last := len(ticks) - 1
	for i := range ticks {
		t := ticks[(i+last)%len(ticks)]
		p.writeIfFree(label{text: t.label, x: p.left - p.size*0.45, y: p.y(t.at) + p.size*0.33, anchor: End, size: p.size, ink: Muted})
	}
}

// bottomAxis draws the axis with labels below. Ticks are in scene coordinates.
// The first and last label are moved inwards so that they are complete.
func (p *plot) bottomAxis(ticks []tick) {
	p.line(p.left, p.bottom, p.right, p.bottom, pen{Axis, 1, nil})
	for _, t := range ticks {
		p.line(t.at, p.bottom, t.at, p.bottom+p.size*0.3, pen{Axis, 1, nil})
		half := Regular.Width(t.label, p.size) / 2
		p.writeIfFree(label{text: t.label, x: min(max(t.at, half), p.Width-half), y: p.bottom + p.size*1.35, anchor: Middle, size: p.size, ink: Muted})
	}
}

// dates draws the time axis.
func (p *plot) dates(from, to time.Time) {
	p.bottomAxis(dateTicks(from, to, p.size, p.day))
}

// numbers draws a numeric axis starting at 0.
func (p *plot) numbers(ticks []tick) {
	placed := make([]tick, len(ticks))
	for i, t := range ticks {
		placed[i] = tick{p.x(t.at), t.label}
	}
	p.bottomAxis(placed)
}

// sideLeft and sideRight return the minimum margins of charts over time, so
// that charts above each other show a day at the same position.
func sideLeft(size float64, ticks ...string) float64 {
	return size*0.6 + max(widest(Regular, size, ticks...), Regular.Width("100", size))
}

func sideRight(size float64, words ...string) float64 {
	return size*0.6 + max(widest(Regular, size, words...), Regular.Width("moderate ≥ 4", size))
}

// widest returns the width of the widest text.
func widest(w Weight, size float64, texts ...string) float64 {
	var most float64
	for _, s := range texts {
		most = max(most, w.Width(printable(s), size))
	}
	return most
}

func labels(ticks []tick) []string {
	list := make([]string, len(ticks))
	for i, t := range ticks {
		list[i] = t.label
	}
	return list
}

// marker is the shape of a point.
type marker uint8

const (
	disc marker = iota
	triangleUp
	triangleDown
	diamond
	square
)

// mark draws a shape of a given size around a point.
func (s *Scene) mark(m marker, at point, across float64, fill Ink, p pen) {
	r := across / 2
	switch m {
	case disc:
		s.dot(at, r, fill, p)
	case triangleUp:
		s.polygon([]point{{at.x, at.y - r}, {at.x + r, at.y + r}, {at.x - r, at.y + r}}, fill, p)
	case triangleDown:
		s.polygon([]point{{at.x, at.y + r}, {at.x + r, at.y - r}, {at.x - r, at.y - r}}, fill, p)
	case diamond:
		s.polygon([]point{{at.x, at.y - r*1.2}, {at.x + r*1.2, at.y}, {at.x, at.y + r*1.2}, {at.x - r*1.2, at.y}}, fill, p)
	case square:
		s.rect(box{at.x - r*0.9, at.y - r*0.9, at.x + r*0.9, at.y + r*0.9}, fill, p)
	}
}
