package report

import (
	"iter"
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/report/grid"
)

// aboutGrid describes the file.
func (h *Head) aboutGrid() grid.Table {
	lines := [][]any{
		{"title", h.Title}, {"organisation", h.Organisation}, {"as_of", h.AsOf}, {"start_date", h.From}, {"end_date", h.To},
	}
	for _, f := range h.Filters {
		line := []any{f.Name, typed(f.Value)}
		if f.Number != nil {
			line[1] = f.Number
		}
		lines = append(lines, line)
	}
	return grid.Table{Name: "About", Columns: []string{"name", "value"}, Rows: slices.Values(lines)}
}

// grids returns the list of patients and the measures. CSV only has the list,
// so that programs can read it directly.
func (d *Stewardship) grids() []grid.Table {
	return []grid.Table{d.listGrid(), measureGrid(d.Measures)}
}

func (d *Stewardship) listGrid() grid.Table {
	return grid.Table{
		Name: "Patients",
		Columns: []string{"patient_id", "name", "date_of_birth", "age", "opioids", "current", "mme", "mme_band", "mme_peak", "mme_average", "incomplete", "opioid_days",
			"ge_50", "ge_90", "opioid_benzo_overlap", "overlap_days", "naloxone_gap", "naloxone_reasons", "last_naloxone",
			"last_uds", "uds_within_12_months", "unexpected_uds", "last_peg", "peg_within_12_months", "prescribers", "pharmacies", "out_of_guideline_scope",
			"opioid_exposure", "unclassified", "mme_incomplete", "most_opioid_days", "most_prescribers", "mme_peak_overlapped", "mme_assumed", "assumed_days"},
		Rows: func(yield func([]any) bool) {
			var cells [35]any
			for i := range d.Rows {
				r := &d.Rows[i]
				cells = [...]any{r.PatientID, r.Name, r.DateOfBirth, r.Age, strings.Join(r.Opioids, "; "), r.Current,
					oneDecimal(r.MME), r.band(), oneDecimal(r.Peak), oneDecimal(r.Average), r.Incomplete, r.OpioidDays,
					r.atLeast(50), r.atLeast(90), r.Overlap, r.OverlapDays, r.NaloxoneGap, strings.Join(r.NaloxoneReasons, "; "), r.LastNaloxone,
					r.LastUDS, d.withinYear(r.LastUDS), r.UnexpectedUDS, r.LastPEG, d.withinYear(r.LastPEG), r.Prescribers, r.Pharmacies, r.OutOfScope,
					r.Exposed, strings.Join(r.Unclassified, "; "), r.MMEIncomplete, r.MostOpioidDays, r.MostPrescribers, oneDecimal(r.PeakOverlapped), r.MMEAssumed, r.AssumedDays}
				if !yield(cells[:]) {
					return
				}
			}
		},
	}
}

// typed converts a text to a date or time if it is one.
func typed(text string) any {
	if day, err := pain.ParseDate(text); err == nil {
		return day
	}
	if at, ok := pain.ParseMoment(text); ok {
		return at
	}
	return text
}

// typedOrNone is typed for an optional text.
func typedOrNone(text *string) any {
	if text == nil {
		return nil
	}
	return typed(*text)
}

// chain concatenates sequences.
func chain[T any](parts ...iter.Seq[T]) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, part := range parts {
			for v := range part {
				if !yield(v) {
					return
				}
			}
		}
	}
}
