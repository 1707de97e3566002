package chart

import (
	"fmt"
	"math"
)

// rows is the layout of charts that have a line for each group: names at the
// left, data in the middle, words at the right.
type rows struct {
	plot
	height float64 // of a line
	words  float64 // where those at the right begin
}

// rowHeight is the usual height of a line, in sizes of letters.
const rowHeight = 2.1

// layRows shares a frame out. Above and below are what the chart needs over
// and under its lines.
func layRows(s *Scene, size, above, below float64, names, words []string) rows {
	r := rows{plot: plot{Scene: s, size: size}}
	left := min(widest(Regular, size, names...), s.Width*0.34)
	right := min(widest(Regular, size, words...), s.Width*0.36)
	r.words = s.Width - right
	r.box = box{left + size*0.7, above, r.words - size*0.9, s.Height - below}
	r.height = min((r.bottom-r.top)/float64(max(len(names), 1)), size*rowHeight)
	r.bottom = r.top + r.height*float64(len(names))
	return r
}

// name and word write beside a line; they return its middle.
func (r *rows) name(i int, text string) (middle float64) {
	middle = r.top + r.height*(float64(i)+0.5)
	text = Regular.Fit(printable(text), r.size, r.left-r.size*0.7)
	r.write(label{text: text, x: r.left - r.size*0.7, y: middle + r.size*0.33, anchor: End, size: r.size})
	return middle
}

func (r *rows) word(i int, text string) {
	text = Regular.Fit(printable(text), r.size, r.Width-r.words)
	r.write(label{text: text, x: r.words, y: r.top + r.height*(float64(i)+0.5) + r.size*0.33, size: r.size, ink: Muted})
}

// verticals draws lines of numbers behind the rows, and their axis below.
func (r *rows) verticals(ticks []tick) {
	for _, t := range ticks {
		x := r.x(t.at)
		r.line(x, r.top, x, r.bottom, pen{Grid, 0.7, nil})
	}
	r.numbers(ticks)
}

// RowsHeight is the height in which a chart with so many lines is drawn at
// ease, with or without an axis or a legend.
func RowsHeight(lines int, text float64, extras int) float64 {
	return text * (rowHeight*float64(lines) + 2*float64(extras))
}

var percentTicks = []tick{{0, "0 %"}, {25, "25 %"}, {50, "50 %"}, {75, "75 %"}, {100, "100 %"}}

// percent writes a share with one decimal.
func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// Severity is how many patients have no, mild, moderate and severe pain, by
// group.
type Severity struct {
	Title string
	Rows  []SeverityRow
}

// SeverityRow is one group. Counts are of none, mild, moderate and severe; nil
// when it is too small to be shown.
type SeverityRow struct {
	Label  string
	Counts [4]*int
}

var severitySigns = [4]struct {
	name  string
	fill  Ink
	hatch Hatch
}{{"none", FillNone, Plain}, {"mild", FillMild, Rising}, {"moderate", FillModerate, Falling}, {"severe", FillSevere, Crossed}}

// total is the sum of a row; not ok when a part is hidden.
func (r *SeverityRow) total() (n int, ok bool) {
	for _, c := range r.Counts {
		if c == nil {
			return 0, false
		}
		n += *c
	}
	return n, true
}

func (r *SeverityRow) words() string {
	switch n, ok := r.total(); {
	case !ok:
		return "hidden: few patients"
	default:
		return "n = " + formatNumber(float64(n))
	}
}

// Draw lays the chart out.
func (c *Severity) Draw(f Frame) *Scene {
	size := f.text()
	s := newScene(f, c.Title, fmt.Sprintf("Share of patients by severity of pain, %d groups.", len(c.Rows)))
	names, words := make([]string, len(c.Rows)), make([]string, len(c.Rows))
	for i := range c.Rows {
		names[i], words[i] = c.Rows[i].Label, c.Rows[i].words()
	}
	var l legend
	for _, sign := range severitySigns {
		l = append(l, legendEntry{sign.name, func(b box) { s.hatched(b, sign.fill, sign.hatch, pen{Axis, 0.6, nil}) }})
	}
	above := l.draw(s, 0, 0, f.Width, size) + size*0.4
	r := layRows(s, size, above, size*1.8, names, words)
	r.start, r.end = 0, 100
	r.verticals(percentTicks)
	for i := range c.Rows {
		row := &c.Rows[i]
		middle := r.name(i, row.Label)
		r.word(i, words[i])
		n, ok := row.total()
		if !ok || n == 0 {
			continue
		}
		half := min(r.height*0.36, size*0.85)
		from := 0.0
		for k, sign := range severitySigns {
			share := 100 * float64(*row.Counts[k]) / float64(n)
			if share == 0 {
				continue
			}
			b := box{r.x(from), middle - half, r.x(from + share), middle + half}
			s.hatched(b, sign.fill, sign.hatch, pen{Axis, 0.6, nil})
			within(s, b, fmt.Sprintf("%.0f %%", share), size*0.9, sign.fill)
			from += share
		}
	}
	return s
}

