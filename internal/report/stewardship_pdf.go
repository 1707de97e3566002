package report

import (
	"fmt"
	"io"
	"strings"

	"anodyne.example/anodyne/internal/chart"
	"anodyne.example/anodyne/internal/figure"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/summary"
)

// WritePDF writes the lists of an opioid stewardship programme.
func (d *Stewardship) WritePDF(w io.Writer) error {
	s := newSheet(&d.Head, "Opioid stewardship")
	p := stewardPages{s, d}
	s.cover("Patients with an opioid in the period, or with a medicine that may be one. A flag asks for review; it is no verdict, and no reason for a forced or abrupt taper.")
	p.tiles()
	p.doses()
	p.overview()
	p.sheet.measures("Aligned measures of opioid use", p.Measures)
	for _, l := range p.lists() {
		p.list(&l)
	}
	p.definitions()
	return s.finish(w)
}

// stewardPages writes the pages of a stewardship report.
type stewardPages struct {
	*sheet
	*Stewardship
}

// list is a list of patients to review.
type list struct {
	title, why string
	detail     string                      // heading of its own column
	is         func(*StewardshipRow) *bool // nil if unknown
	words      func(*StewardshipRow) string
}

func (p *stewardPages) lists() []list {
	opioids := func(r *StewardshipRow) string {
		text := strings.Join(r.Opioids, ", ")
		if r.Peak != nil {
			text += "; peak " + figure.Num(oneDecimal(r.Peak))
			if r.PeakOverlapped != nil && *r.PeakOverlapped > *r.Peak {
				text += " (" + figure.Num(oneDecimal(r.PeakOverlapped)) + " with early refills)"
			}
		}
		if r.AssumedDays > 0 {
			text += fmt.Sprintf("; assumed days %d", r.AssumedDays)
		}
		return text
	}
	last := func(what string, day func(*StewardshipRow) pain.Date) func(*StewardshipRow) string {
		return func(r *StewardshipRow) string {
			if d := day(r); d != (pain.Date{}) {
				return "last " + d.String()
			}
			return "no " + what + " recorded"
		}
	}
	uds := func(r *StewardshipRow) pain.Date { return r.LastUDS }
	peg := func(r *StewardshipRow) pain.Date { return r.LastPEG }
	return []list{
		{"90 MME a day or more", "The daily dose of the current opioids.", "Opioids", func(r *StewardshipRow) *bool { return r.atLeast(90) }, opioids},
		{"50 to less than 90 MME a day, as far as known", "The daily dose of the current opioids.", "Opioids",
			func(r *StewardshipRow) *bool {
				if is(r.atLeast(90)) {
					return new(false)
				}
				return r.atLeast(50)
			}, opioids},
		{"Opioid dose not known", "The patient is currently on an opioid whose dose is not known or not counted as MME, or also on a medicine that may be an opioid: the total may be too low or missing.", "Opioids",
			func(r *StewardshipRow) *bool {
				if !r.MMEIncomplete && r.MME != nil {
					return new(false)
				}
				return r.Current
			}, opioids},
		{"Medicine not recognised", "Its name and code are not known, and its class is not stated: it may be an opioid of any dose, a benzodiazepine, or naloxone.", "Medicines",
			func(r *StewardshipRow) *bool { return new(len(r.Unclassified) > 0) }, func(r *StewardshipRow) string { return strings.Join(r.Unclassified, ", ") }},
		{"Opioid with benzodiazepine", "Both are taken on the same days of the period.", "Shared days",
			func(r *StewardshipRow) *bool { return r.Overlap }, func(r *StewardshipRow) string { return figure.Thousands(r.OverlapDays) }},
		{"Naloxone gap", "The patient is currently on an opioid and has a risk factor for overdose, and no naloxone is on record in the last 365 days.", "Risk factors",
			func(r *StewardshipRow) *bool { return r.NaloxoneGap }, func(r *StewardshipRow) string {
				reasons := make([]string, len(r.NaloxoneReasons))
				for i, reason := range r.NaloxoneReasons {
					reasons[i] = figure.Words(reason)
				}
				return strings.Join(reasons, ", ")
			}},
		{"Unexpected urine drug screen", "The latest screen has an unexpected result. Immunoassays are presumptive until confirmed.", "Screen",
			func(r *StewardshipRow) *bool { return &r.UnexpectedUDS }, last("screen", uds)},
		{"No urine drug screen in 12 months", "The patient is currently on an opioid.", "Screen",
			func(r *StewardshipRow) *bool { return p.lacks(r, r.LastUDS) }, last("screen", uds)},
		{"No PEG in 12 months", "The patient is currently on an opioid.", "PEG",
			func(r *StewardshipRow) *bool { return p.lacks(r, r.LastPEG) }, last("PEG", peg)},
		{"Several prescribers", fmt.Sprintf("%d or more in the period, as far as they are recorded.", ManyPrescribers), "Prescribers / pharmacies",
			(*StewardshipRow).severalPrescribers,
			func(r *StewardshipRow) string { return fmt.Sprintf("%d / %d", r.Prescribers, r.Pharmacies) }},
	}
}

// count returns the number of rows for which something holds, and the number
// for which it is unknown.
func (p *stewardPages) count(holds func(*StewardshipRow) *bool) (n, unknown int) {
	for i := range p.Rows {
		if yes := holds(&p.Rows[i]); yes == nil {
			unknown++
		} else if *yes {
			n++
		}
	}
	return n, unknown
}

