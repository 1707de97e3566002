package lists

import (
	"strings"

	"anodyne.example/anodyne/internal/analytics"
)

func outcomesReferences() []string   { return references(analytics.ForOutcomes) }
func populationReferences() []string { return references(analytics.ForPopulation) }

func references(use analytics.Use) (lines []string) {
	for of := range analytics.ParametersFor(use) {
		lines = append(lines, "- $ref: '#/components/parameters/"+component(of)+"'")
	}
	return lines
}

// component returns the name of a parameter among the document's components.
func component(of *analytics.Parameter) string {
	return "Analytics" + strings.TrimSuffix(camel(of.Name), "Date")
}

// words returns the enum of a parameter's values, followed by more.
func words(of *analytics.Parameter, more ...any) string {
	list := make([]any, 0, len(of.Words)+len(more))
	for _, word := range of.Words {
		list = append(list, typed(of, word))
	}
	return "enum: " + flow(append(list, more...)...)
}

// typed returns a value for flow: text, or a raw number.
func typed(of *analytics.Parameter, text string) any {
	if of.Number {
		return raw(text)
	}
	return text
}

func analyticsParameters() (lines []string) {
	for i := range analytics.Parameters {
		of := &analytics.Parameters[i]
		var members []string
		switch of.Type {
		case analytics.Day:
			members = []string{"type: string", "format: date"}
		case analytics.Word:
			members = []string{words(of)}
		case analytics.Whole:
			members = []string{"type: integer", "minimum: 0", "maximum: " + flowOne(of.Max)}
		case analytics.Text:
			members = []string{"type: string", "minLength: 1"}
			if of.Pattern != "" {
				members[1] = "pattern: '" + of.Pattern + "'"
			}
		}
		if of.Default != "" {
			members = append(members, "default: "+flowOne(typed(of, of.Default)))
		}
		lines = append(lines, component(of)+":", "  name: "+of.Name, "  in: query")
		for _, line := range member("description", of.Doc) {
			lines = append(lines, "  "+line)
		}
		lines = append(lines, "  schema: "+schema(members...), "  example: "+flowOne(typed(of, of.Example)))
	}
	return lines
}

// flowOne returns one value as YAML.
func flowOne(value any) string {
	text := flow(value)
	return text[1 : len(text)-1]
}

func alwaysInOutcomes() []string   { return always(analytics.ForOutcomes) }
func alwaysInPopulation() []string { return always(analytics.ForPopulation) }

func always(use analytics.Use) []string {
	var names []any
	for of := range analytics.ParametersFor(use) {
		if of.Repeated {
			names = append(names, of.Name)
		}
		if of.Name == asOfFollows {
			names = append(names, "as_of")
		}
	}
	return []string{flow(names...)}
}

// asOfFollows is the parameter before as_of, which is only in responses.
const asOfFollows = "end_date"

func outcomesInForce() []string   { return inForce(analytics.ForOutcomes) }
func populationInForce() []string { return inForce(analytics.ForPopulation) }

func inForce(use analytics.Use) (lines []string) {
	for of := range analytics.ParametersFor(use) {
		var members []string
		switch {
		case of.Type == analytics.Day:
			members = []string{"type: string", "format: date"}
		case nullable(of) && of.Number:
			members = []string{"type: [integer, 'null']", "minimum: 0"}
		case nullable(of):
			members = []string{"type: [string, 'null']"}
		case of.Type == analytics.Word:
			members = []string{words(of)}
		case of.Number:
			members = []string{"type: integer"}
		default:
			members = []string{"type: string"}
		}
		lines = append(lines, of.Name+": "+described(members, of.InForce))
		if of.Name == asOfFollows {
			lines = append(lines, "as_of: "+described([]string{"type: string", "format: date"},
				"The last day considered, and the effective end of the period: `end_date`, or today (UTC) if `end_date` is later, or `start_date` if that is later still. "+
					"Ages, current medicines, completed follow-up windows and look-back periods of 90 and 365 days are determined as of this day."))
		}
	}
	return lines
}

// nullable reports whether responses have null for a parameter without a value.
func nullable(of *analytics.Parameter) bool {
	return of.Repeated && of.Default == "" && of.Type != analytics.Day
}

// reportParameters returns the effective parameters that a report shows.
func reportParameters() []string { return shownParameters(^analytics.Use(0)) }

// exportFilters and newExportFilters return the filters of exports: the
// effective ones, and those accepted in a request.
func exportFilters() []string    { return shownParameters(analytics.ForExports) }
func newExportFilters() []string { return acceptedParameters(analytics.ForExports) }

func shownParameters(use analytics.Use) (lines []string) {
	for of := range analytics.ParametersFor(use) {
		members := []string{"type: string"}
		switch {
		case of.Type == analytics.Day:
			members = []string{"type: string", "format: date"}
		case of.Type == analytics.Word && !of.Open:
			members = []string{words(of)}
		case of.Type == analytics.Whole:
			members = []string{"type: integer", "minimum: 0", "maximum: " + flowOne(of.Max)}
		}
		lines = append(lines, of.Name+": "+schema(members...))
	}
	return lines
}

// newReportParameters returns the parameters accepted in a request for a
// report.
func newReportParameters() []string { return acceptedParameters(^analytics.Use(0)) }

func acceptedParameters(use analytics.Use) (lines []string) {
	for of := range analytics.ParametersFor(use) {
		members := []string{"type: [string, 'null']"}
		switch {
		case of.Type == analytics.Word && of.Number:
			members = []string{words(of, null)}
		case of.Type == analytics.Word && !of.Open && !of.AnyCase:
			members = []string{words(of, "", null)}
		case of.Number:
			members = []string{"type: [integer, 'null']"}
		}
		lines = append(lines, of.Name+": "+described(members, of.InReport))
	}
	return lines
}
