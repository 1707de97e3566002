// Package reporttype declares the types of reports: for each its title, the
// scopes of its data, its parameters and its documentation. internal/report
// generates the reports.
package reporttype

import (
	"slices"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/analytics"
)

// Type is the type of a report.
type Type string

// The types of reports.
const (
	PatientSummary Type = "patient_summary"
	Outcomes       Type = "outcomes"
	Population     Type = "population_health"
	Stewardship    Type = "opioid_stewardship"
)

// Declaration is the single declaration of a type. The API, the OpenAPI
// document, the Go client, the portal and the documentation are derived from
// it.
type Declaration struct {
	Type Type
	// Title is the default title of a report.
	Title string
	// Scopes are those of the data that a report contains. They are required to
	// create and to download a report, so that reports do not bypass them.
	Scopes access.Scopes
	// Takes are the parameters in addition to as_of. If AboutPatient is set,
	// patient_id is required too.
	Takes        analytics.Use
	AboutPatient bool
	// ListsPatients is set if a report names individual patients.
	ListsPatients bool
	// Endpoint is the endpoint with the same parameters, or "" if there is
	// none.
	Endpoint string

	// Client is the name of the constant in the Go client.
	Client string
	// Schema is the name of the JSON schema among the components of the OpenAPI
	// document.
	Schema string
	// Doc, Note and Tables are texts for the documentation: a description,
	// notes on the parameters, and the tables in CSV and XLSX.
	Doc, Note, Tables string
}

// all declares the types. The store uses the index of a type here as its
// number, so types may only be appended. To add a type, also add its maker to
// the table in internal/report/maker.go, and run make generate.
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
		Type: Stewardship, Title: "Opioid stewardship", Scopes: access.PatientsRead | access.ClinicalDataRead, Takes: analytics.ForLists, ListsPatients: true,
		Client: "StewardshipReport", Schema: "OpioidStewardship",
		Doc: "patients on opioids, and what needs review", Note: "it lists individual patients, so small cells are not hidden",
		Tables: "Patients; in XLSX also Measures",
	},
}

// All returns the declarations, ordered by number.
func All() []Declaration { return slices.Clone(all) }

// Types returns the types, ordered by number.
func Types() []Type {
	types := make([]Type, len(all))
	for i := range all {
		types[i] = all[i].Type
	}
	return types
}

// Code returns the number of a type in the store, or -1 if there is no such
// type.
func (t Type) Code() int64 {
	return int64(slices.IndexFunc(all, func(d Declaration) bool { return d.Type == t }))
}

// Of returns the declaration of a type, and whether there is one.
func Of(t Type) (Declaration, bool) {
	for _, d := range all {
		if d.Type == t {
			return d, true
		}
	}
	return Declaration{}, false
}
