package chart

import (
	"cmp"
	"fmt"
	"slices"
)

// flags are the events above a plot: a mark on the edge, and a line up to the
// label and down through the data. Labels are arranged in lanes, so that none
// overlaps another and no line crosses one.
type flags struct {
	events []Event
	placed []flag
	lanes  int
	hidden int // number of labels without a place
}

type flag struct {
	event       int
	x           float64
	left, right float64 // of the label
	lane        int     // counted from the plot upwards; -1 without a label
	text        string
}

// widestFlag limits the width of a label, in font sizes.
const widestFlag = 11

func (c *Pain) flags(p *plot, most int) flags {
	fl := flags{events: c.Events}
	order := make([]int, len(c.Events))
	for i := range order {
		order[i] = i
	}
	// From right to left: the next line then passes beside all labels, which
	// begin at their own line.
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(seconds(c.Events[b].At), seconds(c.Events[a].At)) })
	for _, i := range order {
		x := p.day(c.Events[i].At)
		text := Regular.Fit(printable(c.Events[i].Label), p.size, min(widestFlag*p.size, p.right-p.left))
		width := Regular.Width(text, p.size)
		left := min(x+p.size*0.35, p.Width-width)
		f := flag{event: i, x: x, left: left, right: left + width, text: text}
		f.lane = fl.free(&f, p.size*0.5, most)
		if f.lane < 0 {
			fl.hidden++
		}
		fl.lanes = max(fl.lanes, f.lane+1)
		fl.placed = append(fl.placed, f)
	}
	return fl
}

// free returns the lowest lane in which a label overlaps nothing, or -1.
func (fl *flags) free(f *flag, gap float64, most int) int {
	if f.text == "" {
		return -1
	}
	above, below := -1, most
	var used []int
	for i := range fl.placed {
		o := &fl.placed[i]
		if o.lane < 0 {
			continue
		}
		if f.left-gap < o.right && o.left-gap < f.right {
			used = append(used, o.lane)
		}
		if f.left-1 < o.x && o.x < f.right+1 {
			above = max(above, o.lane)
		}
		if o.left-1 < f.x && f.x < o.right+1 {
			below = min(below, o.lane)
		}
	}
	for lane := above + 1; lane < below; lane++ {
		if !slices.Contains(used, lane) {
			return lane
		}
	}
	return -1
}

func (fl *flags) draw(p *plot) {
	edge := p.top - p.size*0.55 // position of the marks
	for _, f := range fl.placed {
		sign := eventSigns[fl.events[f.event].Kind]
		p.line(f.x, p.top, f.x, p.bottom, pen{sign.ink, 0.7, dotted})
		if f.lane >= 0 {
			y := edge - p.size*0.85 - float64(f.lane)*p.size*1.25
			p.line(f.x, edge, f.x, y-p.size*0.4, pen{sign.ink, 0.7, nil})
			p.write(label{text: f.text, x: f.left, y: y, size: p.size, ink: sign.ink})
		}
	}
	for _, f := range fl.placed {
		sign := eventSigns[fl.events[f.event].Kind]
		p.mark(sign.mark, point{f.x, edge}, p.size*0.75, sign.fill, pen{sign.ink, 1, nil})
	}
	if fl.hidden > 0 {
		p.writeIfFree(label{text: fmt.Sprintf("and %d more", fl.hidden), x: p.right + p.size*0.5, y: edge + p.size*0.33, size: p.size * 0.9, ink: Muted})
	}
}

// sortByFirst sorts rows by their first cell, keeping the order of equal ones.
func sortByFirst(rows [][]string) {
	slices.SortStableFunc(rows, func(a, b []string) int { return cmp.Compare(a[0], b[0]) })
}