func (p *stewardPages) tiles() {
	current, maybeCurrent := p.count(func(r *StewardshipRow) *bool { return r.Current })
	exposed, maybeExposed := p.count(func(r *StewardshipRow) *bool { return r.Exposed })
	part := func(title string, holds func(*StewardshipRow) *bool) tile {
		n, unknown := p.count(holds)
		return tile{title, figure.Thousands(n) + orMore(unknown), figure.Rate(&n, &current) + " of " + figure.Thousands(current) + " with a current opioid", notKnown(unknown)}
	}
	p.tileRow([]tile{
		{"WITH A CURRENT OPIOID", figure.Thousands(current) + orMore(maybeCurrent), "of " + figure.Thousands(p.Patients) + " patients; " + figure.Thousands(exposed) + " in the period",
			notKnown(maybeExposed)},
		part("50 MME A DAY OR MORE", func(r *StewardshipRow) *bool { return r.atLeast(50) }),
		part("90 MME A DAY OR MORE", func(r *StewardshipRow) *bool { return r.atLeast(90) }),
		part("NALOXONE GAP", func(r *StewardshipRow) *bool { return r.NaloxoneGap }),
	})
}

// orMore marks a number that may be larger because of unknown cases.
func orMore(unknown int) string {
	if unknown == 0 {
		return ""
	}
	return " or more"
}

func notKnown(unknown int) string {
	if unknown == 0 {
		return ""
	}
	return "for " + figure.Thousands(unknown) + " it is not known"
}

// doses draws the current daily doses by band.
func (p *stewardPages) doses() {
	bands := map[string]int{}
	unknown, maybe := 0, 0
	for i := range p.Rows {
		switch r := &p.Rows[i]; {
		case r.Current == nil:
			maybe++
		case !*r.Current:
		case r.band() == nil || *r.band() == summary.UnknownBand:
			unknown++
		default:
			bands[*r.band()]++
		}
	}
	c := &chart.Histogram{Title: "Current opioid dose"}
	for _, band := range []string{">0-<20", "20-<50", "50-<90", ">=90"} {
		bin := figure.DoseBands[band]
		bin.Count = new(bands[band])
		c.Bins = append(c.Bins, bin)
	}
	c.Apart = []chart.Apart{{Name: figure.UnknownDose, Count: &unknown}, {Name: "may have one", Count: &maybe}}
	p.figure("Patients by current daily dose", c, 120)
	if unknown > 0 {
		p.paragraph("Not known: "+figure.Thousands(unknown)+" with an opioid whose dose is not known or not counted as MME.", small)
	}
	if maybe > 0 {
		p.paragraph("May have one: "+figure.Thousands(maybe)+" with a medicine that is not recognised and may be an opioid.", small)
	}
}

func (p *stewardPages) overview() {
	p.section("For review", 120)
	t := p.newTable(column{title: "List", share: 60}, column{title: "Patients", share: 15, right: true}, column{title: "Not known", share: 15, right: true},
		column{title: "Outside the guideline's scope", share: 30, right: true})
	t.header()
	for _, l := range p.lists() {
		p.overviewRow(t, l.title, l.is)
	}
	p.overviewRow(t, fmt.Sprintf("Opioid on %d days or more of the period (not listed)", LongTerm), (*StewardshipRow).longTerm)
	t.end()
}

func (p *stewardPages) overviewRow(t *table, title string, holds func(*StewardshipRow) *bool) {
	n, unknown := p.count(holds)
	outside, _ := p.count(func(r *StewardshipRow) *bool { return new(r.OutOfScope && is(holds(r))) })
	t.row(title, figure.Thousands(n), figure.Thousands(unknown), figure.Thousands(outside))
}

// list prints the patients of a list, over as many pages as needed.
func (p *stewardPages) list(l *list) {
	var rows []*StewardshipRow
	for i := range p.Rows {
		if is(l.is(&p.Rows[i])) {
			rows = append(rows, &p.Rows[i])
		}
	}
	if len(rows) == 0 {
		return
	}
	p.section(fmt.Sprintf("%s (%s)", l.title, figure.Thousands(len(rows))), 70)
	p.paragraph(l.why, small)
	t := p.newTable(column{title: "Patient", share: 138}, column{title: "Born", share: 60}, column{title: "Identifier", share: 140, fine: true},
		column{title: "MME a day", share: 54, right: true}, column{title: l.detail, share: 124})
	t.header()
	for _, r := range rows {
		name := r.Name
		if r.OutOfScope {
			name += " ²"
		}
		t.row(name, r.DateOfBirth.String(), r.PatientID, doseText(r), l.words(r))
	}
	t.end()
}

func doseText(r *StewardshipRow) string {
	switch {
	case r.MME == nil:
		return "not known"
	case r.MMEIncomplete:
		return "≥ " + figure.Num(oneDecimal(r.MME))
	}
	return figure.Num(oneDecimal(r.MME))
}

func (p *stewardPages) definitions() {
	p.section("Definitions", 50)
	p.paragraph("² Outside the scope of the opioid guideline: cancer, sickle cell disease, or palliative care. "+
		"MME a day is the total of the current opioids; buprenorphine, and methadone for opioid use disorder, are not included in totals. ≥ before a dose means that the dose of another opioid is not known, or that another medicine may be an opioid. "+
		"Not known: whether the patient belongs on the list depends on a medicine that is not recognised, or on an unknown opioid dose. "+
		"Peak is the highest single day of the period (definition 4), early refills carried forward. Assumed: an opioid without supply or end counts until it is stopped or replaced, for 90 days at most. A clinic sees its own prescriptions, not what is filled elsewhere. "+
		"The 50 and 90 lines come from the guidelines of 2022 and 2016; they are not limits. "+drug.MMETable+". "+summary.Caveat, small)
}
