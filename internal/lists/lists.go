// Package lists generates the parts of files that repeat a declaration: of the
// OpenAPI document, the Go client and the documentation. Analytics parameters,
// report types, events, data types, patient fields, scopes and tiers are each
// declared once, in the package that owns them. Code uses the declaration at
// run time; this package generates what has to be checked in.
//
// A generated part of a file is between two lines, written as comments of that
// file:
//
//	# generated: NAME
//	# end generated
//
// A generated list on one line, such as an enum, ends with the first of them.
// Text that cannot contain comments is found by the text before and after it.
package lists

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:generate go run ./write

// Paths of the files that have generated parts.
const (
	openapi        = "internal/api/openapi/openapi.yaml"
	goTypes        = "client/generated.go"
	reports        = "docs/reports.md"
	endpoints      = "docs/webhooks-endpoints.md"
	imports        = "docs/import.md"
	authentication = "docs/guides/authentication.md"
	rateLimits     = "docs/guides/rate-limits.md"
)

// parts lists the generated parts by file and name.
var parts = withEventTypes(map[string]map[string]func() []string{
	openapi: {
		"parameters of outcomes":               outcomesReferences,
		"parameters of population health":      populationReferences,
		"analytics parameters":                 analyticsParameters,
		"always in outcomes":                   alwaysInOutcomes,
		"always in population health":          alwaysInPopulation,
		"in force in outcomes":                 outcomesInForce,
		"in force in population health":        populationInForce,
		"analytics parameters of a report":     reportParameters,
		"analytics parameters of a new report": newReportParameters,
		"report types":                         reportTypes,
		"filters of an export":                 exportFilters,
		"filters of a new export":              newExportFilters,
		"filters of a cohort":                  exportFilters,
		"filters of a new cohort":              newExportFilters,
		"export formats":                       exportFormats,
		"export parts":                         exportParts,
		"parameters of report types":           reportTypeParameters,
		"reports as JSON":                      reportSchemas,
		"events":                               webhooks,
		"event types":                          eventTypes,
		"subscriptions":                        subscriptions,
		"delivered types":                      deliveredTypes,
		"scopes":                               scopeTexts,
		"always in a patient":                  alwaysInPatient,
		"data types":                           dataTypes,
		"texts of a patient":                   textsOfPatient,
		"texts of a new patient":               textsSent,
		"texts of a patch":                     textsSent,
		"text inputs":                          textInputs,
	},
	reports: {
		"report types": reportTable,
		"tables":       reportTables,
	},
	endpoints:      {"events": eventTable},
	authentication: {"scopes": scopeTable},
	imports:        {"columns of patients": patientColumns},
	rateLimits:     {"tiers": tierTable},
})

// phrase is a generated part of a text that cannot contain comments.
type phrase struct {
	path, before, after string
	text                func() string
}

var phrases = []phrase{
	{openapi, "requires the scopes of the data in it: ", ".\n", reportScopes},
	{openapi, "A client may make ", " requests an hour", tierLimits},
}

// Files returns the up-to-date content of every file with generated parts, by
// its path below root.
func Files(root string) (map[string][]byte, error) {
	client, err := clientTypes()
	if err != nil {
		return nil, err
	}
	files, err := figureTypes(root)
	if err != nil {
		return nil, err
	}
	files[goTypes] = client
	for path, of := range parts {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return nil, err
		}
		if files[path], err = fill(string(text), of); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	for _, p := range phrases {
		whole := string(files[p.path])
		head, rest, found := strings.Cut(whole, p.before)
		_, tail, ends := strings.Cut(rest, p.after)
		if !found || !ends || strings.Contains(rest, p.before) {
			return nil, fmt.Errorf("%s: there is not one place after %q", p.path, p.before)
		}
		files[p.path] = []byte(head + p.before + p.text() + p.after + tail)
	}
	return files, nil
}

const (
	begin = "generated: "
	end   = "end generated"
)

// fill replaces the generated parts of a text.
func fill(text string, of map[string]func() []string) ([]byte, error) {
	var out strings.Builder
	left := maps.Clone(of)
	skipping := ""
	for line := range strings.Lines(text) {
		at := strings.Index(line, begin)
		switch {
		case skipping != "":
			if !strings.Contains(line, end) {
				continue
			}
			skipping = ""
		case at >= 0:
			name := strings.TrimSuffix(strings.TrimSpace(line[at+len(begin):]), " -->")
			lines := left[name]
			if lines == nil {
				return nil, fmt.Errorf("there is no generated part %q, or it is there twice", name)
			}
			delete(left, name)
			if list := strings.IndexAny(line[:at], "[{"); list >= 0 {
				line = line[:list] + strings.Join(lines(), "") + line[strings.LastIndexAny(line[:at], "]}")+1:]
				break
			}
			skipping = name
			out.WriteString(line)
			indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
			for _, l := range lines() {
				out.WriteString(strings.TrimRight(indent+l, " ") + "\n")
			}
			continue
		}
		out.WriteString(line)
	}
	if skipping != "" {
		return nil, fmt.Errorf("the generated part %q has no end", skipping)
	}
	if len(left) > 0 {
		return nil, fmt.Errorf("no place for %s", strings.Join(slices.Sorted(maps.Keys(left)), ", "))
	}
	return []byte(out.String()), nil
}
