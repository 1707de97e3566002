package chart

import "fmt"

// Histogram shows the number of patients by daily opioid dose.
type Histogram struct {
	Title string
	Bins  []Bin // adjacent, in ascending order
	// Apart are patients with an unknown dose, shown in separate bars after the
	// doses.
	Apart []Apart
}

// Apart is a group of patients who are in no bin. The count is nil if hidden.
type Apart struct {
	Name  string
	Count *int
}

// Bin is a range of doses from Low to below High. The count is nil if hidden.
type Bin struct {
	Low, High float64
	Count     *int
	// Open is set if the last bin has no upper limit.
	Open bool
}

func (b *Bin) name() string {
	if b.Open {
		return "≥ " + formatNumber(b.Low)
	}
	return formatNumber(b.Low) + " to < " + formatNumber(b.High)
}

// Draw lays out the chart. Bins are drawn equally wide, because their heights
// are counts; the edges between them are labelled.
func (c *Histogram) Draw(f Frame) *Scene {
	size := f.text()
	s := newScene(f, c.Title, "Number of patients by daily opioid dose in MME. Lines mark 50 and 90.")
	most := 0
	for i := range c.Bins {
		if n := c.Bins[i].Count; n != nil {
			most = max(most, *n)
		}
	}
	for _, a := range c.Apart {
		if a.Count != nil {
			most = max(most, *a.Count)
		}
	}
	ticks := wholeTicks(most, max(2, int(f.Height/(size*5))))
	p := &plot{Scene: s, size: size, high: ticks[len(ticks)-1].at, end: max(float64(len(c.Bins))+apartWidth*float64(len(c.Apart)), 1)}
	p.box = box{size*0.6 + widest(Regular, size, labels(ticks)...), size * 3, f.Width - size, f.Height - size*3.2}
	p.horizontals(ticks)
	for i := range c.Bins {
		bin := &c.Bins[i]
		hatch, fill := Plain, AccentSoft
		switch {
		case bin.Low >= highFrom:
			hatch, fill = Crossed, FillSevere
		case bin.Low >= reviewFrom:
			hatch, fill = Falling, FillModerate
		}
		c.bar(p, p.x(float64(i))+1, p.x(float64(i+1))-1, bin.Count, fill, hatch)
	}
	for i, a := range c.Apart {
		from := float64(len(c.Bins)) + apartWidth*float64(i)
		left, right := p.x(from+apartWidth*0.2), p.x(from+apartWidth)-1
		c.bar(p, left, right, a.Count, FillNone, Rising)
		p.writeIfFree(label{text: a.Name, x: (left + right) / 2, y: p.bottom + size*1.35, anchor: Middle, size: size, ink: Muted})
	}
	for _, at := range []float64{reviewFrom, highFrom} {
		if edge, ok := c.edge(at); ok {
			x := p.x(edge)
			p.line(x, p.top-size*1.2, x, p.bottom, pen{Threshold, 1, dashed})
			p.writeIfFree(label{text: fmt.Sprintf("%g MME", at), x: x, y: p.top - size*1.5, anchor: Middle, weight: Bold, size: size, ink: Threshold})
		}
	}
	var edges []tick
	for i := range c.Bins {
		edges = append(edges, tick{p.x(float64(i)), formatNumber(c.Bins[i].Low)})
		if i == len(c.Bins)-1 && !c.Bins[i].Open {
			edges = append(edges, tick{p.x(float64(i + 1)), formatNumber(c.Bins[i].High)})
		}
	}
	p.bottomAxis(edges)
	p.write(label{text: "MME a day", x: (p.left + p.right) / 2, y: p.bottom + size*2.7, anchor: Middle, size: size, ink: Muted})
	return s
}

// apartWidth is the width of a bar for unknown doses with the space before it,
// in bins.
const apartWidth = 0.8

func (c *Histogram) bar(p *plot, left, right float64, n *int, fill Ink, hatch Hatch) {
	middle := (left + right) / 2
	if n == nil {
		p.writeIfFree(label{text: "hidden", x: middle, y: p.bottom - p.size*0.4, anchor: Middle, size: p.size * 0.9, ink: Muted})
		return
	}
	if *n > 0 {
		p.hatched(box{left, p.y(float64(*n)), right, p.bottom}, fill, hatch, pen{Axis, 0.6, nil})
	}
	p.writeIfFree(label{text: count(n), x: middle, y: p.y(float64(*n)) - p.size*0.35, anchor: Middle, weight: Bold, size: p.size * 0.9})
}

// edge returns the position of a dose, in bins.
func (c *Histogram) edge(dose float64) (_ float64, ok bool) {
	for i := range c.Bins {
		if b := &c.Bins[i]; b.Low <= dose && (dose < b.High || b.Open) {
			return between(float64(i), float64(i+1), b.Low, b.High, dose), true
		}
	}
	return 0, false
}

// wholeTicks returns round whole numbers.
func wholeTicks(most, about int) []tick {
	return numberTicks(float64(max(most, about)), about)
}

// Table lists the bins.
func (c *Histogram) Table() (header []string, rows [][]string) {
	for i := range c.Bins {
		rows = append(rows, []string{c.Bins[i].name(), count(c.Bins[i].Count)})
	}
	for _, a := range c.Apart {
		rows = append(rows, []string{a.Name, count(a.Count)})
	}
	return []string{"MME a day", "Patients"}, rows
}
