package chart

// legend explains the signs of a chart. Each sign is drawn by a function into
// a box of the height of a line.
type legend []legendEntry

type legendEntry struct {
	text string
	draw func(b box)
}

// signWidth is the width of a sign in the legend, in font sizes.
const signWidth = 1.8

// draw writes the entries side by side, in as many lines as needed, and
// returns their height.
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

// sign is the style of a part of a stacked bar.
type sign struct {
	name  string
	fill  Ink
	hatch Hatch
}

// draw draws a part of a bar, or its entry in a legend.
func (g sign) draw(s *Scene, b box) { s.hatched(b, g.fill, g.hatch, pen{Axis, 0.6, nil}) }

// signs returns the legend of stacked bars.
func signs(s *Scene, list []sign) (l legend) {
	for _, g := range list {
		l = append(l, legendEntry{g.name, func(b box) { g.draw(s, b) }})
	}
	return l
}
