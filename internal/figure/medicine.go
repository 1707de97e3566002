package figure

import (
	"fmt"
	"strings"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/summary"
)

// Dosage returns the dosage of a medicine, as far as recorded.
func Dosage(m *pain.Medication) string {
	var parts []string
	amount, unit := m.Dose, m.DoseUnit
	if _, given := amount.Get(); !given {
		amount, unit = m.Strength, m.StrengthUnit
	}
	if n, given := amount.Get(); given {
		parts = append(parts, strings.TrimSpace(Num(&n)+" "+unit))
	}
	if m.Frequency != "" {
		parts = append(parts, m.Frequency)
	} else if n, given := m.DosesPerDay.Get(); given {
		parts = append(parts, Num(&n)+" a day")
	}
	if prn, given := m.PRN.Get(); given && prn {
		parts = append(parts, "as needed")
	}
	if m.Route != "" {
		parts = append(parts, Words(m.Route))
	}
	return strings.Join(parts, ", ")
}

// Basis returns the basis of a medicine's class, if it is not the dictionary:
// the organisation's alias with what it stands for, or the class stated in the
// record.
func Basis(m *pain.Medication) string {
	switch drug.Basis(m.Derived.Basis) {
	case drug.ByAlias:
		return "by an alias: " + strings.Join(m.Derived.Ingredients, " and ")
	case drug.ByStated:
		return "as stated"
	}
	return ""
}

// Flag returns a flag with its start and basis.
func Flag(f *summary.Flag) string {
	text := Words(f.Flag)
	if f.Since != nil {
		text += " since " + *f.Since
		if earlier, ok := f.Basis["since_incomplete"].(bool); ok && earlier {
			text += " or earlier"
		}
	}
	var basis []string
	if days, ok := f.Basis["shared_days"].(int); ok && days > 0 {
		basis = append(basis, fmt.Sprintf("%d shared days", days))
	}
	if days, ok := f.Basis["assumed_days"].(int); ok && days > 0 {
		basis = append(basis, fmt.Sprintf("%d of them assumed", days))
	}
	if current, ok := f.Basis["current"].(bool); ok && current {
		basis = append(basis, "both current")
	}
	if mme, ok := f.Basis["mme"].(*float64); ok && mme != nil {
		basis = append(basis, Num(mme)+" MME a day")
	}
	if assumed, ok := f.Basis["assumed"].(bool); ok && assumed {
		basis = append(basis, "assumed to be taken")
	}
	if incomplete, ok := f.Basis["incomplete"].(bool); ok && incomplete {
		basis = append(basis, "not all of the dose is known")
	}
	if reasons, ok := f.Basis["reasons"].([]string); ok {
		for _, reason := range reasons {
			basis = append(basis, Words(reason))
		}
	}
	if codes, ok := f.Basis["icd10_codes"].([]string); ok {
		basis = append(basis, codes...)
	}
	if names, ok := f.Basis["unclassified"].([]string); ok && len(names) > 0 {
		basis = append(basis, fmt.Sprintf("medicines not recognised: %d", len(names)))
	}
	if len(basis) > 0 {
		text += ": " + strings.Join(basis, ", ")
	}
	return text
}

// Condition returns the status and onset of a condition of the history.
func Condition(h *pain.HistoryEntry) string {
	var parts []string
	if h.Category == "family" {
		parts = append(parts, "family history")
	}
	switch h.Status {
	case "":
	case "remission":
		parts = append(parts, "in remission")
	default:
		parts = append(parts, h.Status)
	}
	if h.OnsetDate != "" {
		parts = append(parts, "since "+h.OnsetDate)
	}
	if h.ResolvedDate != "" {
		parts = append(parts, "until "+h.ResolvedDate)
	}
	return strings.Join(parts, ", ")
}
