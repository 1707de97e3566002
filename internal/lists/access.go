package lists

import (
	"fmt"
	"strings"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/figure"
)

func scopeTexts() (lines []string) {
	for _, s := range access.Declared() {
		lines = append(lines, s.Name+": "+scalar(s.Summary))
	}
	return lines
}

func scopeTable() []string {
	return table("| scope | lets an application |", access.Declared(), func(s access.Scope) string { return fmt.Sprintf("| `%s` | %s |", s.Name, s.Lets) })
}

func tierTable() []string {
	return table("| tier | requests an hour |", access.Tiers(), func(t access.Tier) string {
		return fmt.Sprintf("| %s | %s |", t, figure.Thousands(int(t.Limit())))
	})
}

// table returns a Markdown table with a header and a row for each item.
func table[T any](header string, items []T, row func(T) string) []string {
	lines := []string{header, strings.Repeat("|---", strings.Count(header, "|")-1) + "|"}
	for _, item := range items {
		lines = append(lines, row(item))
	}
	return lines
}

// tierLimits returns a sentence with the limits of the tiers.
func tierLimits() string {
	var list []string
	for _, t := range access.Tiers() {
		list = append(list, fmt.Sprintf("%s (%s)", figure.Thousands(int(t.Limit())), t))
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " or " + list[last]
}
