// Package chart draws the charts for reports and the portal. A chart lays
// itself out as a [Scene] of lines, shapes and texts, and a scene can be
// written as SVG or drawn on a PDF page.
//
// Three rules apply everywhere. Colour is never the only distinction: there is
// always a shape, a dash pattern, a hatch or a word too. No label is clipped
// or overlaps another: text is measured with its font, and shortened or
// omitted if it does not fit. Every chart has a table of its numbers, for
// readers who cannot see it.
//
// The package knows nothing of patients or the store: data is passed in as
// plain numbers that are already rounded.
package chart

// Chart can be drawn, and read as a table.
type Chart interface {
	// Draw lays out the chart for a frame.
	Draw(Frame) *Scene
	// Table returns the same data as text.
	Table() (header []string, rows [][]string)
}

// Frame is the space for a chart. Lengths are in points on paper and in CSS
// pixels on screen.
type Frame struct {
	Width, Height float64
	// Text is the font size; 0 means 11.
	Text float64
}

func (f Frame) text() float64 {
	if f.Text <= 0 {
		return 11
	}
	return f.Text
}
