package report

import (
	"fmt"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/figure"
)

func (p *outcomePages) instruments() {
	if len(p.Instruments) == 0 {
		return
	}
	p.section("Questionnaires", 70)
	t := p.newTable(column{title: "Questionnaire", share: 23}, column{title: "n", share: 10, right: true}, column{title: "Missing", share: 10, right: true}, column{title: "Baseline (95 % CI)", share: 23, right: true},
		column{title: "Follow-up (95 % CI)", share: 23, right: true}, column{title: "Change (95 % CI)", share: 23, right: true}, column{title: "Important change", share: 24, right: true})
	t.header()
	for i := range p.Instruments {
		in := &p.Instruments[i]
		met := "none published"
		if in.MCIDMet != nil {
			met = ofRate(in.MCIDMet)
		}
		t.row(figure.Words(in.Instrument), figure.Count(in.Change.N), figure.Counted(in.Missing), figure.Mean(&in.Baseline), figure.Mean(&in.FollowUp), figure.Mean(&in.Change), met)
	}
	t.end()
	var went []journey
	for i := range p.Instruments {
		in := &p.Instruments[i]
		went = append(went, journey{figure.Words(in.Instrument), in.Patients, in.NotYetDue, nil, in.Missing, in.Change.N})
	}
	p.journeys("Questionnaire", went)
	if g := &p.GlobalImpression; g.N != nil && *g.N > 0 {
		p.paragraph(fmt.Sprintf("Global impression (PGIC 1 or 2, much or very much improved): %s, %s.", figure.OfN(g), figure.Share(g)), body)
	}
}

func (p *outcomePages) treatments(title string, list []analytics.BeforeAfter) {
	if len(list) == 0 {
		return
	}
	p.section(title, 80)
	p.paragraph(figure.Capital(list[0].Label)+".", small)
	t := p.newTable(column{title: "Treatment", share: 22}, column{title: "Patients", share: 11, right: true}, column{title: "n", share: 10, right: true}, column{title: "Before (95 % CI)", share: 24, right: true},
		column{title: "After (95 % CI)", share: 24, right: true}, column{title: "Change (95 % CI)", share: 24, right: true}, column{title: "30 % better", share: 22, right: true}, column{title: "SRM", share: 9, right: true})
	t.header()
	for i := range list {
		b := &list[i]
		t.row(figure.Words(b.Treatment), figure.Counted(b.Patients), figure.Count(b.Change.N), figure.Mean(&b.Before), figure.Mean(&b.After), figure.Mean(&b.Change), ofRate(&b.R30), figure.Fixed(b.SRM))
	}
	t.end()
	var went []journey
	for i := range list {
		b := &list[i]
		went = append(went, journey{figure.Words(b.Treatment), b.Patients, b.NotYetDue, &b.NoBaseline, b.Missing, b.Change.N})
	}
	p.journeys("Treatment", went)
}

func (p *outcomePages) definitions() {
	p.section("Definitions", 95)
	p.paragraph("Primary outcome: "+p.Cohort.PrimaryOutcome, small)
	p.paragraph("A patient's index date is the day of the first such score in the period, whatever its site; the baseline is the mean of the comparable scores in the 14 days up to and including it. "+
		fmt.Sprintf("Follow-up is the score nearest to day %d, at most %d days off. ", p.FollowUp.TargetDay, p.FollowUp.ToleranceDays)+
		"Patients whose window is not over are not yet due, and not missing. Only complete cases are compared; nothing is carried forward. "+
		"Percentages are of patients whose baseline is above 0.", small)
	p.paragraph("* fewer than 10 patients: unstable. Intervals of means are Student's, of shares Wilson's, both 95 %. SRM is the mean change over its standard deviation. "+
		"Hidden: a number that would tell of few patients is left out, and others with it where it could be worked out.", small)
	p.paragraph("Pain before a procedure is made of scores that are not later than it on its day, where times of day are known; those recorded as after a procedure are left out.", small)
}
