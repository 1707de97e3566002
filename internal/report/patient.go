package report

import "anodyne/internal/pain/summary"

// PatientSummary is one patient, on one page as far as it goes.
type PatientSummary struct {
	Head
	// Chart is what was read of the patient; its history and its medications
	// are printed by name.
	Chart *summary.Chart
	// Summary is the chart summed up as of Head.To.
	Summary *summary.Summary
}
