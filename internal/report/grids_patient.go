package report

import (
	"maps"
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/summary"
	"anodyne.example/anodyne/internal/report/grid"
)

func (d *PatientSummary) grids() []grid.Table {
	s := d.Summary
	var scores, medicines, doses, instruments, procedures, flags [][]any
	for _, at := range s.Pain.Points {
		scores = append(scores, []any{typed(at.RecordedAt), at.Score, at.Band, at.Aspect, at.Scale})
	}
	for _, m := range s.Medications.Current {
		medicines = append(medicines, []any{m.Name, m.DrugClass, m.Status, typed(m.FirstStartDate), typed(m.StartDate), typedOrNone(m.EndDate), m.MMEPerDay, m.MMEExcludedReason, m.RecordID, typed(m.LastStartDate), m.Assumed, typedOrNone(m.AssumedUntil)})
	}
	for _, r := range s.MME.Timeline {
		doses = append(doses, []any{typed(r.From), typed(r.To), r.MME, r.Incomplete, r.Assumed})
	}
	for _, in := range s.Instruments {
		line := []any{in.Instrument, typed(in.RecordedAt), in.Status, in.Score, in.Band, nil, in.Change, in.MCIDMet, nil}
		if in.Previous != nil {
			line[5], line[8] = in.Previous.Score, typed(in.Previous.RecordedAt)
		}
		instruments = append(instruments, line)
	}
	for _, pr := range s.Procedures {
		procedures = append(procedures, []any{pr.ProcedureType, typed(pr.RecordedAt), pr.BodySite, pr.Laterality, pr.Level, pr.PreScore, pr.PostScore, pr.ReliefPercent, pr.RecordID})
	}
	for _, f := range s.Flags {
		flags = append(flags, []any{f.Flag, f.Active, typedOrNone(f.Since)})
	}
	tables := []grid.Table{d.aboutPatient()}
	for _, t := range []struct {
		name    string
		columns []string
		lines   [][]any
	}{
		{"Pain", []string{"point", "at", "score", "band", "change_points", "change_percent", "responder_30", "responder_50", "nrs_ge_2", "worsened_30", "low_baseline", "scores"}, painLines(&s.Pain)},
		{"Pain scores", []string{"recorded_at", "score", "band", "aspect", "scale"}, scores},
		{"Medications", []string{"name", "drug_class", "status", "first_start_date", "start_date", "end_date", "mme_per_day", "mme_excluded_reason", "record_id", "last_start_date", "assumed", "assumed_until"}, medicines},
		{"MME", []string{"from", "to", "mme", "incomplete", "assumed"}, doses},
		{"Instruments", []string{"instrument", "recorded_at", "status", "score", "band", "previous_score", "change", "mcid_met", "previous_recorded_at"}, instruments},
		{"Procedures", []string{"procedure_type", "recorded_at", "body_site", "laterality", "level", "pre_score", "post_score", "relief_percent", "record_id"}, procedures},
		{"Flags", []string{"flag", "active", "since"}, flags},
		{"Flag basis", []string{"flag", "basis", "value"}, basisLines(s.Flags)},
	} {
		tables = append(tables, grid.Table{Name: t.name, Columns: t.columns, Rows: slices.Values(t.lines)})
	}
	return tables
}

// aboutPatient describes the file and lists the values that occur once per
// patient.
func (d *PatientSummary) aboutPatient() grid.Table {
	s, p := d.Summary, &d.Chart.Patient
	about := d.aboutGrid()
	who := [][]any{{"patient_id", s.PatientID}, {"name", p.Name}, {"date_of_birth", p.DateOfBirth}}
	for _, f := range pain.TextFields() {
		if f.Listed {
			who = append(who, []any{f.Name, f.Of(p)})
		}
	}
	about.Rows = chain(about.Rows, slices.Values(who), slices.Values([][]any{
		{"pain_aspect", s.Pain.Aspect}, {"pain_scale", s.Pain.Scale}, {"pain_body_site", s.Pain.BodySite}, {"pain_laterality", s.Pain.Laterality}, {"severity_scheme", s.Pain.Scheme},
		{"pain_scores", s.Pain.Scores}, {"pain_scores_truncated", s.Pain.Truncated},
		{"mme_from", typed(s.MME.From)}, {"mme_to", typed(s.MME.To)},
		{"mme_current", s.MME.Current}, {"mme_band", s.MME.CurrentBand}, {"mme_peak", s.MME.Peak}, {"mme_peak_overlapped", s.MME.PeakOverlapped}, {"mme_average", s.MME.Average},
		{"mme_covered_days", s.MME.CoveredDays}, {"mme_assumed_days", s.MME.AssumedDays}, {"mme_days_ge_50", s.MME.DaysFrom50}, {"mme_days_ge_90", s.MME.DaysFrom90},
		{"mme_incomplete", s.MME.Incomplete}, {"mme_incomplete_reasons", strings.Join(s.MME.IncompleteReasons, "; ")}, {"mme_caveat", s.MME.Caveat},
	}))
	return about
}

func painLines(p *summary.Pain) (lines [][]any) {
	if b := p.Baseline; b != nil {
		lines = append(lines, []any{"baseline", typed(b.IndexDate), b.Score, b.Band, nil, nil, nil, nil, nil, nil, nil, b.Scores})
	}
	if l := p.Latest; l != nil {
		line := []any{"latest", typed(l.RecordedAt), l.Score, l.Band, nil, nil, nil, nil, nil, nil, nil, nil}
		if c := p.Change; c != nil {
			line = append(line[:4], c.Points, c.Percent, c.Responder30, c.Responder50, c.NRSAtLeast2, c.Worsened30, c.LowBaseline, nil)
		}
		lines = append(lines, line)
	}
	return lines
}

// basisLines returns the figures behind flags, one line each.
func basisLines(flags []summary.Flag) (lines [][]any) {
	for _, f := range flags {
		for _, name := range slices.Sorted(maps.Keys(f.Basis)) {
			cell := f.Basis[name]
			switch v := cell.(type) {
			case string:
				cell = typed(v)
			case []string:
				cell = strings.Join(v, "; ")
			}
			lines = append(lines, []any{f.Flag, name, cell})
		}
	}
	return lines
}
