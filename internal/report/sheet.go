package report

import (
	"fmt"
	"io"
	"time"

	"codeberg.org/go-pdf/fpdf"

	"anodyne.example/anodyne/internal/chart"
)

// Pages are A4, measured in points from the top left.
const (
	pageWidth  = 595.28
	pageHeight = 841.89
	margin     = 40.0
	fullWidth  = pageWidth - 2*margin
	// floor is where the body of a page ends and its footer begins.
	floor = pageHeight - 46
)

// The font sizes.
const (
	bodySize  = 8.5
	smallSize = 7.2
	lineGap   = 1.32 // distance of base lines, in font sizes
)

// sheet is a PDF being written, with pages filled from the top. All text is
// made printable first, so that no patient's text can break it.
type sheet struct {
	// doc has the pages, their footers and the bookmarks; the binder has the
	// content of the pages.
	doc     *fpdf.Fpdf
	binder  binder
	strokes []func(*fpdf.Fpdf) // on the current page
	err     error              // first error while drawing a page
	head    *Head
	title   string
	running string  // header of each page but the first
	y       float64 // position of the next element
	inexact bool    // a character was replaced
}

// newSheet starts a document with an empty first page.
func newSheet(h *Head, title string) *sheet {
	if h.Title != "" {
		title = h.Title
	}
	s := &sheet{head: h, title: printable(title)}
	s.running = s.title
	s.doc = fpdf.NewCustom(&fpdf.InitType{OrientationStr: "P", UnitStr: "pt", Size: fpdf.SizeType{Wd: pageWidth, Ht: pageHeight}})
	// Otherwise map order or the clock would change the bytes.
	s.doc.SetCatalogSort(true)
	s.doc.SetCreationDate(h.AsOf.UTC())
	s.doc.SetModificationDate(h.AsOf.UTC())
	s.doc.SetTitle(s.title, true)
	s.doc.SetAuthor(printable(h.Organisation), true)
	s.doc.SetCreator("Anodyne", true)
	s.doc.SetProducer("Anodyne", true)
	s.doc.SetLang("en-GB")
	s.doc.SetAutoPageBreak(false, 0)
	s.doc.SetMargins(margin, margin, margin)
	chart.AddFonts(s.doc)
	s.doc.AddPage()
	s.y = margin
	return s
}

func printable(text string) string {
	text, _ = chart.Printable(text)
	return text
}

// draw adds a stroke to the current page. All strokes are drawn when the page
// is complete.
func (s *sheet) draw(stroke func(*fpdf.Fpdf)) { s.strokes = append(s.strokes, stroke) }

// turn ends the current page.
func (s *sheet) turn() {
	if err := s.binder.keep(s.doc, s.strokes); s.err == nil {
		s.err = err
	}
	clear(s.strokes)
	s.strokes = s.strokes[:0]
}

// set is the style of a text.
type set struct {
	weight chart.Weight
	size   float64
	ink    chart.Ink
	anchor chart.Anchor
}

var (
	body    = set{size: bodySize, ink: chart.Text}
	strong  = set{size: bodySize, ink: chart.Text, weight: chart.Bold}
	small   = set{size: smallSize, ink: chart.Muted}
	caption = set{size: smallSize, ink: chart.Muted, weight: chart.Bold}
)

func (l set) at(anchor chart.Anchor) set { l.anchor = anchor; return l }

// text writes one line with its base line at y.
func (s *sheet) text(x, y float64, text string, look set) {
	text, exact := chart.Printable(text)
	s.inexact = s.inexact || !exact
	switch look.anchor {
	case chart.Middle:
		x -= look.weight.Width(text, look.size) / 2
	case chart.End:
		x -= look.weight.Width(text, look.size)
	}
	s.draw(func(pdf *fpdf.Fpdf) {
		chart.SetFont(pdf, look.weight, look.size)
		pdf.SetTextColor(look.ink.RGB())
		pdf.Text(x, y, text)
	})
}

// fitted writes one line, shortened to a width.
func (s *sheet) fitted(x, y, width float64, text string, look set) {
	text, exact := chart.Printable(text)
	s.inexact = s.inexact || !exact
	s.text(x, y, look.weight.Fit(text, look.size, width), look)
}

// shrunk writes one line, in a smaller font if it is too wide.
func (s *sheet) shrunk(x, y, width float64, text string, look set) {
	text, exact := chart.Printable(text)
	s.inexact = s.inexact || !exact
	if wide := look.weight.Width(text, look.size); wide > width {
		look.size = max(look.size*width/wide, 5)
	}
	s.fitted(x, y, width, text, look)
}

// heading writes a large text in full, however long, and returns its height.
func (s *sheet) heading(y, width float64, text string) float64 {
	look := set{size: 18, ink: chart.Text, weight: chart.Bold}
	for look.size > 8 && len(look.weight.Wrap(printable(text), look.size, width, 4)) > 3 {
		look.size -= 2
	}
	return s.block(margin, y, width, text, look, 99)
}

