package report

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/figure"
)

func (p *account) stewardship(a *answer, h *Head) {
	p.t.Helper()
	p.cover(h, a.text("start_date"), a.text("end_date"), "Patients with an opioid in the period, or with a medicine that may be one.", a.stewardFilters()...)
	current, _ := a.count("counts.current")
	unknown := func(name string) (more, note string) {
		n, _ := a.count("counts.undetermined." + name)
		if n == 0 {
			return "", ""
		}
		return " or more", " for " + grouped(n) + " it is not known"
	}
	part := func(name string) string {
		n, _ := a.count("counts." + name)
		rate := none
		if current > 0 {
			rate = fixed(big.NewRat(int64(100*n), int64(current)), 1) + " %"
		}
		more, note := unknown(name)
		return fmt.Sprintf("%s%s %s of %s with a current opioid%s", grouped(n), more, rate, grouped(current), note)
	}
	more, _ := unknown("current")
	_, note := unknown("opioid_exposure")
	listed, _ := a.count("counts.listed")
	maybe, _ := a.count("counts.undetermined.opioid_exposure")
	p.takef("WITH A CURRENT OPIOID %s%s of %s patients; %s in the period%s", grouped(current), more, a.counted("patients_looked_at"), grouped(listed-maybe), note)
	p.takef("50 MME A DAY OR MORE %s", part("ge_50"))
	p.takef("90 MME A DAY OR MORE %s", part("ge_90"))
	p.takef("NALOXONE GAP %s", part("naloxone_gap"))
	rows := a.each("patients")
	banded := func(band string) (n int) {
		for _, r := range rows {
			if a.truth(r+".current") && a.text(r+".mme_band") == band {
				n++
			}
		}
		return n
	}
	p.histogram("Patients by current daily dose", []string{grouped(banded(">0-<20")), grouped(banded("20-<50")), grouped(banded("50-<90")), grouped(banded(">=90"))},
		grouped(banded("")+banded("unknown"))+" not known", a.counted("counts.undetermined.current")+" may have one")
	if n := banded("") + banded("unknown"); n > 0 {
		p.takef("Not known: %s with an opioid whose dose is not known or not counted as MME.", grouped(n))
	}
	if n, _ := a.count("counts.undetermined.current"); n > 0 {
		p.takef("May have one: %s with a medicine that is not recognised and may be an opioid.", grouped(n))
	}
	p.stewardLists(a, rows)
	p.take("Peak is the highest single day of the period (definition 4), early refills carried forward. Assumed: an opioid without supply or end counts until it is stopped or replaced, for 90 days at most.")
	p.takef("The 50 and 90 lines come from the guidelines of 2022 and 2016; they are not limits. %s.", a.text("mme_table"))
}

func (a *answer) stewardFilters() (list []string) {
	a.t.Helper()
	given := a.names("filters")
	for _, name := range strings.Fields(filterNames) {
		if slices.Contains(given, name) {
			list = append(list, strings.ReplaceAll(name, "_", " ")+": "+a.text("filters."+name))
		}
	}
	return list
}

// stewardList is one list of patients with what its last column says.
type stewardList struct {
	title string
	holds func(r string) bool
	open  func(r string) bool // nil: it is always known
	words func(r string) string
}

