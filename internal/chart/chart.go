// Package chart draws the charts of the house, once for paper and screen: a
// chart lays itself out as a [Scene] of lines, shapes and texts, and a scene
// writes itself as SVG or draws itself on a page of a PDF.
//
// Three rules hold everywhere. Nothing is told by colour alone: there is
// always a shape, a dash, a hatch or a word too. No label is clipped or lies
// on another: texts are measured with the font they are set in, and one that
// does not fit is shortened or left out. And every chart has its numbers as a
// table, for those who cannot see it.
//
// The room knows nothing of patients and stores: data comes in as plain
// numbers, already rounded by whoever knows how.
package chart

// Chart is something that can be drawn, and read.
type Chart interface {
	// Draw lays the chart out for a frame.
	Draw(Frame) *Scene
	// Table is the same data in words and numbers.
	Table() (header []string, rows [][]string)
}

// Frame is the space that a chart gets. Lengths are in points on paper and in
// CSS pixels on screen.
type Frame struct {
	Width, Height float64
	// Text is the size of the letters; 0 for 11.
	Text float64
}

func (f Frame) text() float64 {
	if f.Text <= 0 {
		return 11
	}
	return f.Text
}
