// Package docs embeds the guides that the service shows under /docs.
// internal/portal renders them; a test runs every command in them.
package docs

import (
	"embed"
	"path"
	"strings"
)

//go:embed guides webhooks.md webhooks-endpoints.md alerts.md analytics.md reports.md report-documents.md
var files embed.FS

// Guide is one page of the documentation.
type Guide struct {
	// Slug is the guide's name in URLs, which is its file name without .md.
	Slug string
	// Title is the guide's first heading; Text is its Markdown, including the
	// heading.
	Title string
	Text  string
}

// order is the recommended reading order.
var order = []string{
	"guides/quick-start.md", "guides/authentication.md", "guides/bring-your-patients.md", "guides/connect-an-ehr.md", "guides/clinical-data.md", "guides/pagination.md",
	"guides/errors.md", "guides/idempotency.md", "guides/rate-limits.md", "guides/typescript.md", "webhooks.md", "webhooks-endpoints.md",
	"alerts.md", "analytics.md", "reports.md", "report-documents.md", "guides/get-your-data-out.md", "guides/bulk-export.md", "guides/keep-a-mirror.md", "guides/versioning.md",
}

// Guides returns all guides in reading order.
func Guides() []Guide {
	list := make([]Guide, 0, len(order))
	for _, name := range order {
		text, err := files.ReadFile(name)
		if err != nil {
			panic(err) // order names a file that does not exist
		}
		title, _, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), "\n")
		list = append(list, Guide{strings.TrimSuffix(path.Base(name), ".md"), title, string(text)})
	}
	return list
}
