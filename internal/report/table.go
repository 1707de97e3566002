package report

import (
	"codeberg.org/go-pdf/fpdf"

	"anodyne.example/anodyne/internal/chart"
)

// column is a column of a table. share is its part of the width.
type column struct {
	title string
	share float64
	right bool // numbers
	fine  bool // identifiers, in small print
}

func (c *column) look() set {
	if c.fine {
		return small
	}
	return body
}

const (
	cellPad  = 4.0
	rowPad   = 3.2
	mostRows = 12 // lines in a cell; longer text is shortened
)

// table is rows below a header that is repeated on every page.
type table struct {
	*sheet
	columns []column
	lefts   []float64
	widths  []float64
	striped bool
}

func (s *sheet) newTable(columns ...column) *table {
	t := &table{sheet: s, columns: columns}
	var sum float64
	for _, c := range columns {
		sum += c.share
	}
	x := margin
	for _, c := range columns {
		width := fullWidth * c.share / sum
		t.lefts, t.widths = append(t.lefts, x), append(t.widths, width)
		x += width
	}
	return t
}

// headHeight and oneLine are the heights of the header and of a row with one
// line.
const (
	headHeight = smallSize*lineGap + 2*rowPad
	oneLine    = bodySize*lineGap + 2*rowPad
)

func (t *table) header() {
	top := t.y
	t.draw(func(pdf *fpdf.Fpdf) {
		pdf.SetFillColor(chart.FillNone.RGB())
		pdf.Rect(margin, top, fullWidth, headHeight, "F")
	})
	for i, c := range t.columns {
		t.cell(i, t.y+rowPad, chart.Bold.Fit(printable(c.title), smallSize, t.widths[i]-2*cellPad), caption)
	}
	t.y += headHeight
	t.rule(t.y, chart.Axis)
	t.striped = false
}

// cell writes a line of a cell; y is the top of the line.
func (t *table) cell(i int, y float64, text string, look set) {
	x := t.lefts[i] + cellPad
	if t.columns[i].right {
		x, look = t.lefts[i]+t.widths[i]-cellPad, look.at(chart.End)
	}
	t.text(x, y+look.size*0.9, text, look)
}

// lines wraps the cells of a row and returns its height.
func (t *table) lines(cells []string) (lines [][]string, height float64) {
	lines = make([][]string, len(cells))
	most := 1
	for i, text := range cells {
		text, exact := chart.Printable(text)
		t.inexact = t.inexact || !exact
		lines[i] = chart.Regular.Wrap(text, t.columns[i].look().size, t.widths[i]-2*cellPad, mostRows)
		most = max(most, len(lines[i]))
	}
	return lines, oneLine + bodySize*lineGap*float64(most-1)
}

// row adds a row, on a new page with the header if needed.
func (t *table) row(cells ...string) {
	lines, height := t.lines(cells)
	if t.y+height > floor {
		t.breakPage()
		t.header()
	}
	t.set(lines, height)
}

// rowAbove adds a row only if it ends above limit.
func (t *table) rowAbove(limit float64, cells ...string) bool {
	lines, height := t.lines(cells)
	if t.y+height > limit {
		return false
	}
	t.set(lines, height)
	return true
}

func (t *table) set(lines [][]string, height float64) {
	for i, cell := range lines {
		for k, line := range cell {
			t.cell(i, t.y+rowPad+bodySize*lineGap*float64(k), line, t.columns[i].look())
		}
	}
	t.y += height
	t.rule(t.y, chart.Grid)
}

// end adds space below the table.
func (t *table) end() { t.y += 10 }