// block writes lines from y downwards and returns their height.
func (s *sheet) block(x, y, width float64, text string, look set, most int) float64 {
	text, exact := chart.Printable(text)
	s.inexact = s.inexact || !exact
	lines := look.weight.Wrap(text, look.size, width, most)
	for i, line := range lines {
		s.text(x, y+look.size*(0.9+lineGap*float64(i)), line, look)
	}
	return look.size * lineGap * float64(len(lines))
}

// blockHeight returns the height that block would return.
func blockHeight(width float64, text string, look set, most int) float64 {
	return look.size * lineGap * float64(len(look.weight.Wrap(printable(text), look.size, width, most)))
}

// rule draws a thin horizontal line.
func (s *sheet) rule(y float64, ink chart.Ink) {
	s.draw(func(pdf *fpdf.Fpdf) {
		pdf.SetDrawColor(ink.RGB())
		pdf.SetLineWidth(0.6)
		pdf.Line(margin, y, margin+fullWidth, y)
	})
}

// panel draws a box. Without an edge, only the background is drawn.
func (s *sheet) panel(x, y, width, height float64, ground, edge chart.Ink) {
	s.draw(func(pdf *fpdf.Fpdf) {
		pdf.SetFillColor(ground.RGB())
		style := "F"
		if edge != chart.None {
			pdf.SetDrawColor(edge.RGB())
			pdf.SetLineWidth(0.7)
			style = "FD"
		}
		pdf.RoundedRect(x, y, width, height, 3, "1234", style)
	})
}

// breakPage continues at the top of a new page.
func (s *sheet) breakPage() {
	s.turn()
	s.doc.AddPage()
	s.fitted(margin, margin, fullWidth, s.running, small)
	s.rule(margin+6, chart.Grid)
	s.y = margin + 20
}

// need starts a new page unless this height fits on the current one.
func (s *sheet) need(height float64) {
	if s.y+height > floor {
		s.breakPage()
	}
}

// section starts a section with at least this height on the same page.
func (s *sheet) section(title string, height float64) {
	s.need(height + 26)
	s.y += 8
	s.doc.Bookmark(printable(title), 0, s.y)
	s.text(margin, s.y+10, title, set{size: 11, ink: chart.Text, weight: chart.Bold})
	s.y += 18
}

// paragraph writes text across the page, and may continue on the next.
func (s *sheet) paragraph(text string, look set) {
	text, exact := chart.Printable(text)
	s.inexact = s.inexact || !exact
	for _, line := range look.weight.Wrap(text, look.size, fullWidth, 1000) {
		s.need(look.size * lineGap)
		s.text(margin, s.y+look.size*0.9, line, look)
		s.y += look.size * lineGap
	}
	s.y += look.size * 0.4
}

// figureFrame is the height of a figure's title and of the space below it.
const figureFrame = 23.0

// figure draws a chart across the page with a title above.
func (s *sheet) figure(title string, c chart.Chart, height float64) {
	s.need(height + figureFrame)
	s.text(margin, s.y+bodySize, title, strong)
	scene, top := c.Draw(chart.Frame{Width: fullWidth, Height: height, Text: smallSize + 0.3}), s.y+15
	s.draw(func(pdf *fpdf.Fpdf) { scene.PDF(pdf, margin, top) })
	s.y += height + figureFrame
}

// finish adds the footers, which include the number of pages, and writes the
// file.
func (s *sheet) finish(w io.Writer) error {
	s.turn()
	pages := s.doc.PageCount()
	for n := 1; n <= pages; n++ {
		s.rule(floor+10, chart.Grid)
		y := floor + 22
		s.fitted(margin, y, fullWidth-80, s.foot(), small)
		s.text(margin+fullWidth, y, fmt.Sprintf("Page %d of %d", n, pages), small.at(chart.End))
		if s.inexact {
			s.text(margin, y+smallSize*lineGap, fmt.Sprintf("Some characters are not in the font of this document: they are printed without their accents, or as %c.", chart.Replacement), small)
		}
		s.doc.SetPage(n)
		s.doc.SetFont(chart.Family, "", smallSize) // the library assumes that of the previous page
		for _, stroke := range s.strokes {
			stroke(s.doc)
		}
		s.strokes = s.strokes[:0]
	}
	if s.err != nil {
		return s.err
	}
	return s.binder.bind(w, s.doc)
}

func (s *sheet) foot() string {
	text := "Confidential. Data as of " + moment(s.head.AsOf)
	for _, more := range []string{s.head.ID, s.head.Organisation} {
		if more != "" {
			text += " · " + more
		}
	}
	return text
}

// moment formats a time for people.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") + " UTC" }
