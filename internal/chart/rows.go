package chart

import "math"

// rows is the layout of charts with one line per group: names on the left,
// data in the middle, text on the right.
type rows struct {
	plot
	height float64 // of one line
}

// rowHeight is the usual height of a line, in font sizes.
const rowHeight = 2.1

// rowText is the text beside a line.
type rowText struct{ name, words string }

// layRows divides a frame and writes the texts. above and below are the space
// that the chart needs over and under its lines.
func layRows(s *Scene, size, above, below float64, texts []rowText) *rows {
	var left, right float64
	for _, t := range texts {
		left, right = max(left, Regular.Width(printable(t.name), size)), max(right, Regular.Width(printable(t.words), size))
	}
	left, right = min(left, s.Width*0.34), min(right, s.Width*0.36)
	r := &rows{plot: plot{Scene: s, size: size}}
	r.box = box{left + size*0.7, above, s.Width - right - size*0.9, s.Height - below}
	r.height = min(max(r.bottom-r.top, 0)/float64(max(len(texts), 1)), size*rowHeight)
	r.bottom = r.top + r.height*float64(len(texts))
	for i, t := range texts {
		y := r.middle(i) + size*0.33
		r.writeIfFree(label{text: Regular.Fit(printable(t.name), size, left), x: left, y: y, anchor: End, size: size})
		r.writeIfFree(label{text: Regular.Fit(printable(t.words), size, right), x: s.Width - right, y: y, size: size, ink: Muted})
	}
	return r
}

// middle returns the position of a line.
func (r *rows) middle(i int) float64 { return r.top + r.height*(float64(i)+0.5) }

// verticals draws vertical grid lines behind the rows, with an axis below.
func (r *rows) verticals(ticks []tick) {
	for _, t := range ticks {
		x := r.x(t.at)
		r.line(x, r.top, x, r.bottom, pen{Grid, 0.7, nil})
	}
	r.numbers(ticks)
}

// RowsHeight returns a comfortable height for a chart with this many lines.
// extras counts an axis, a legend and an axis title.
func RowsHeight(lines int, text float64, extras int) float64 {
	return text * (rowHeight*float64(lines) + 2*float64(extras))
}

// whisker draws an interval on a line.
func (r *rows) whisker(y, half float64, low, high *float64, scale float64) {
	if low == nil || high == nil {
		return
	}
	p := pen{Text, 1.2, nil}
	left, right := max(r.x(*low*scale), r.left), min(r.x(*high*scale), r.right)
	r.line(left, y, right, y, p)
	for _, end := range []struct{ drawn, meant float64 }{{left, *low}, {right, *high}} {
		if math.Abs(r.x(end.meant*scale)-end.drawn) < 0.01 { // a clipped end has no tick
			r.line(end.drawn, y-half, end.drawn, y+half, p)
		}
	}
}

var percentTicks = []tick{{0, "0 %"}, {25, "25 %"}, {50, "50 %"}, {75, "75 %"}, {100, "100 %"}}

// percent formats a proportion with one decimal.
func percent(share float64) string { return Decimals(100*share, 1) + " %" }

// count formats a number of patients that may be hidden.
func count(n *int) string {
	if n == nil {
		return "hidden"
	}
	return formatNumber(float64(*n))
}
