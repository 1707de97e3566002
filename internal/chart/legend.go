package chart

// legend is what the signs of a chart mean. Each is drawn by a function into a
// box of the height of a line.
type legend []legendEntry

type legendEntry struct {
	text string
	draw func(b box)
}

// signWidth is the width of a legend's sign, in sizes of letters.
const signWidth = 1.8

// draw sets the entries side by side from a point on, in as many lines as they
// need, and returns the height of those.
func (l legend) draw(s *Scene, left, top, right, size float64) float64 {
	x, y := left, top
	sign := size * (signWidth + 0.4)
	for _, e := range l {
		text := Regular.Fit(printable(e.text), size, right-left-sign)
		width := sign + Regular.Width(text, size)
		if x > left && x+width > right {
			x, y = left, y+size*1.5
		}
		e.draw(box{x, y, x + size*signWidth, y + size})
		s.write(label{text: text, x: x + sign, y: y + size*0.9, size: size, ink: Muted})
		x += width + size*1.4
	}
	return y + size*1.5 - top
}

// sign is how a part of a stacked bar looks.
type sign struct {
	name  string
	fill  Ink
	hatch Hatch
}

// draw draws a part of a bar, or its entry in a legend.
func (g sign) draw(s *Scene, b box) { s.hatched(b, g.fill, g.hatch, pen{Axis, 0.6, nil}) }

// signs is the legend of stacked bars.
func signs(s *Scene, list []sign) (l legend) {
	for _, g := range list {
		l = append(l, legendEntry{g.name, func(b box) { g.draw(s, b) }})
	}
	return l
}
