// Package docs holds the guides that the service shows under /docs, as they
// are read in the repository. internal/portal renders them; a test runs every
// command in them.
package docs

import (
	"embed"
	"strings"
)

//go:embed guides
var files embed.FS

// Guide is one page.
type Guide struct {
	// Slug is its name in addresses, and the file's without .md.
	Slug string
	// Title is its first heading; Text, in Markdown, begins with it.
	Title string
	Text  string
}

// order is that in which a newcomer would read.
var order = []string{
	"quick-start", "authentication", "clinical-data", "pagination", "errors", "idempotency", "rate-limits", "versioning",
}

// Guides gives all guides in the order in which they are read.
func Guides() []Guide {
	list := make([]Guide, 0, len(order))
	for _, slug := range order {
		text, err := files.ReadFile("guides/" + slug + ".md")
		if err != nil {
			panic(err) // the list above names files that are not there
		}
		title, _, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), "\n")
		list = append(list, Guide{slug, title, string(text)})
	}
	return list
}
