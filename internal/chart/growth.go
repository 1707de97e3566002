package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Growth shows how costs grow with size, on logarithmic axes: a constant cost
// is a horizontal line, and a linear cost rises at roughly 45 degrees.
type Growth struct {
	Title string
	// Size and Cost are the titles of the axes.
	Size, Cost string
	Lines      []GrowthLine
}

// GrowthLine is the cost of one operation.
type GrowthLine struct {
	Label  string
	Points []GrowthPoint // sorted by size
}

// GrowthPoint is a cost at a size. Points with a value that is not positive
// are omitted.
type GrowthPoint struct{ Size, Cost float64 }

// Values beyond these are drawn at the edge.
const (
	leastPower, mostPower = -3, 12
)

// power returns the position of a number on a logarithmic axis.
func power(f float64) float64 { return min(max(math.Log10(f), leastPower), mostPower) }

func (g GrowthPoint) drawable() bool {
	return g.Size > 0 && g.Cost > 0 && finite(g.Size) && finite(g.Cost)
}

// Styles of lines; neighbours differ in more than colour.
var (
	growthInks   = []Ink{Accent, Procedure, Medication, Threshold, Muted}
	growthDashes = [][]float64{nil, dashed, dotted}
)

// Draw lays out the chart. Each line is labelled at its end.
func (c *Growth) Draw(f Frame) *Scene {
	size := f.text()
	s := newScene(f, c.Title, c.describe())
	s.rect(box{0, 0, f.Width, f.Height}, Surface, pen{}) // it is shown as a file, on any background
	p := &plot{Scene: s, size: size}
	sizes := c.span(p)
	costs := powerTicks(p.low, p.high)
	names := make([]string, len(c.Lines))
	for i, l := range c.Lines {
		names[i] = Regular.Fit(printable(l.Label), size, f.Width*0.35)
	}
	p.left = size*1.1 + widest(Regular, size, labels(costs)...)
	p.right = max(p.left+size, f.Width-size*3-widest(Regular, size, names...))
	p.top, p.bottom = size*2.2, max(size*3, f.Height-size*3.2)
	s.write(label{text: Regular.Fit(printable(c.Cost), size, f.Width-size), x: size * 0.3, y: size, size: size, ink: Muted})
	p.horizontals(costs)
	placed := make([]tick, len(sizes))
	for i, at := range sizes {
		placed[i] = tick{p.x(power(at)), formatNumber(at)}
		p.line(placed[i].at, p.top, placed[i].at, p.bottom, pen{Grid, 0.7, nil})
	}
	slices.Reverse(placed) // label the largest first
	p.bottomAxis(placed)
	s.writeIfFree(label{text: Regular.Fit(printable(c.Size), size, p.right-p.left), x: p.right, y: p.bottom + size*2.6, anchor: End, size: size, ink: Muted})

	ends := make([]growthEnd, 0, len(c.Lines))
	for i, l := range c.Lines {
		var run []point
		for _, g := range l.Points {
			if g.drawable() {
				run = append(run, point{p.x(power(g.Size)), p.y(power(g.Cost))})
			}
		}
		if len(run) == 0 {
			continue
		}
		ink := growthInks[i%len(growthInks)]
		p.polyline(run, pen{ink, 1.6, growthDashes[i/len(growthInks)%len(growthDashes)]})
		for _, at := range run {
			p.mark(marker(i%int(square+1)), at, size*0.6, ink, pen{Surface, 0.8, nil})
		}
		ends = append(ends, growthEnd{names[i], run[len(run)-1], ink})
	}
	p.nameEnds(ends)
	return s
}

// span sets the ranges of the axes and returns the sizes.
func (c *Growth) span(p *plot) (sizes []float64) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, l := range c.Lines {
		for _, g := range l.Points {
			if g.drawable() {
				sizes = append(sizes, g.Size)
				low, high = min(low, power(g.Cost)), max(high, power(g.Cost))
			}
		}
	}
	if len(sizes) == 0 {
		low, high, sizes = 0, 1, []float64{1, 10}
	}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	p.low, p.high = math.Floor(low), math.Ceil(high)
	if p.low == p.high {
		p.high++
	}
	p.start, p.end = power(sizes[0]), power(sizes[len(sizes)-1])
	return sizes
}

// powerTicks returns the powers of ten in a range.
func powerTicks(low, high float64) (ticks []tick) {
	for at := low; at <= high; at++ {
		ticks = append(ticks, tick{at, formatNumber(math.Pow(10, at))})
	}
	return ticks
}

// growthEnd is the end of a line and its label.
type growthEnd struct {
	name string
	at   point
	ink  Ink
}

// nameEnds writes the labels beside the ends, moved apart where lines end
// close to each other. A thin line connects each end with its label.
func (p *plot) nameEnds(ends []growthEnd) {
	slices.SortStableFunc(ends, func(a, b growthEnd) int { return cmp.Compare(a.at.y, b.at.y) })
	gap := p.size * 1.2
	places := make([]float64, len(ends))
	for i, e := range ends {
		places[i] = e.at.y
		if i > 0 {
			places[i] = max(places[i], places[i-1]+gap)
		}
	}
	most := p.bottom // the sizes are below
	for i := len(places) - 1; i >= 0; i-- {
		places[i] = min(places[i], most)
		most = places[i] - gap
	}
	x := p.right + p.size*2.2
	for i, e := range ends {
		if p.writeIfFree(label{text: e.name, x: x, y: places[i] + p.size*0.33, size: p.size, ink: Text}) {
			p.line(e.at.x+p.size*0.5, e.at.y, x-p.size*0.3, places[i], pen{e.ink, 0.7, nil})
		}
	}
}

func (c *Growth) describe() string {
	if len(c.Lines) == 0 {
		return "Nothing was measured."
	}
	text := fmt.Sprintf("%s by %s, on logarithmic axes.", c.Cost, c.Size)
	for _, l := range c.Lines {
		if n := len(l.Points); n > 1 && l.Points[0].drawable() && l.Points[n-1].drawable() {
			text += fmt.Sprintf(" %s: from %s to %s.", l.Label, formatNumber(l.Points[0].Cost), formatNumber(l.Points[n-1].Cost))
		}
	}
	return text
}

// Table lists the costs, with a row for each line and a column for each size.
func (c *Growth) Table() (header []string, rows [][]string) {
	var sizes []float64
	for _, l := range c.Lines {
		for _, g := range l.Points {
			sizes = append(sizes, g.Size)
		}
	}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	header = []string{c.Cost}
	for _, size := range sizes {
		header = append(header, formatNumber(size))
	}
	for _, l := range c.Lines {
		row := make([]string, len(header))
		row[0] = l.Label
		for _, g := range l.Points {
			if at := slices.Index(sizes, g.Size); at >= 0 { // fails for NaN
				row[at+1] = formatNumber(g.Cost)
			}
		}
		rows = append(rows, row)
	}
	return header, rows
}
