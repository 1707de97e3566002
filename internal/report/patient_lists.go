package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/figure"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/summary"
)

func (p *patientPages) medicationTable() *table {
	t := p.newTable(column{title: "Medicine", share: 30}, column{title: "Class", share: 16}, column{title: "Dose", share: 25}, column{title: "First start", share: 12},
		column{title: "Until", share: 12}, column{title: "MME a day", share: 13, right: true})
	t.header()
	return t
}

func (p *patientPages) medicationCells(m *summary.Medication) []string {
	until := "not stated"
	if m.EndDate != nil {
		until = *m.EndDate
	}
	mme := ""
	switch {
	case m.MMEPerDay != nil:
		mme = figure.Num(m.MMEPerDay)
	case m.MMEExcludedReason != nil:
		mme = figure.None + " ¹"
	}
	return []string{m.Name, figure.Words(m.DrugClass), p.dose(m.RecordID), m.FirstStartDate, until, mme}
}

// dose returns the dosage of a medicine, as far as recorded.
func (p *patientPages) dose(recordID string) string {
	m := p.medicines[recordID]
	return figure.Dosage(&m)
}

// The heights of the title above the medicines and of a note below them.
const (
	listTitle  = 14.0
	noteHeight = smallSize * lineGap
)

// leastMedications returns the height that the first few medicines should have
// on the first page.
func (p *patientPages) leastMedications() float64 {
	return listTitle + headHeight + oneLine*float64(min(len(p.Summary.Medications.Current), 4)) + noteHeight
}

// byRisk puts medicines that are dangerous in combination first, and those
// that may be one of them, so that a long list does not move them to the next
// page.
func byRisk(list []summary.Medication) []summary.Medication {
	rank := func(m summary.Medication) int {
		watched := []drug.Class{drug.Opioid, drug.Benzodiazepine, drug.Gabapentinoid, drug.Unclassified}
		if i := slices.Index(watched, drug.Class(m.DrugClass)); i >= 0 {
			return i
		}
		return len(watched)
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b summary.Medication) int { return cmp.Compare(rank(a), rank(b)) })
	return list
}

// medications lists the current medicines down to limit and returns those that
// did not fit.
func (p *patientPages) medications(limit float64) (rest []summary.Medication) {
	current := byRisk(p.Summary.Medications.Current)
	p.text(margin, p.y+bodySize, fmt.Sprintf("Current medicines (%d)", len(current)), strong)
	p.y += listTitle
	if len(current) == 0 {
		p.text(margin, p.y+bodySize, "None recorded.", body)
		return nil
	}
	if p.y+headHeight+oneLine+noteHeight > limit {
		p.text(margin, p.y+bodySize, "On the next page.", body)
		return current
	}
	t := p.medicationTable()
	for i := range current {
		keep := noteHeight // for the note that the list continues
		if i == len(current)-1 && !p.uncounted() {
			keep = 0
		}
		if !t.rowAbove(limit-keep, p.medicationCells(&current[i])...) {
			p.text(margin+cellPad, p.y+smallSize*1.1, fmt.Sprintf("%d more on the next page.", len(current)-i), small)
			return current[i:]
		}
	}
	if p.uncounted() {
		p.text(margin+cellPad, p.y+smallSize*1.1, footnote, small)
	}
	return nil
}

const footnote = "¹ Not in the total: its dose is not known, it is not counted as MME, or it is not recognised and may be an opioid."

func (p *patientPages) uncounted() bool {
	for i := range p.Summary.Medications.Current {
		if p.Summary.Medications.Current[i].MMEExcludedReason != nil {
			return true
		}
	}
	return false
}

func (p *patientPages) moreMedications(rest []summary.Medication) {
	if len(rest) == 0 {
		return
	}
	title := "Current medicines"
	if len(rest) < len(p.Summary.Medications.Current) {
		title += ", continued"
	}
	p.section(title, 60)
	t := p.medicationTable()
	for i := range rest {
		t.row(p.medicationCells(&rest[i])...)
	}
	t.end()
	if p.uncounted() {
		p.paragraph(footnote, small)
	}
}

