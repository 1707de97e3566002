package report

import (
	"strings"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/figure"
)

// step is a count of patients in a flow, with the count it is a part of, which
// is nil for the first. share replaces the plain percentage.
type step struct {
	words     string
	count, of *int
	share     string
}

// flow shows how patients are divided, with the whole of each count.
func (s *sheet) flow(steps []step) {
	s.section("Cohort", 90)
	t := s.newTable(column{title: "", share: 60}, column{title: "Patients", share: 25, right: true}, column{title: "Share (95 % CI)", share: 30, right: true})
	t.header()
	for i, st := range steps {
		count, share := figure.Count(st.count), st.share
		if i > 0 {
			count, share = ofAll(st.count, st.of), strings.TrimSpace(share)
			if share == "" {
				share = figure.Rate(st.count, st.of)
			}
		}
		t.row(st.words, count, share)
	}
	t.end()
}

// ofAll returns "18 of 40".
func ofAll(count, of *int) string {
	if count == nil || of == nil {
		return figure.Count(count)
	}
	return figure.Thousands(*count) + " of " + figure.Thousands(*of)
}

// ofRate returns "18 of 40, 45.0 %".
func ofRate(p *analytics.Proportion) string {
	return strings.TrimPrefix(figure.OfN(p)+", "+rate(p), "no patients match, ")
}

// sites shows the location of the pain.
func (p *outcomePages) sites() {
	sites := &p.Cohort.BySite
	p.section("Site of the primary outcome", 70)
	t := p.newTable(column{title: "Site and side", share: 60}, column{title: "Patients", share: 25, right: true}, column{title: "Share", share: 30, right: true})
	t.header()
	for _, g := range sites.Groups {
		t.row(g.Group, ofAll(g.Count, sites.N), figure.Rate(g.Count, sites.N))
	}
	t.end()
}

// journey shows the patients lost in a comparison. without is nil if every
// patient has a baseline.
type journey struct {
	name             string
	patients, notDue analytics.Count
	without          *analytics.Count
	missing          analytics.Count
	compared         *int
}

// journeys explains why fewer patients were compared than there are.
func (p *outcomePages) journeys(of string, list []journey) {
	p.paragraph("Patient flow:", small)
	t := p.newTable(column{title: of, share: 30}, column{title: "Patients", share: 15, right: true}, column{title: "Not yet due", share: 15, right: true}, column{title: "No score before", share: 18, right: true},
		column{title: "No score after", share: 18, right: true}, column{title: "Compared (n)", share: 18, right: true})
	t.header()
	for _, j := range list {
		without := figure.None
		if j.without != nil {
			without = figure.Counted(*j.without)
		}
		t.row(j.name, figure.Counted(j.patients), figure.Counted(j.notDue), without, figure.Counted(j.missing), figure.Count(j.compared))
	}
	t.end()
}
