package lists

import (
	"bytes"
	"fmt"
	"strings"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/export"
	jobs "anodyne.example/anodyne/internal/store/reports"
)

func exportFormats() []string { return []string{flow(anys(texts(jobs.ExportFormats))...)} }

func exportParts() []string {
	var names []string
	for _, p := range export.Parts() {
		names = append(names, p.Name)
	}
	return []string{flow(anys(names)...)}
}

// exportTypes writes the formats and filters of exports for the Go client.
func exportTypes(b *bytes.Buffer) {
	b.WriteString("\n// ExportFormat is the format of the files of an export.\ntype ExportFormat string\n\n// The formats of exports.\nconst (\n")
	for _, f := range jobs.ExportFormats {
		name := strings.ToUpper(string(f))
		if f == jobs.Parquet { // not an abbreviation
			name = camel(string(f))
		}
		fmt.Fprintf(b, "Export%s ExportFormat = %q\n", name, f)
	}
	fmt.Fprintf(b, "// ExportFHIR is that of exports started with FHIR's $export.\nExportFHIR ExportFormat = %q\n", jobs.FHIR)
	b.WriteString(")\n\n// ExportFilters selects the patients of an export. Zero fields select all.\ntype ExportFilters struct {\n")
	for of := range analytics.ParametersFor(analytics.ForExports) {
		field(b, camel(of.Name), sent(of), of.Name+",omitempty", of.Client)
	}
	b.WriteString("}\n")
}
