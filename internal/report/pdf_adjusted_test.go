package report

import (
	"encoding/json"
	"math"

	"anodyne.example/anodyne/internal/figure"
)

// estimate is a number with its interval as a PDF has it, or why there is none.
func (a *answer) estimate(value, ci, reason string, scale int64, unit string) string {
	a.t.Helper()
	if a.at(value) == nil {
		if reason == "" {
			return none
		}
		return figure.Reason(new(a.text(reason)))
	}
	text := a.decimals(value, scale, 2) + unit
	if ci != "" && a.at(ci) != nil {
		text += " (" + a.decimals(ci+".low", scale, 2) + " to " + a.decimals(ci+".high", scale, 2) + ")"
	}
	return text
}

func (p *account) standardized(a *answer) {
	p.t.Helper()
	p.take("Standardised by gender and age")
	for _, r := range a.each("standardized.rates") {
		if a.at(r+".standardized") != nil && a.at(r+".reason") != nil {
			p.t.Errorf("%s has both", r)
		}
		p.takef("%s %s %s %s", figure.Words(a.text(r+".measure")), a.ofN(r+".crude")+a.notKnown(r+".crude"), a.share(r+".crude"), a.estimate(r+".standardized", r+".ci95", r+".reason", 100, " %"))
	}
}

func (p *account) comparison(a *answer) {
	p.t.Helper()
	if a.at("comparison") == nil {
		return
	}
	p.takef("The same filters from %s to %s: %s patients match.", a.text("comparison.start_date"), a.text("comparison.end_date"), a.counted("comparison.patients.count"))
	if n := a.counted("comparison.undetermined.count"); n != "0" {
		p.takef("May match the filter by class too: %s.", n)
	}
	for _, m := range a.each("comparison.means") {
		p.takef("%s %s %s %s %s %s", figure.Term(a.text(m+".figure")), a.mean(m+".current"), a.counted(m+".current.n"), a.mean(m+".earlier"), a.counted(m+".earlier.n"),
			a.estimate(m+".difference", m+".difference_ci95", m+".reason", 1, ""))
	}
	for _, r := range a.each("comparison.rates") {
		a.checkNewcombe(r)
		p.takef("%s %s %s %s %s %s", figure.Term(a.text(r+".figure")), a.share(r+".current"), a.counted(r+".current.n"), a.share(r+".earlier"), a.counted(r+".earlier.n"),
			a.estimate(r+".difference", r+".difference_ci95", r+".reason", 100, " points"))
	}
}

// checkNewcombe works the difference of two shares out from their counts.
func (a *answer) checkNewcombe(r string) {
	a.t.Helper()
	got, ok := a.float(r + ".difference")
	if !ok {
		return
	}
	count1, _ := a.count(r + ".current.count")
	n1, _ := a.count(r + ".current.n")
	count2, _ := a.count(r + ".earlier.count")
	n2, _ := a.count(r + ".earlier.n")
	p1, p2 := float64(count1)/float64(n1), float64(count2)/float64(n2)
	low1, high1 := wilson(count1, n1)
	low2, high2 := wilson(count2, n2)
	low, _ := a.float(r + ".difference_ci95.low")
	high, _ := a.float(r + ".difference_ci95.high")
	for i, want := range []float64{p1 - p2, p1 - p2 - math.Hypot(p1-low1, high2-p2), p1 - p2 + math.Hypot(high1-p1, p2-low2)} {
		if is := []float64{got, low, high}[i]; math.Abs(is-want) > 5.1e-5 {
			a.t.Errorf("%s is %v, want %v", r, is, want)
		}
	}
}

func (p *account) adjusted(a *answer) {
	p.t.Helper()
	if a.at("adjusted") == nil {
		return
	}
	p.takef("Adjusted for the case mix %s", a.text("adjusted.label"))
	c, r := "adjusted.change", "adjusted.responder_30"
	p.takef("change of pain %s %s %s %s %s", a.counted(c+".crude.n"), a.mean(c+".crude"), a.mean(c+".organization"), a.estimate(c+".expected", "", "", 1, ""), a.estimate(c+".adjusted", c+".ci95", c+".reason", 1, ""))
	p.takef("%s %s %s %s %s %s", figure.Term("responder_30"), a.counted(r+".crude.n"), a.share(r+".crude"), a.share(r+".organization"), a.estimate(r+".expected", "", "", 100, " %"), a.estimate(r+".adjusted", r+".ci95", r+".reason", 100, " %"))
	p.takef("Excluded: without PHQ-9 at baseline %s (whole organisation %s); with unknown opioid use at baseline %s (whole organisation %s).", a.counted("adjusted.without_phq_9.count"),
		a.counted("adjusted.organization.without_phq_9.count"), a.counted("adjusted.opioid_use_undetermined.count"), a.counted("adjusted.organization.opioid_use_undetermined.count"))
	for _, model := range []string{c, r} {
		for _, one := range a.each(model + ".coefficients") {
			estimate := figure.Words(a.text(one + ".status"))
			if _, ok := a.at(one + ".estimate").(json.Number); ok {
				estimate = a.estimate(one+".estimate", one+".ci95", "", 1, "")
			}
			p.takef("%s %s %s %s", figure.Term(a.text(one+".term")), estimate, a.decimals(one+".standard_error", 1, 2), a.decimals(one+".odds_ratio", 1, 2))
		}
	}
}
