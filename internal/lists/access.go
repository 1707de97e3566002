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
	lines := []string{"| scope | lets an application |", "|---|---|"}
	for _, s := range access.Declared() {
		lines = append(lines, fmt.Sprintf("| `%s` | %s |", s.Name, s.Lets))
	}
	return lines
}

func tierTable() []string {
	lines := []string{"| tier | requests an hour |", "|---|---|"}
	for _, t := range access.Tiers() {
		lines = append(lines, fmt.Sprintf("| %s | %s |", t, figure.Thousands(int(t.Limit()))))
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
