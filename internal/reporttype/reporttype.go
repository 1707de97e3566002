// Package reporttype declares what reports there are: for each type its title,
// the scopes of its data, its parameters and what the documentation says of it.
// How a report is made is in internal/report.
package reporttype

import (
	"slices"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/analytics"
)

// Type is what a report is about.
type Type string

// The types of reports.
const (
	PatientSummary Type = "patient_summary"
	Outcomes       Type = "outcomes"
	Population     Type = "population_health"
	Stewardship    Type = "opioid_stewardship"
)

// Declaration is the one declaration of a type. The API, the OpenAPI document,
// the Go client, the portal and the documentation follow it.
type Declaration struct {
	Type Type
	// Title is what a report is called unless its title is given.
	Title string
	// Scopes are those of the data that a report is made of. A report is no way
	// around them: they are asked for when it is created and when it is
	// downloaded.
	Scopes access.Scopes
	// Takes are the parameters beside as_of. AboutPatient: patient_id is
	// required too.
	Takes        analytics.Use
	AboutPatient bool
	// Endpoint has the same parameters; "" when there is none that has.
	Endpoint string

	// Client is the name of the constant in the Go client.
	Client string
	// Schema is the JSON form among the components of the OpenAPI document.
	Schema string
	// Doc, Note and Tables are texts of the documentation: what it is, what is
	// to be known of its parameters, and the tables of CSV and XLSX.
	Doc, Note, Tables string
}

// all declares the types. What the store keeps of a type is its place here: the
// list only grows at its end. How to make a report of a new type goes into the
// table of internal/report/maker.go; then make generate.
var all = []Declaration{
	{
		Type: PatientSummary, Title: "Patient summary", Scopes: access.PatientsRead | access.ClinicalDataRead, Takes: analytics.ForSummaries, AboutPatient: true,
		Client: "PatientSummaryReport", Schema: "PatientSummary",
		Doc:    "a summary of one patient, to hand to a colleague",
		Tables: "About, Pain, Pain scores, Medications, MME, Instruments, Procedures, Flags, Flag basis",
	}, {
		Type: Outcomes, Title: "Pain outcomes", Scopes: access.AnalyticsRead, Takes: analytics.ForOutcomes, Endpoint: "GET /v1/analytics/outcomes",
		Client: "OutcomesReport", Schema: "Outcomes",
		Doc:    "treatment outcomes",
		Tables: "About, Figures, Groups, Trend, Time to response; with `adjust` Coefficients; with an earlier period Comparison",
	}, {
		Type: Population, Title: "Population health", Scopes: access.AnalyticsRead, Takes: analytics.ForPopulation, Endpoint: "GET /v1/analytics/population-health",
		Client: "PopulationReport", Schema: "PopulationHealth",
		Doc:    "the state of the patient population",
		Tables: "About, Figures, Groups, MME, Disparities, Insights, Insight figures, Measures, Standardised, Standard population; with an earlier period Comparison",
	}, {
		// Small cells are not hidden in a clinician's own list of patients.
		Type: Stewardship, Title: "Opioid stewardship", Scopes: access.PatientsRead | access.ClinicalDataRead, Takes: analytics.ForLists,
		Client: "StewardshipReport", Schema: "OpioidStewardship",
		Doc: "patients on opioids, and what needs review", Note: "it lists individual patients, so small cells are not hidden",
		Tables: "Patients; in XLSX also Measures",
	},
}

// All lists the declarations in the order of their numbers.
func All() []Declaration { return slices.Clone(all) }

// Types lists the types in the same order.
func Types() []Type {
	types := make([]Type, len(all))
	for i := range all {
		types[i] = all[i].Type
	}
	return types
}

// Code is the number of a type in the store; -1 for none.
func (t Type) Code() int64 {
	return int64(slices.IndexFunc(all, func(d Declaration) bool { return d.Type == t }))
}

// Of is the declaration of a type; not ok when there is none.
func Of(t Type) (Declaration, bool) {
	for _, d := range all {
		if d.Type == t {
			return d, true
		}
	}
	return Declaration{}, false
}
