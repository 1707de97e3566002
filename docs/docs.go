// Package docs holds the guides that the service shows under /docs, as they
// are read in the repository. internal/portal renders them; a test runs every
// command in them.
package docs

import (
	"embed"
	"path"
	"strings"
)

//go:embed guides webhooks.md webhooks-endpoints.md alerts.md analytics.md reports.md report-documents.md
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
	"guides/quick-start.md", "guides/authentication.md", "guides/clinical-data.md", "guides/pagination.md", "guides/errors.md",
	"guides/idempotency.md", "guides/rate-limits.md", "webhooks.md", "webhooks-endpoints.md", "alerts.md", "analytics.md",
	"reports.md", "report-documents.md", "guides/versioning.md",
}

// Guides gives all guides in the order in which they are read.
func Guides() []Guide {
	list := make([]Guide, 0, len(order))
	for _, name := range order {
		text, err := files.ReadFile(name)
		if err != nil {
			panic(err) // the list above names files that are not there
		}
		title, _, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), "\n")
		list = append(list, Guide{strings.TrimSuffix(path.Base(name), ".md"), title, string(text)})
	}
	return list
}
