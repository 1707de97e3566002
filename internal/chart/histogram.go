package chart

import "fmt"

// Histogram is how many patients take which daily dose of opioids.
type Histogram struct {
	Title string
	Bins  []Bin // side by side, from the lowest dose up
}

// Bin is doses from Low to below High; the count is nil when hidden.
type Bin struct {
	Low, High float64
	Count     *int
	// Open is set when the last bin has no end: High is then only where it is
	// drawn to.
	Open bool
}

func (b *Bin) name() string {
	if b.Open {
		return "≥ " + formatNumber(b.Low)
	}
	return formatNumber(b.Low) + " to < " + formatNumber(b.High)
}

// Draw lays the chart out; bars are as wide as their doses are apart.
func (c *Histogram) Draw(f Frame) *Scene {
	size := f.text()
	s := newScene(f, c.Title, "Number of patients by daily opioid dose in MME. Lines mark 50 and 90.")
	most := 0
	var end float64 = highFrom + 10
	for i := range c.Bins {
		if n := c.Bins[i].Count; n != nil {
			most = max(most, *n)
		}
		end = max(end, c.Bins[i].High)
	}
	ticks := wholeTicks(most, max(2, int(f.Height/(size*4))))
	p := &plot{Scene: s, size: size, high: ticks[len(ticks)-1].at, end: end}
	p.box = box{size*0.6 + widest(Regular, size, labels(ticks)...), size * 3, f.Width - size, f.Height - size*3.2}
	p.horizontals(ticks)
	for i := range c.Bins {
		bin := &c.Bins[i]
		left, right := p.x(bin.Low)+0.5, p.x(bin.High)-0.5
		middle := (left + right) / 2
		if bin.Count == nil {
			p.writeIfFree(label{text: "few", x: middle, y: p.bottom - size*0.4, anchor: Middle, size: size * 0.9, ink: Muted})
			continue
		}
		hatch, fill := Plain, AccentSoft
		switch {
		case bin.Low >= highFrom:
			hatch, fill = Crossed, FillSevere
		case bin.Low >= reviewFrom:
			hatch, fill = Falling, FillModerate
		}
		if *bin.Count > 0 {
			p.hatched(box{left, p.y(float64(*bin.Count)), right, p.bottom}, fill, hatch, pen{Axis, 0.6, nil})
		}
		p.writeIfFree(label{text: count(bin.Count), x: middle, y: p.y(float64(*bin.Count)) - size*0.35, anchor: Middle, weight: Bold, size: size * 0.9})
	}
	for _, at := range []float64{reviewFrom, highFrom} {
		p.line(p.x(at), p.top-size*1.2, p.x(at), p.bottom, pen{Threshold, 1, dashed})
		text := fmt.Sprintf("≥ %g", at)
		p.write(label{text: text, x: p.x(at), y: p.top - size*1.5, anchor: Middle, weight: Bold, size: size, ink: Threshold})
	}
	p.numbers(numberTicksTo(end, max(2, int((p.right-p.left)/(size*5)))))
	p.write(label{text: "MME a day", x: (p.left + p.right) / 2, y: p.bottom + size*2.7, anchor: Middle, size: size, ink: Muted})
	return s
}

// wholeTicks are round whole numbers.
func wholeTicks(most, about int) []tick {
	return numberTicks(float64(max(most, about)), about)
}

// numberTicksTo are round numbers from 0 that do not go beyond the end.
func numberTicksTo(end float64, about int) []tick {
	ticks := numberTicks(end, about)
	for len(ticks) > 1 && ticks[len(ticks)-1].at > end {
		ticks = ticks[:len(ticks)-1]
	}
	return ticks
}

// Table lists the bins.
func (c *Histogram) Table() (header []string, rows [][]string) {
	for i := range c.Bins {
		rows = append(rows, []string{c.Bins[i].name(), count(c.Bins[i].Count)})
	}
	return []string{"MME a day", "Patients"}, rows
}
