package portal

import (
	"bytes"
	"html/template"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"

	"anodyne.example/anodyne/docs"
	"anodyne.example/anodyne/internal/fault"
)

// guide is a rendered page of the documentation.
type guide struct {
	docs.Guide
	HTML template.HTML
}

// readGuides renders the guides, once. They are part of the program, so their
// HTML is trusted; raw HTML in them is omitted nevertheless.
var readGuides = sync.OnceValue(func() []guide {
	md := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	var list []guide
	for _, g := range docs.Guides() {
		var b bytes.Buffer
		if err := md.Convert([]byte(g.Text), &b); err != nil {
			panic(err) // conversion to a buffer cannot fail
		}
		html := b.String()
		// Guides link to each other by file name, which works in the
		// repository.
		for _, other := range docs.Guides() {
			for _, folder := range []string{"", "guides/", "../"} {
				html = strings.ReplaceAll(html, `href="`+folder+other.Slug+".md", `href="/docs/`+other.Slug)
			}
		}
		html = strings.NewReplacer("<pre>", `<pre tabindex="0">`, "<table>", `<div class="scroll" tabindex="0"><table>`, "</table>", "</table></div>").Replace(html)
		list = append(list, guide{g, template.HTML(html)})
	}
	return list
})

type docsPage struct {
	Guides []guide
	This   guide
}

func (p *Portal) docsIndex(v *visit) error {
	return v.show("docs", "Documentation", docsPage{Guides: p.guides})
}

func (p *Portal) docsGuide(v *visit) error {
	for _, g := range p.guides {
		if g.Slug == v.r.PathValue("guide") {
			return v.show("guide", g.Title, docsPage{p.guides, g})
		}
	}
	return fault.New(fault.NotFound, "There is no such guide.")
}
