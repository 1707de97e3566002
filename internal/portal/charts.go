package portal

import (
	"html/template"
	"net/http"

	"anodyne.example/anodyne/internal/chart"
)

// drawing is a chart on a page, with a table of its values for those who
// cannot see it or want the numbers.
type drawing struct {
	ID, Caption string
	SVG         template.HTML
	Header      []string
	Rows        [][]string
}

// Sizes of charts; they shrink with the page.
const (
	chartWidth = 860
	chartText  = 12
)

// draw renders a chart. id is its identifier on the page.
func draw(id, caption string, c chart.Chart, height float64) drawing {
	d := drawing{ID: id, Caption: caption}
	// Charts escape their text; internal/chart is the only package that writes
	// SVG.
	d.SVG = template.HTML(c.Draw(chart.Frame{Width: chartWidth, Height: height, Text: chartText}).SVG(id))
	d.Header, d.Rows = c.Table()
	return d
}

// drawRows is draw for a chart with this many lines.
func drawRows(id, caption string, c chart.Chart, lines, extras int) drawing {
	return draw(id, caption, c, chart.RowsHeight(lines, chartText, extras))
}

// chartStyle serves the colours of charts and the font used to measure their
// text.
func chartStyle() http.Handler {
	css := []byte(`@font-face{font-family:Go;src:url(/portal/assets/go.ttf)}
@font-face{font-family:Go;font-weight:700;src:url(/portal/assets/go-bold.ttf)}
` + chart.Stylesheet())
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		w.Header().Set("Cache-Control", "no-cache")
		_, _ = w.Write(css) // the reader may be gone
	})
}

func font(weight chart.Weight) http.Handler {
	ttf := weight.TTF()
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "font/ttf")
		w.Header().Set("Cache-Control", "public, max-age=86400")
		_, _ = w.Write(ttf)
	})
}