func (p *patientPages) instruments() {
	if len(p.Summary.Instruments) == 0 {
		return
	}
	p.section("Questionnaires", 60)
	t := p.newTable(column{title: "Questionnaire", share: 26}, column{title: "Date", share: 13}, column{title: "Score", share: 12, right: true}, column{title: "Band", share: 18},
		column{title: "Before", share: 10, right: true}, column{title: "On", share: 13}, column{title: "Change", share: 10, right: true}, column{title: "Matters", share: 10})
	t.header()
	for _, in := range p.Summary.Instruments {
		before, on, matters := figure.None, "", figure.None
		if in.Previous != nil {
			before, on = figure.Num(in.Previous.Score), dayPart(in.Previous.RecordedAt)
		}
		if in.MCIDMet != nil {
			matters = yesNo(*in.MCIDMet)
		}
		score := figure.Num(in.Score)
		if in.Score == nil {
			score = in.Status
		}
		t.row(figure.Words(in.Instrument), dayPart(in.RecordedAt), score, figure.Words(in.Band), before, on, figure.Signed(in.Change), matters)
	}
	t.end()
	p.paragraph("Matters: the change from the score before is at least the smallest one that patients notice, as far as one is published.", small)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func (p *patientPages) procedures() {
	if len(p.Summary.Procedures) == 0 {
		return
	}
	p.section("Procedures", 60)
	t := p.newTable(column{title: "Date", share: 13}, column{title: "Procedure", share: 30}, column{title: "Site", share: 32}, column{title: "Pain before", share: 12, right: true}, column{title: "Pain after", share: 12, right: true}, column{title: "Relief", share: 10, right: true})
	t.header()
	for _, done := range p.Summary.Procedures {
		relief := figure.None
		if done.ReliefPercent != nil {
			relief = figure.Num(done.ReliefPercent) + " %"
		}
		site := strings.Join(strings.Fields(figure.Words(done.Laterality)+" "+figure.Words(done.BodySite)+" "+done.Level), " ")
		t.row(dayPart(done.RecordedAt), figure.Words(done.ProcedureType), site, figure.Num(done.PreScore), figure.Num(done.PostScore), relief)
	}
	t.end()
	p.paragraph("The newest 20. Pain before and after a procedure is not a comparison with anybody else: pain that is treated when it is worst often falls by itself.", small)
}

func (p *patientPages) diagnoses() {
	if len(p.history) == 0 {
		return
	}
	p.section("Medical history", 60)
	t := p.newTable(column{title: "Condition", share: 45}, column{title: "ICD-10", share: 12}, column{title: "Status", share: 14}, column{title: "Since", share: 13}, column{title: "Category", share: 16})
	t.header()
	for i := range p.history {
		h := &p.history[i]
		t.row(h.Condition, h.ICD10Code, h.Status, h.OnsetDate, figure.Words(h.Category))
	}
	t.end()
}

// definitions explains the figures on the first page: their definitions,
// numbers and missing data.
func (p *patientPages) definitions() string {
	sum := &p.Summary.Pain
	scheme := pain.DefaultScheme
	var b strings.Builder
	fmt.Fprintf(&b, "Pain: %s; n = %d in the period, %d in all. Bands: %s scheme, mild below %g, moderate from %g, severe from %g. ",
		p.drawn.Kind, len(p.drawn.Pain.Points), sum.Scores, sum.Scheme, scheme.Moderate, scheme.Moderate, scheme.Severe)
	if sum.Baseline != nil {
		fmt.Fprintf(&b, "Baseline: %s Here n = %d. Responder: at least 30 %% (or 50 %%) less pain than at baseline. ", sum.Baseline.Rule, sum.Baseline.Scores)
	}
	b.WriteString("Scores more than 30 days apart are not joined by a line. Kinds of scores are never mixed: " + sum.Rule + " ")
	m := &p.Summary.MME
	fmt.Fprintf(&b, "MME: %s, %s to %s; peak is %s, average (%s) %s. ", m.Table, m.From, m.To, m.Definitions.Peak, m.Definitions.Average, figure.Num(m.Average))
	if m.Peak != nil && m.PeakOverlapped != nil && *m.PeakOverlapped > *m.Peak {
		fmt.Fprintf(&b, "With early refills counted at once the peak is %s. ", figure.Num(m.PeakOverlapped))
	}
	if m.AssumedDays > 0 {
		fmt.Fprintf(&b, "Days with an opioid that is assumed to be taken: %d. ", m.AssumedDays)
	}
	b.WriteString("Missing: " + strings.Join(p.missing(), "; ") + ". " + p.Summary.MME.Caveat + " A flag asks for review; it is no verdict, and no reason for a forced or abrupt taper.")
	return b.String()
}

// missing lists unknown values that a reader could mistake for zero.
func (p *patientPages) missing() (list []string) {
	if len(p.drawn.Pain.Points) == 0 {
		list = append(list, "no score in the period")
	}
	if p.drawn.Before > 0 {
		list = append(list, fmt.Sprintf("scores before the period (not drawn): %d", p.drawn.Before))
	}
	if p.Summary.MME.Incomplete {
		list = append(list, "the dose of an opioid is not known, or what a medicine is, so MME may be too low")
	}
	open := 0
	for i := range p.Summary.Medications.Current {
		if p.Summary.Medications.Current[i].Assumed {
			open++
		}
	}
	if open > 0 {
		list = append(list, fmt.Sprintf("medicines without supply or end, assumed to be taken: %d", open))
	}
	if len(list) == 0 {
		list = append(list, "nothing that is known of")
	}
	return list
}
