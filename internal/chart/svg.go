package chart

import (
	"bytes"
	"encoding/xml"
	"strconv"
)

// SVG returns the scene as an SVG element for a page, or as a file of its own.
// id identifies it within the page; it is "" for a file. Colours are set as on
// paper and by class, so that [Stylesheet] can override them.
func (s *Scene) SVG(id string) []byte {
	var b bytes.Buffer
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 `)
	number(&b, s.Width)
	b.WriteByte(' ')
	number(&b, s.Height)
	b.WriteString(`" width="`)
	number(&b, s.Width)
	b.WriteString(`" height="`)
	number(&b, s.Height)
	b.WriteString(`" role="img" font-family="Go, 'Helvetica Neue', Arial, sans-serif"`)
	named := func(part string) {
		if id != "" {
			b.WriteString(` id="`)
			escape(&b, id+"-"+part)
			b.WriteByte('"')
		}
	}
	if id != "" {
		b.WriteString(` aria-labelledby="`)
		escape(&b, id+"-title "+id+"-desc")
		b.WriteByte('"')
	}
	b.WriteString("><title")
	named("title")
	b.WriteByte('>')
	escape(&b, printable(s.Title))
	b.WriteString("</title><desc")
	named("desc")
	b.WriteByte('>')
	escape(&b, printable(s.Desc))
	b.WriteString("</desc>\n")
	for i := range s.items {
		s.items[i].svg(&b)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func printable(s string) string {
	s, _ = Printable(s)
	return s
}

func (it *item) svg(b *bytes.Buffer) {
	switch {
	case it.label != "":
		it.svgText(b)
		return
	case it.circle != nil:
		b.WriteString(`<circle cx="`)
		number(b, it.circle.center.x)
		b.WriteString(`" cy="`)
		number(b, it.circle.center.y)
		b.WriteString(`" r="`)
		number(b, it.circle.r)
	default:
		b.WriteString(`<path d="`)
		for _, path := range it.paths {
			for i, p := range path {
				b.WriteByte("ML"[min(i, 1)])
				number(b, p.x)
				b.WriteByte(' ')
				number(b, p.y)
			}
			if it.closed {
				b.WriteByte('Z')
			}
		}
	}
	b.WriteString(`" class="f-` + palette[it.fill].name)
	if it.stroke != None {
		b.WriteString(` s-` + palette[it.stroke].name)
	}
	b.WriteString(`" fill="` + it.fill.hex())
	if it.stroke != None {
		b.WriteString(`" stroke="` + it.stroke.hex() + `" stroke-linejoin="round" stroke-width="`)
		number(b, it.width)
		for i, d := range it.dash {
			b.WriteString([]string{`" stroke-dasharray="`, " "}[min(i, 1)])
			number(b, d)
		}
	}
	b.WriteString("\"/>\n")
}

func (it *item) svgText(b *bytes.Buffer) {
	b.WriteString(`<text x="`)
	number(b, it.at.x)
	b.WriteString(`" y="`)
	number(b, it.at.y)
	b.WriteString(`" font-size="`)
	number(b, it.size)
	if it.weight == Bold {
		b.WriteString(`" font-weight="700`)
	}
	if it.anchor != Start {
		b.WriteString(`" text-anchor="` + []string{Middle: "middle", End: "end"}[it.anchor])
	}
	b.WriteString(`" class="f-` + palette[it.fill].name + `" fill="` + it.fill.hex() + `">`)
	escape(b, it.label)
	b.WriteString("</text>\n")
}

func (i Ink) hex() string {
	if i == None {
		return "none"
	}
	return hex(palette[i].light)
}

// number writes a length with the two decimals that are visible.
func number(b *bytes.Buffer, f float64) {
	buf := strconv.AppendFloat(b.AvailableBuffer(), f, 'f', 2, 64)
	buf = bytes.TrimSuffix(bytes.TrimRight(buf, "0"), []byte("."))
	if string(buf) == "-0" {
		buf = buf[1:]
	}
	b.Write(buf)
}

func escape(b *bytes.Buffer, s string) {
	_ = xml.EscapeText(b, []byte(s)) // a buffer never fails
}
