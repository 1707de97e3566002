package portal

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"

	"github.com/yuin/goldmark"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/portal/reference"
)

// readReference parses the OpenAPI document. Tests guarantee that it is valid.
func readReference(document []byte) *reference.Document {
	d, err := reference.Read(document, func(text string) template.HTML {
		var b bytes.Buffer
		if err := goldmark.Convert([]byte(text), &b); err != nil {
			panic(err) // conversion to a buffer cannot fail
		}
		return template.HTML(b.String()) // part of the program, with raw HTML omitted
	})
	if err != nil {
		panic(fmt.Sprintf("openapi.yaml: %v", err))
	}
	return d
}

// referencePage is a page of the reference about Tag or Op.
type referencePage struct {
	*reference.Document
	Tag      *reference.Tag
	Op       *reference.Operation
	Base     string
	Previous *reference.Operation
	Next     *reference.Operation
}

func (p *Portal) referenceIndex(v *visit) error {
	return v.show("reference", "API reference", referencePage{Document: p.reference(), Base: v.baseURL()})
}

func (p *Portal) referenceSchemas(v *visit) error {
	return v.show("schemas", "Schemas", referencePage{Document: p.reference()})
}

func (p *Portal) referenceOperation(v *visit) error {
	page := referencePage{Document: p.reference(), Base: v.baseURL()}
	page.Op, page.Tag = page.Operation(v.r.PathValue("operation"))
	if page.Op == nil {
		return fault.New(fault.NotFound, "There is no such operation.")
	}
	page.Previous, page.Next = page.neighbours()
	return v.show("operation", page.Op.Summary, page)
}

// neighbours returns the previous and the next operation, across tags.
func (p referencePage) neighbours() (before, after *reference.Operation) {
	var last *reference.Operation
	for _, t := range p.Tags {
		for _, op := range t.Operations {
			switch {
			case op == p.Op:
				before = last
			case last == p.Op:
				return before, op
			}
			last = op
		}
	}
	return before, nil
}

// Curl returns a curl command for the operation, with placeholders.
func (p referencePage) Curl() string {
	path := p.Op.Path
	for _, param := range p.Op.Parameters {
		if param.In == "path" && len(param.Examples) > 0 {
			path = strings.ReplaceAll(path, "{"+param.Name+"}", param.Examples[0].Text)
		}
	}
	lines := []string{"curl -i '" + p.Base + path + "'"}
	if p.Op.Method != "GET" {
		lines = append(lines, "-X "+p.Op.Method)
	}
	switch p.Op.Auth {
	case "bearer":
		lines = append(lines, `-H "Authorization: Bearer $TOKEN"`)
	case "basic":
		lines = append(lines, `-u "$CLIENT_ID:$CLIENT_SECRET"`)
	}
	if body := p.Op.Body; body != nil && len(body.Media) > 0 {
		lines = append(lines, "-H 'Content-Type: "+body.Media[0].Types[0]+"'")
		if examples := body.Media[0].Examples; len(examples) > 0 {
			example := examples[0].Text
			if p.Op.Auth == "basic" { // credentials go in the form or in the header, not both
				example = examples[len(examples)-1].Text
			}
			lines = append(lines, "-d '"+strings.ReplaceAll(example, "'", `'\''`)+"'")
		}
	}
	return strings.Join(lines, " \\\n  ")
}
