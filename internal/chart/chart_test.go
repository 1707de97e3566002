package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"codeberg.org/go-pdf/fpdf"
)

// textBoxes are where the texts of a scene lie.
func textBoxes(s *Scene) (boxes []box, texts []string) {
	for _, it := range s.items {
		if it.label != "" {
			l := label{text: it.label, x: it.at.x, y: it.at.y, anchor: it.anchor, weight: it.weight, size: it.size}
			boxes, texts = append(boxes, l.box()), append(texts, it.label)
		}
	}
	return boxes, texts
}

func TestTextIsWholeAndApart(t *testing.T) {
	eachExample(t, func(t *testing.T, _ Chart, s *Scene) {
		boxes, texts := textBoxes(s)
		for i, b := range boxes {
			if b.left < -0.01 || b.top < -0.01 || b.right > s.Width+0.01 || b.bottom > s.Height+0.01 {
				t.Errorf("%q lies at %.1f, beyond the edge", texts[i], b)
			}
			for k := range i {
				if b.meets(boxes[k]) {
					t.Errorf("%q at %.1f lies on %q at %.1f", texts[i], b, texts[k], boxes[k])
				}
			}
		}
	})
}

func TestShapesAreInside(t *testing.T) {
	eachExample(t, func(t *testing.T, _ Chart, s *Scene) {
		inside := func(p point) {
			// A NaN fails every comparison.
			if !(p.x >= -1 && p.y >= -1 && p.x <= s.Width+1 && p.y <= s.Height+1) {
				t.Fatalf("a point at %v is beyond the edge", p)
			}
		}
		for _, it := range s.items {
			for _, path := range it.paths {
				for _, p := range path {
					inside(p)
				}
			}
			if it.circle != nil {
				inside(it.circle.center)
			}
		}
	})
}

// harmless are the elements and attributes that a chart may have: none that
// runs, loads or leads anywhere.
var harmless = strings.Fields("svg title desc path circle text xmlns class viewBox width height role font-family aria-labelledby id d fill stroke stroke-width " +
	"stroke-dasharray stroke-linejoin cx cy r x y font-size font-weight text-anchor")

func TestSVG(t *testing.T) {
	eachExample(t, func(t *testing.T, _ Chart, s *Scene) {
		svg := s.SVG("chart-1")
		if dir := os.Getenv("ANODYNE_TEST_KEEP"); dir != "" { // to be looked at
			if err := os.WriteFile(filepath.Join(dir, strings.ReplaceAll(t.Name(), "/", "-")+".svg"), svg, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		elements := map[string]string{}
		decoder := xml.NewDecoder(bytes.NewReader(svg))
		open := ""
		for {
			token, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("not well-formed: %v", err)
			}
			switch token := token.(type) {
			case xml.StartElement:
				open = token.Name.Local
				names := []string{open}
				for _, a := range token.Attr {
					elements[open+"@"+a.Name.Local] = a.Value
					names = append(names, a.Name.Local)
				}
				for _, name := range names {
					if !slices.Contains(harmless, name) {
						t.Fatalf("it has %s", name)
					}
				}
			case xml.CharData:
				elements[open] += string(token)
			case xml.EndElement:
				open = ""
			}
		}
		if elements["svg@role"] != "img" || elements["svg@aria-labelledby"] != "chart-1-title chart-1-desc" || elements["title@id"] != "chart-1-title" || elements["desc@id"] != "chart-1-desc" {
			t.Errorf("a reader of the screen does not find it: %v", elements)
		}
		if elements["title"] == "" || elements["desc"] == "" {
			t.Errorf("title %q, description %q", elements["title"], elements["desc"])
		}
		for _, bad := range []string{"NaN", "Inf", "<script", "url("} {
			if bytes.Contains(svg, []byte(bad)) {
				t.Errorf("it has %s", bad)
			}
		}
	})
}

func TestPDF(t *testing.T) {
	pdf := fpdf.New("P", "pt", "A4", "")
	AddFonts(pdf)
	for name, c := range examples() {
		for _, f := range frames {
			pdf.AddPage()
			c.Draw(f).PDF(pdf, 0, 0)
			if err := pdf.Error(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	pdf.SetCompression(false)
	var file bytes.Buffer
	if err := pdf.Output(&file); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(file.Bytes(), []byte("NaN")) {
		t.Error("NaN is no number of a PDF")
	}
}

func TestTable(t *testing.T) {
	for name, c := range examples() {
		header, rows := c.Table()
		if len(header) == 0 {
			t.Errorf("%s: no header", name)
		}
		for _, row := range rows {
			if len(row) != len(header) {
				t.Errorf("%s: %d cells under %d headings: %q", name, len(row), len(header), row)
			}
		}
	}
}

// drawn lists the texts of a chart as drawn for a page.
func drawn(c Chart) []string {
	_, texts := textBoxes(c.Draw(frames[0]))
	return texts
}

func has(t *testing.T, texts []string, want ...string) {
	t.Helper()
	for _, w := range want {
		found := false
		for _, text := range texts {
			found = found || text == w
		}
		if !found {
			t.Errorf("there is no %q in %q", w, texts)
		}
	}
}

func TestWhatMustBeSaid(t *testing.T) {
	all := examples()
	has(t, drawn(all["pain"]), "0", "10", "severe ≥ 7", "moderate ≥ 4", "mild < 4", "baseline 7.5", "medicine started", "medicine ended", "procedure", "oxycodone", "gabapentin", "naproxen", "epidural steroid L4-L5")
	has(t, drawn(all["pain, none"]), "No comparable scores in this period", "0", "10")
	has(t, drawn(all["mme"]), "≥ 50 MME", "≥ 90 MME", "at least: not all of the dose is known", "dose not known or not counted")
	has(t, drawn(all["severity"]), "none", "mild", "moderate", "severe", "n = 472", "49 %", "hidden: few patients")
	has(t, drawn(all["proportions"]), "45.0 % (30.7 to 60.2), 18 of 40", "hidden")
	has(t, drawn(all["forest"]), "16.7 (−0.9 to 32.9), n = 60", "reference", "0")
	has(t, drawn(all["histogram"]), "50 MME", "90 MME", "12", "hidden", "3", "0")
	has(t, drawn(all["survival"]), "median: day 42", "100 %", "0 %", "at risk", "6")
	has(t, drawn(all["trend"]), "n", "0", "10", "37")
	has(t, drawn(all["usage"]), "2xx, 3xx", "other 4xx", "429", "5xx")
}

// The line from a mark up to its label passes beside the other labels.
func TestNoLineThroughALabel(t *testing.T) {
	at := func(days ...int) (list []Event) {
		for _, d := range days {
			list = append(list, Event{jan1.AddDate(0, 0, d), Started, "a medicine of some length"})
		}
		return list
	}
	for n, list := range [][]Event{events(2, 180), events(5, 72), events(12, 30), events(40, 9), at(340, 345, 350, 355, 360, 364), at(330, 364, 362), at(364, 364, 363)} {
		c := &Pain{Title: "Pain", From: jan1, To: dec31, Bands: bands, Events: list}
		s := c.Draw(frames[0])
		boxes, texts := textBoxes(s)
		lines := 0
		for _, it := range s.items {
			if len(it.paths) != 1 || len(it.paths[0]) != 2 || it.stroke != Medication && it.stroke != Procedure || it.dash != nil {
				continue
			}
			lines++
			foot, top := it.paths[0][0], it.paths[0][1]
			for i, b := range boxes {
				if b.meets(box{foot.x, top.y, foot.x + 0.1, foot.y}) && b.bottom > top.y+s.Height/20 {
					t.Errorf("chart %d: a line goes through %q", n, texts[i])
				}
			}
		}
		if lines == 0 {
			t.Errorf("chart %d: no line was found", n)
		}
	}
}

// lines counts the lines of an ink with several points.
func lines(s *Scene, ink Ink, dashes bool) (n int) {
	for _, it := range s.items {
		if it.stroke == ink && (len(it.dash) > 0) == dashes && len(it.paths) == 1 && len(it.paths[0]) > 2 && !it.closed {
			n++
		}
	}
	return n
}

func TestLongGapIsNotJoined(t *testing.T) {
	c := &Pain{Title: "Pain", From: jan1, To: dec31, Bands: bands}
	at := func(days int) PainPoint { return PainPoint{jan1.AddDate(0, 0, days), 5} }
	c.Points = []PainPoint{at(0), at(30), at(60), at(91), at(100), at(110)}
	if n := lines(c.Draw(frames[0]), Accent, false); n != 2 {
		t.Errorf("%d lines; 30 days are joined, and 31 are not", n)
	}
}

func TestManyEventsAreCounted(t *testing.T) {
	texts := drawn(&Pain{Title: "Pain", From: jan1, To: dec31, Bands: bands, Events: events(40, 9)})
	shown := 0
	more := ""
	for _, text := range texts {
		if strings.HasPrefix(text, "and ") {
			more = text
		}
		for _, h := range hostile {
			if p := printable(h); text == p || strings.HasSuffix(text, "…") && strings.HasPrefix(p, strings.TrimSuffix(text, "…")) {
				shown++
				break
			}
		}
	}
	if shown == 0 || more == "" {
		t.Errorf("%d labels, %q: %q", shown, more, texts)
	}
}
