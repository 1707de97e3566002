package chart

import "math"

// Scene is a chart after layout: what to draw, in order, with the origin at
// the top left.
type Scene struct {
	Width, Height float64
	Title, Desc   string
	items         []item
	taken         []box // areas occupied by labels
}

// item is one element of a scene.
type item struct {
	// Of a shape.
	paths  [][]point // open, or closed if filled
	closed bool
	circle *circle
	stroke Ink
	width  float64
	dash   []float64
	fill   Ink
	// Of a text; label is not empty.
	label  string
	at     point
	anchor Anchor
	weight Weight
	size   float64
}

type point struct{ x, y float64 }

type circle struct {
	center point
	r      float64
}

// box is a rectangle in the scene.
type box struct{ left, top, right, bottom float64 }

func (b box) meets(o box) bool {
	return b.left < o.right && o.left < b.right && b.top < o.bottom && o.top < b.bottom
}

// Anchor is the part of a text that is aligned with its position.
type Anchor uint8

// The anchors.
const (
	Start Anchor = iota
	Middle
	End
)

// pen is the style of a line.
type pen struct {
	ink   Ink
	width float64
	dash  []float64
}

var (
	dashed = []float64{4, 3}
	dotted = []float64{1, 2.5}
)

func (s *Scene) add(it item) { s.items = append(s.items, it) }

func (s *Scene) line(x1, y1, x2, y2 float64, p pen) {
	s.polyline([]point{{x1, y1}, {x2, y2}}, p)
}

func (s *Scene) polyline(points []point, p pen) {
	if len(points) > 1 {
		s.add(item{paths: [][]point{points}, stroke: p.ink, width: p.width, dash: p.dash})
	}
}

func (s *Scene) polygon(points []point, fill Ink, p pen) {
	s.add(item{paths: [][]point{points}, closed: true, fill: fill, stroke: p.ink, width: p.width, dash: p.dash})
}

func (s *Scene) rect(b box, fill Ink, p pen) {
	s.polygon([]point{{b.left, b.top}, {b.right, b.top}, {b.right, b.bottom}, {b.left, b.bottom}}, fill, p)
}

func (s *Scene) dot(center point, r float64, fill Ink, p pen) {
	s.add(item{circle: &circle{center, r}, fill: fill, stroke: p.ink, width: p.width})
}

// label is a text to write, positioned on its base line.
type label struct {
	text   string
	x, y   float64
	anchor Anchor
	weight Weight
	size   float64
	ink    Ink
}

// Ascent and descent of the Go fonts, relative to the font size.
const (
	ascent  = 0.76
	descent = 0.22
)

func (l *label) box() box {
	width := l.weight.Width(l.text, l.size)
	left := l.x
	switch l.anchor {
	case Middle:
		left -= width / 2
	case End:
		left -= width
	}
	return box{left, l.y - ascent*l.size, left + width, l.y + descent*l.size}
}

// write writes a text, made printable, and reserves its area.
func (s *Scene) write(l label) {
	l.text, _ = Printable(l.text)
	if l.text == "" {
		return
	}
	if l.ink == None {
		l.ink = Text
	}
	s.taken = append(s.taken, l.box())
	s.add(item{label: l.text, at: point{l.x, l.y}, anchor: l.anchor, weight: l.weight, size: l.size, fill: l.ink})
}

// writeIfFree writes a text only if it overlaps no other and lies within the
// scene.
func (s *Scene) writeIfFree(l label) bool {
	l.text, _ = Printable(l.text)
	b := l.box()
	if l.text == "" || b.left < 0 || b.top < 0 || b.right > s.Width || b.bottom > s.Height {
		return false
	}
	for _, other := range s.taken {
		if b.meets(other) {
			return false
		}
	}
	s.write(l)
	return true
}

// Hatch is the texture of a filled shape.
type Hatch uint8

// The hatches.
const (
	Plain Hatch = iota
	Rising
	Falling
	Crossed
)

// hatched fills a rectangle and draws lines over it, clipped at its edges
// here, so that no backend needs patterns or clipping.
func (s *Scene) hatched(b box, fill Ink, h Hatch, p pen) {
	s.rect(b, fill, pen{})
	const gap = 4.5
	var lines [][]point
	width, height := b.right-b.left, b.bottom-b.top
	for offset := gap; h != Plain && offset < width+height; offset += gap {
		// from the left or bottom edge to the top or right edge
		from := point{b.left, b.top + offset}
		if offset > height {
			from = point{b.left + offset - height, b.bottom}
		}
		to := point{b.left + offset, b.top}
		if offset > width {
			to = point{b.right, b.top + offset - width}
		}
		if h != Falling {
			lines = append(lines, []point{from, to})
		}
		if h != Rising {
			mirror := func(q point) point { return point{b.left + b.right - q.x, q.y} }
			lines = append(lines, []point{mirror(from), mirror(to)})
		}
	}
	if len(lines) > 0 {
		s.add(item{paths: lines, stroke: p.ink, width: p.width})
	}
	s.rect(b, None, pen{p.ink, min(0.8, width/8), nil}) // a narrow bar would be nothing but edge
}

// finite keeps invalid coordinates out of a scene.
func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }
