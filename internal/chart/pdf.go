package chart

import "codeberg.org/go-pdf/fpdf"

// Family is the name under which [AddFonts] registers the fonts.
const Family = "go"

// AddFonts embeds the fonts in a document. Only the glyphs used are written to
// the file.
func AddFonts(pdf *fpdf.Fpdf) {
	pdf.AddUTF8FontFromBytes(Family, Regular.style(), Regular.TTF())
	pdf.AddUTF8FontFromBytes(Family, Bold.style(), Bold.TTF())
}

func (w Weight) style() string { return []string{Regular: "", Bold: "B"}[w] }

// SetFont sets the weight and size of the following text. It skips settings
// that are already in effect, which makes files a third smaller.
func SetFont(pdf *fpdf.Fpdf, w Weight, size float64) {
	if now, _ := pdf.GetFontSize(); now != size || pdf.GetFontFamily() != Family || pdf.GetFontStyle() != w.style() {
		pdf.SetFont(Family, w.style(), size)
	}
}

// PDF draws the scene on the current page with its top left corner at (x, y).
// The document must use points as its unit and have the fonts of [AddFonts].
func (s *Scene) PDF(pdf *fpdf.Fpdf, x, y float64) {
	pdf.SetLineJoinStyle("round")
	for i := range s.items {
		s.items[i].pdf(pdf, x, y)
	}
	pdf.SetDashPattern(nil, 0)
}

func (it *item) pdf(pdf *fpdf.Fpdf, x, y float64) {
	if it.label != "" {
		it.pdfText(pdf, x, y)
		return
	}
	style := ""
	if it.fill != None {
		pdf.SetFillColor(it.fill.RGB())
		style = "F"
	}
	if it.stroke != None {
		pdf.SetDrawColor(it.stroke.RGB())
		pdf.SetLineWidth(it.width)
		pdf.SetDashPattern(it.dash, 0)
		style += "D"
	}
	switch {
	case style == "":
	case it.circle != nil:
		pdf.Circle(x+it.circle.center.x, y+it.circle.center.y, it.circle.r, style)
	default:
		for _, path := range it.paths {
			for i, p := range path {
				if i == 0 {
					pdf.MoveTo(x+p.x, y+p.y)
				} else {
					pdf.LineTo(x+p.x, y+p.y)
				}
			}
			if it.closed {
				pdf.ClosePath()
			}
		}
		pdf.DrawPath(style)
	}
}

func (it *item) pdfText(pdf *fpdf.Fpdf, x, y float64) {
	SetFont(pdf, it.weight, it.size)
	pdf.SetTextColor(it.fill.RGB())
	left := it.at.x
	switch width := it.weight.Width(it.label, it.size); it.anchor {
	case Middle:
		left -= width / 2
	case End:
		left -= width
	}
	pdf.Text(x+left, y+it.at.y, it.label)
}
