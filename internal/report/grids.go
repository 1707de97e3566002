package report

import (
	"iter"
	"slices"
	"strings"

	"anodyne/internal/report/grid"
)

// aboutGrid says what a file is about.
func (h *Head) aboutGrid() grid.Table {
	lines := [][]any{
		{"title", h.Title}, {"organisation", h.Organisation}, {"as_of", h.AsOf.UTC().Format("2006-01-02T15:04:05Z")}, {"start_date", h.From}, {"end_date", h.To},
	}
	for _, f := range h.Filters {
		lines = append(lines, []any{f.Name, f.Value})
	}
	return grid.Table{Name: "About", Columns: []string{"name", "value"}, Rows: slices.Values(lines)}
}

// grids is one list of patients, which programs can read as it is.
func (d *Stewardship) grids() []grid.Table {
	return []grid.Table{{
		Name: "Patients",
		Columns: []string{"patient_id", "name", "date_of_birth", "age", "opioids", "current", "mme", "mme_band", "mme_peak", "mme_average", "incomplete", "opioid_days",
			"ge_50", "ge_90", "opioid_benzo_overlap", "overlap_days", "naloxone_gap", "naloxone_reasons", "last_naloxone",
			"last_uds", "uds_within_12_months", "unexpected_uds", "last_peg", "peg_within_12_months", "prescribers", "pharmacies", "out_of_guideline_scope"},
		Rows: func(yield func([]any) bool) {
			var cells [27]any
			for i := range d.Rows {
				r := &d.Rows[i]
				cells = [...]any{r.PatientID, r.Name, r.DateOfBirth, r.Age, strings.Join(r.Opioids, "; "), r.Current,
					oneDecimal(r.MME), r.band(), oneDecimal(r.Peak), oneDecimal(r.Average), r.Incomplete, r.OpioidDays,
					r.atLeast(50), r.atLeast(90), r.Overlap, r.OverlapDays, r.NaloxoneGap, strings.Join(r.NaloxoneReasons, "; "), r.LastNaloxone,
					r.LastUDS, d.withinYear(r.LastUDS), r.UnexpectedUDS, r.LastPEG, d.withinYear(r.LastPEG), r.Prescribers, r.Pharmacies, r.OutOfScope}
				if !yield(cells[:]) {
					return
				}
			}
		},
	}}
}

func (d *PatientSummary) grids() []grid.Table {
	s, p := d.Summary, &d.Chart.Patient
	about := d.aboutGrid()
	about.Rows = chain(about.Rows, slices.Values([][]any{
		{"patient_id", s.PatientID}, {"name", p.Name}, {"date_of_birth", p.DateOfBirth}, {"gender", p.Gender},
		{"pain_aspect", s.Pain.Aspect}, {"pain_scale", s.Pain.Scale}, {"severity_scheme", s.Pain.Scheme},
		{"mme_current", s.MME.Current}, {"mme_band", s.MME.CurrentBand}, {"mme_peak", s.MME.Peak}, {"mme_average", s.MME.Average},
		{"mme_incomplete", s.MME.Incomplete}, {"mme_caveat", s.MME.Caveat},
	}))
	tables := []grid.Table{about}
	add := func(name string, columns []string, lines [][]any) {
		tables = append(tables, grid.Table{Name: name, Columns: columns, Rows: slices.Values(lines)})
	}
	change := [][]any{}
	if b := s.Pain.Baseline; b != nil {
		change = append(change, []any{"baseline", b.IndexDate, b.Score, b.Band, nil, nil, nil})
	}
	if l := s.Pain.Latest; l != nil {
		line := []any{"latest", l.RecordedAt, l.Score, l.Band, nil, nil, nil}
		if c := s.Pain.Change; c != nil {
			line[4], line[5], line[6] = c.Points, c.Percent, c.Responder30
		}
		change = append(change, line)
	}
	add("Pain", []string{"point", "at", "score", "band", "change_points", "change_percent", "responder_30"}, change)
	scores := make([][]any, 0, len(s.Pain.Points))
	for _, at := range s.Pain.Points {
		scores = append(scores, []any{at.RecordedAt, at.Score, at.Band, at.Aspect, at.Scale})
	}
	add("Pain scores", []string{"recorded_at", "score", "band", "aspect", "scale"}, scores)
	var medicines, doses, instruments, procedures, flags [][]any
	for _, m := range s.Medications.Current {
		medicines = append(medicines, []any{m.Name, m.DrugClass, m.Status, m.StartDate, m.EndDate, m.MMEPerDay, m.MMEExcludedReason, m.RecordID})
	}
	add("Medications", []string{"name", "drug_class", "status", "start_date", "end_date", "mme_per_day", "mme_excluded_reason", "record_id"}, medicines)
	for _, r := range s.MME.Timeline {
		doses = append(doses, []any{r.From, r.To, r.MME, r.Incomplete})
	}
	add("MME", []string{"from", "to", "mme", "incomplete"}, doses)
	for _, in := range s.Instruments {
		line := []any{in.Instrument, in.RecordedAt, in.Status, in.Score, in.Band, nil, in.Change, in.MCIDMet}
		if in.Previous != nil {
			line[5] = in.Previous.Score
		}
		instruments = append(instruments, line)
	}
	add("Instruments", []string{"instrument", "recorded_at", "status", "score", "band", "previous_score", "change", "mcid_met"}, instruments)
	for _, pr := range s.Procedures {
		procedures = append(procedures, []any{pr.ProcedureType, pr.RecordedAt, pr.BodySite, pr.Laterality, pr.Level, pr.PreScore, pr.PostScore, pr.ReliefPercent, pr.RecordID})
	}
	add("Procedures", []string{"procedure_type", "recorded_at", "body_site", "laterality", "level", "pre_score", "post_score", "relief_percent", "record_id"}, procedures)
	for _, f := range s.Flags {
		flags = append(flags, []any{f.Flag, f.Active, f.Since})
	}
	add("Flags", []string{"flag", "active", "since"}, flags)
	return tables
}

// chain is one sequence after another.
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
