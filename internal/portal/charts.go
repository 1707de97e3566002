package portal

import (
	"html/template"
	"net/http"

	"anodyne.example/anodyne/internal/chart"
)

// drawing is a chart in a page: drawn, and as a table for those who cannot see
// it or want the numbers.
type drawing struct {
	ID, Caption string
	SVG         template.HTML
	Header      []string
	Rows        [][]string
}

// Sizes of charts on a page; they shrink with it.
const (
	chartWidth = 860
	chartText  = 12
)

// draw makes a chart of a page; id names it there.
func draw(id, caption string, c chart.Chart, height float64) drawing {
	d := drawing{ID: id, Caption: caption}
	// A chart escapes what it is given; it is the one room that writes SVG.
	d.SVG = template.HTML(c.Draw(chart.Frame{Width: chartWidth, Height: height, Text: chartText}).SVG(id))
	d.Header, d.Rows = c.Table()
	return d
}

// drawRows is draw for a chart with so many lines.
func drawRows(id, caption string, c chart.Chart, lines, extras int) drawing {
	return draw(id, caption, c, chart.RowsHeight(lines, chartText, extras))
}

// chartStyle serves the colours of charts and the font they are measured with.
func chartStyle() http.Handler {
	css := []byte(`@font-face{font-family:Go;src:url(/portal/assets/go.ttf)}
@font-face{font-family:Go;font-weight:700;src:url(/portal/assets/go-bold.ttf)}
` + chart.Stylesheet())
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		w.Header().Set("Cache-Control", "no-cache")
		_, _ = w.Write(css) // a reader who is gone cannot be told
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