// within writes into a hatched box, on plain ground, when there is room.
func within(s *Scene, b box, text string, size float64, ground Ink) {
	l := label{text: text, x: (b.left + b.right) / 2, y: (b.top+b.bottom)/2 + size*0.33, anchor: Middle, weight: Bold, size: size}
	at := l.box()
	pad := size * 0.25
	if at.right-at.left+4*pad > b.right-b.left || at.bottom-at.top > b.bottom-b.top {
		return
	}
	s.rect(box{at.left - pad, max(at.top, b.top+0.8), at.right + pad, min(at.bottom, b.bottom-0.8)}, ground, pen{})
	s.write(l)
}

// Table lists the counts.
func (c *Severity) Table() (header []string, table [][]string) {
	header = []string{"Group"}
	for _, sign := range severitySigns {
		header = append(header, sign.name)
	}
	for i := range c.Rows {
		cells := []string{c.Rows[i].Label}
		for _, n := range c.Rows[i].Counts {
			cells = append(cells, count(n))
		}
		table = append(table, append(cells, c.Rows[i].words()))
	}
	return append(header, "all"), table
}

func count(n *int) string {
	if n == nil {
		return "hidden"
	}
	return formatNumber(float64(*n))
}

// Proportions are shares of groups with their intervals, such as responders.
type Proportions struct {
	Title string
	Rows  []Proportion
}

// Proportion is one share, from 0 to 1. Without one there is nothing to show,
// or too little to be shown; Words say which.
type Proportion struct {
	Label     string
	Share     *float64
	Low, High *float64
	Words     string // "18 of 40", or why there is no share
}

func (p *Proportion) words() string {
	if p.Share == nil {
		return p.Words
	}
	text := percent(*p.Share)
	if p.Low != nil && p.High != nil {
		text += fmt.Sprintf(" (%.1f to %.1f)", 100**p.Low, 100**p.High)
	}
	if p.Words != "" {
		text += ", " + p.Words
	}
	return text
}

// Draw lays the chart out.
func (c *Proportions) Draw(f Frame) *Scene {
	size := f.text()
	s := newScene(f, c.Title, "Shares with 95 % confidence intervals, which are drawn as whiskers.")
	names, words := make([]string, len(c.Rows)), make([]string, len(c.Rows))
	for i := range c.Rows {
		names[i], words[i] = c.Rows[i].Label, c.Rows[i].words()
	}
	r := layRows(s, size, size*0.4, size*1.8, names, words)
	r.start, r.end = 0, 100
	r.verticals(percentTicks)
	for i := range c.Rows {
		row := &c.Rows[i]
		middle := r.name(i, row.Label)
		r.word(i, words[i])
		if row.Share == nil {
			continue
		}
		half := min(r.height*0.3, size*0.7)
		s.rect(box{r.x(0), middle - half, r.x(100 * *row.Share), middle + half}, AccentSoft, pen{Accent, 0.8, nil})
		r.whisker(middle, half*0.6, row.Low, row.High, 100)
	}
	return s
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
		if math.Abs(r.x(end.meant*scale)-end.drawn) < 0.01 { // what is cut has no end
			r.line(end.drawn, y-half, end.drawn, y+half, p)
		}
	}
}

// Table lists the shares.
func (c *Proportions) Table() (header []string, table [][]string) {
	for i := range c.Rows {
		table = append(table, []string{c.Rows[i].Label, c.Rows[i].words()})
	}
	return []string{"Group", "Share (95 % CI)"}, table
}