func (p *account) stewardLists(a *answer, rows []string) {
	p.t.Helper()
	opioids := func(r string) string {
		text := strings.ReplaceAll(cellText(a.at(r+".opioids")), "; ", ", ")
		if a.at(r+".mme_peak") != nil {
			text += "; peak " + a.plain(r+".mme_peak")
			if a.plain(r+".mme_peak") != a.plain(r+".mme_peak_overlapped") {
				text += " (" + a.plain(r+".mme_peak_overlapped") + " with early refills)"
			}
		}
		if n, _ := a.count(r + ".assumed_days"); n > 0 {
			text += fmt.Sprintf("; assumed days %d", n)
		}
		return text
	}
	last := func(what, path string) func(string) string {
		return func(r string) string {
			if day := a.text(r + path); day != "" {
				return "last " + day
			}
			return "no " + what + " recorded"
		}
	}
	current := func(r string) bool { return a.truth(r + ".current") }
	is := func(name string) func(string) bool { return func(r string) bool { return a.truth(r + "." + name) } }
	null := func(name string) func(string) bool { return func(r string) bool { return a.at(r+"."+name) == nil } }
	lacks := func(within string) (yes, open func(string) bool) {
		return func(r string) bool { return current(r) && !a.truth(r+within) }, func(r string) bool { return a.at(r+".current") == nil && !a.truth(r+within) }
	}
	noUDS, openUDS := lacks(".uds_within_12_months")
	noPEG, openPEG := lacks(".peg_within_12_months")
	reaches := func(certain, most string, limit int) (yes, open func(string) bool) {
		of := func(r, name string) bool { n, _ := a.count(r + "." + name); return n >= limit }
		return func(r string) bool { return of(r, certain) }, func(r string) bool { return !of(r, certain) && of(r, most) }
	}
	several, openSeveral := reaches("prescribers", "most_prescribers", 4)
	long, openLong := reaches("opioid_days", "most_opioid_days", 90)
	noDose := func(r string) bool { return a.truth(r+".mme_incomplete") || a.at(r+".mme") == nil }
	lists := []stewardList{
		{"90 MME a day or more", is("ge_90"), null("ge_90"), opioids},
		{"50 to less than 90 MME a day, as far as known", func(r string) bool { return a.truth(r+".ge_50") && !a.truth(r+".ge_90") }, null("ge_50"), opioids},
		{"Opioid dose not known", func(r string) bool { return current(r) && noDose(r) }, func(r string) bool { return a.at(r+".current") == nil && noDose(r) }, opioids},
		{"Medicine not recognised", func(r string) bool { return len(a.each(r+".unclassified")) > 0 }, nil,
			func(r string) string { return strings.ReplaceAll(cellText(a.at(r+".unclassified")), "; ", ", ") }},
		{"Opioid with benzodiazepine", is("opioid_benzo_overlap"), null("opioid_benzo_overlap"), func(r string) string { return a.counted(r + ".overlap_days") }},
		{"Naloxone gap", is("naloxone_gap"), null("naloxone_gap"), func(r string) string {
			var words []string
			for _, reason := range a.each(r + ".naloxone_reasons") {
				words = append(words, figure.Words(a.text(reason)))
			}
			return strings.Join(words, ", ")
		}},
		{"Unexpected urine drug screen", is("unexpected_uds"), nil, last("screen", ".last_uds")},
		{"No urine drug screen in 12 months", noUDS, openUDS, last("screen", ".last_uds")},
		{"No PEG in 12 months", noPEG, openPEG, last("PEG", ".last_peg")},
		{"Several prescribers", several, openSeveral, func(r string) string {
			return a.counted(r+".prescribers") + " / " + a.counted(r+".pharmacies")
		}},
	}
	count := func(holds func(string) bool) (n, outside int) {
		for _, r := range rows {
			if holds(r) {
				n++
				if a.truth(r + ".out_of_guideline_scope") {
					outside++
				}
			}
		}
		return n, outside
	}
	for _, l := range lists {
		n, outside := count(l.holds)
		unknown := 0
		if l.open != nil {
			unknown, _ = count(l.open)
		}
		p.takef("%s %s %s %s", l.title, grouped(n), grouped(unknown), grouped(outside))
	}
	n, outside := count(long)
	unknown, _ := count(openLong)
	p.takef("Opioid on 90 days or more of the period (not listed) %s %s %s", grouped(n), grouped(unknown), grouped(outside))
	p.static("Share (95 % CI)")
	p.measures(a)
	for _, l := range lists {
		n, _ := count(l.holds)
		if n == 0 {
			continue
		}
		p.takef("%s (%s)", l.title, grouped(n))
		if l.title == "Naloxone gap" {
			p.take("no naloxone is on record in the last 365 days.")
		}
		if l.title == "Several prescribers" {
			p.take("4 or more in the period, as far as they are recorded.")
		}
		for _, r := range rows {
			if !l.holds(r) {
				continue
			}
			name := printed(a.text(r + ".name"))
			if a.truth(r + ".out_of_guideline_scope") {
				name += " ²"
			}
			dose := "not known"
			if a.at(r+".mme") != nil {
				if dose = a.plain(r + ".mme"); a.truth(r + ".mme_incomplete") {
					dose = "≥ " + dose
				}
			}
			p.takef("%s %s %s %s %s", name, a.text(r+".date_of_birth"), a.text(r+".patient_id"), dose, l.words(r))
		}
	}
}
