package lists

import (
	"bytes"
	"fmt"
	"strings"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/reporttype"
	jobs "anodyne.example/anodyne/internal/store/reports"
)

func reportTypes() []string { return []string{flow(anys(texts(reporttype.Types()))...)} }

func texts[T ~string](words []T) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = string(w)
	}
	return list
}

// byScopes groups the report types that require the same scopes.
func byScopes() (groups [][]reporttype.Declaration) {
	at := map[access.Scopes]int{}
	for _, d := range reporttype.All() {
		i, known := at[d.Scopes]
		if !known {
			i, at[d.Scopes] = len(groups), len(groups)
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], d)
	}
	return groups
}

// and joins words with commas and "and".
func and(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " and " + list[last]
}

// code formats words as code.
func code(words ...string) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = "`" + w + "`"
	}
	return list
}

// reportScopes returns a sentence with the scopes that each type requires.
func reportScopes() string {
	var list []string
	for _, group := range byScopes() {
		var types []string
		for _, d := range group {
			types = append(types, string(d.Type))
		}
		list = append(list, and(code(group[0].Scopes.Names()...))+" for "+and(code(types...)))
	}
	return strings.Join(list, ", ")
}

// reportTakes lists the parameters of a type.
func reportTakes(d *reporttype.Declaration) string {
	if d.Endpoint != "" {
		return "those of `" + d.Endpoint + "`"
	}
	list := code(analytics.NamesFor(d.Takes)...)
	if d.AboutPatient {
		list = append([]string{"`patient_id` (required)"}, list...)
	}
	return strings.Join(list, ", ")
}

// reportTypeParameters returns the description of the parameters of a new
// report.
func reportTypeParameters() []string {
	text := "The parameters of the report. Each type accepts the parameters of the endpoint with the same name.\n"
	for _, d := range reporttype.All() {
		text += "`" + string(d.Type) + "`: " + reportTakes(&d)
		if d.Note != "" {
			text += "; " + d.Note
		}
		text += ".\n"
	}
	return member("description", text)
}

// reportSchemas returns the JSON schemas of reports.
func reportSchemas() (lines []string) {
	for _, group := range byScopes() {
		for _, d := range group {
			lines = append(lines, "- {$ref: '#/components/schemas/"+d.Schema+"'}")
		}
	}
	return lines
}

func reportTable() []string {
	header := "| type | what it is | parameters | scopes besides `reports:read` and `reports:write` |"
	return table(header, reporttype.All(), func(d reporttype.Declaration) string {
		return fmt.Sprintf("| `%s` | %s | %s | %s |", d.Type, d.Doc, reportTakes(&d), strings.Join(code(d.Scopes.Names()...), ", "))
	})
}

func reportTables() []string {
	return table("| report | tables |", reporttype.All(), func(d reporttype.Declaration) string { return fmt.Sprintf("| `%s` | %s |", d.Type, d.Tables) })
}

func reportConstants(b *bytes.Buffer) {
	b.WriteString("\n// ReportType is the type of a report.\ntype ReportType string\n\n// The report types.\nconst (\n")
	for _, d := range reporttype.All() {
		fmt.Fprintf(b, "%s ReportType = %q\n", d.Client, d.Type)
	}
	b.WriteString(")\n\n// ReportFormat is the file format of a report.\ntype ReportFormat string\n\n// The report formats.\nconst (\n")
	for _, f := range jobs.ReportFormats {
		fmt.Fprintf(b, "%s ReportFormat = %q\n", strings.ToUpper(string(f)), f)
	}
	b.WriteString(")\n\n// ReportStatus is the status of a report or an export.\ntype ReportStatus string\n\n// The statuses of reports and exports.\nconst (\n")
	for _, s := range jobs.Statuses {
		fmt.Fprintf(b, "Report%s ReportStatus = %q\n", camel(string(s)), s)
	}
	b.WriteString(")\n")
}
