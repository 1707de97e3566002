package report

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/figure"
	"anodyne.example/anodyne/internal/store/reports"
)

// Every number in the text of a PDF is taken by its words: from the answer, a
// definition, a tick of an axis. What is left over fails.

// checkPDF checks the PDF of a report against its answer.
func (c *clinic) checkPDF(t *testing.T, d contents) {
	t.Helper()
	pdf := c.file(t, d, reports.PDF)
	tidy(t, pdf)
	a := answerIn(t, c.file(t, d, reports.JSON))
	switch d := d.(type) {
	case *Outcomes:
		p := accountOf(t, pdf, &d.Head, d.Title)
		p.outcomes(a, &d.Head)
		p.done()
		drawing := drawingOf(t, pdf)
		drawing.shares(a.outcomeShares())
		drawing.trend(a)
		drawing.survival(a, p.ticks["survival"])
	case *Population:
		p := accountOf(t, pdf, &d.Head, d.Title)
		p.population(a, &d.Head)
		p.done()
		drawing := drawingOf(t, pdf)
		drawing.shares(a.populationShares())
		drawing.histogram(p.ticks["histogram"], a.doseCounts())
	case *Stewardship:
		p := accountOf(t, pdf, &d.Head, d.Title)
		p.stewardship(a, &d.Head)
		p.done()
		drawingOf(t, pdf).histogram(p.ticks["histogram"], a.currentDoses())
	case *PatientSummary:
		i := slices.IndexFunc(c.patients, func(who *chronicle) bool { return who.ID == d.Chart.Patient.ID })
		who := c.patients[i]
		p := accountOf(t, pdf, &d.Head, printed(fmt.Sprintf("%s · born %s · %s · %s", who.ID, who.DateOfBirth, who.Name, d.Title)))
		p.patient(a, &d.Head, who)
		p.done()
		drawing := drawingOf(t, pdf)
		drawing.pain(who.drawn(a, d.From.String(), a.text("as_of")), d.From.DayNumber(), d.To.DayNumber())
		drawing.doses(a, p.ticks["mme"])
	}
}

const (
	shareAxis = "0 % 25 % 50 % 75 % 100 %"
	painAxis  = "severe ≥ 7 moderate ≥ 4 mild < 4 10 0 2 4 6 8"
)

// cover takes the top of the first page.
func (p *account) cover(h *Head, from, to, about string, filters ...string) {
	p.t.Helper()
	p.takef("%s PERIOD %s to %s FIGURES AS OF %s", h.Title, from, to, to)
	p.takef("%s", about)
	if len(filters) > 0 {
		p.takef("Parameters: %s.", strings.Join(filters, "; "))
	}
}

// filters are the parameters in the words of a PDF.
func (a *answer) filters(names ...string) (list []string) {
	a.t.Helper()
	for _, row := range a.parameters(names...) {
		text := strings.ReplaceAll(row[0].(string), "_", " ") + ": " + cellText(row[1])
		if row[0] == "follow_up" {
			text += " days"
		}
		list = append(list, text)
	}
	return list
}

func (p *account) outcomes(a *answer, h *Head) {
	p.t.Helper()
	p.static("Share (95 % CI)", "Baseline (95 % CI)", "Follow-up (95 % CI)", "Change (95 % CI)", "Before (95 % CI)", "After (95 % CI)", "30 % better SRM", "95 % confidence interval", "Crude (95 % CI)", "Organisation (95 % CI)",
		"Adjusted (95 % CI)", "Coefficient (95 % CI)", "This period (95 % CI)", "Earlier (95 % CI)", "Difference (95 % CI)")
	p.cover(h, a.text("parameters.start_date"), a.text("parameters.end_date"),
		fmt.Sprintf("Pain at follow-up after %s days (± %s) against baseline, one value per patient.", a.plain("follow_up.target_day"), a.plain("follow_up.tolerance_days")),
		a.filters(append([]string{"interval", "follow_up"}, strings.Fields(filterNames)...)...)...)
	// tiles
	p.takef("PATIENTS WITH SCORES %s of %s patients followed up: %s", a.counted("cohort.with_scores.count"), a.counted("cohort.patients.count"), a.counted("cohort.followed_up.count"))
	p.takef("PAIN AT BASELINE %s %s n = %s", a.middle("follow_up.baseline"), a.interval("follow_up.baseline.ci95"), a.counted("follow_up.baseline.n"))
	p.takef("MEAN CHANGE OF PAIN %s %s n = %s", a.middle("follow_up.change"), a.interval("follow_up.change.ci95"), a.counted("follow_up.change.n"))
	p.takef("30 %% RESPONDERS %s %s %s", a.percent("response.responder_30"), a.percentInterval("response.responder_30"), a.ofN("response.responder_30"))
	p.mayMatch(a)
	// who was looked at
	p.takef("match the filters %s", a.counted("cohort.patients.count"))
	for _, row := range [][3]string{{"no comparable pain score in the period", "without_scores", "patients"}, {"comparable pain scores in the period", "with_scores", "patients"},
		{"by average pain", "by_average", "with_scores"}, {"by current pain", "by_current", "with_scores"}, {"follow-up window not yet over", "not_yet_due", "with_scores"},
		{"follow-up due", "due", "with_scores"}} {
		p.step(a, row[0], "cohort."+row[1]+".count", "cohort."+row[2]+".count")
	}
	p.takef("missing: due, without a score in the window %s %s", a.parted("cohort.missing.count", "cohort.due.count"), a.share("cohort.missing"))
	p.step(a, "followed up", "cohort.followed_up.count", "cohort.due.count")
	p.take("Site of the primary outcome Site and side Patients Share")
	for _, g := range a.each("cohort.by_site.groups") {
		p.takef("%s %s %s", a.text(g+".group"), a.parted(g+".count", "cohort.by_site.n"), a.rate(g, "cohort.by_site.n"))
	}
	p.take("Response Share of patients, with 95 % confidence intervals (Wilson)")
	for _, row := range [][2]string{{"30 % improvement or more", "responder_30"}, {"50 % improvement or more", "responder_50"}, {"2-point improvement or more", "nrs_ge_2"}, {"30 % worsening or more", "worsened_30"},
		{"baseline under 4", "low_baseline"}, {"30 % response, missing counted as non-response", "nonresponder_imputation.responder_30"}, {"50 % response, missing counted as non-response", "nonresponder_imputation.responder_50"}} {
		p.takef("%s %s", row[0], a.bar("response."+row[1]))
	}
	p.take(shareAxis)
	p.take("Percentages of a baseline under 4 are misleading.")
	p.trend(a)
	p.timeToResponse(a)
	p.treatments(a)
	p.adjusted(a)
	p.comparison(a)
	p.takef("Definitions Primary outcome: %s", a.text("cohort.primary_outcome"))
	p.takef("the mean of the comparable scores in the 14 days up to and including it. Follow-up is the score nearest to day %s, at most %s days off.", a.plain("follow_up.target_day"), a.plain("follow_up.tolerance_days"))
	p.take("Percentages are of patients whose baseline is above 0. * fewer than 10 patients: unstable. Intervals of means are Student's, of shares Wilson's, both 95 %.")
}

// dates looks like the labels of an axis of days.
const (
	date  = `(?:(?:\d{1,2} )?[A-Z][a-z]{2}(?: \d{4})?|\d{4})`
	dates = date + `(?: ` + date + `)*`
)

func (p *account) trend(a *answer) {
	p.t.Helper()
	p.takef("Trend Mean pain by %s, one value per patient; n below the axis", a.text("trend.interval"))
	p.take(painAxis)
	var want []string
	for _, b := range a.each("trend.buckets") {
		text := none
		if n, ok := a.count(b + ".n"); ok {
			text = fmt.Sprint(n)
		}
		want = append(want, text)
	}
	if len(want) > 0 {
		under := p.match(dates + ` n ((?:\d+|–)(?: (?:\d+|–))*)`)
		got := strings.Fields(under[0])
		if !within(got, want) || len(want) <= 14 && len(got) != len(want) {
			p.t.Errorf("under the trend stand %q, want %q", got, want)
		}
	}
	if a.at("trend.slope.per_week.mean") == nil || a.at("trend.slope.direction") == nil {
		p.take("No slope: fewer than two patients have three scores over 14 days.")
		return
	}
	text := fmt.Sprintf("Mean slope: %s points a week (n = %s), %s. By patient:", a.decimals("trend.slope.per_week.mean", 1, 2), a.counted("trend.slope.per_week.n"), a.text("trend.slope.direction"))
	for _, g := range a.each("trend.slope.patients.groups") {
		text += fmt.Sprintf(" %s %s;", figure.Words(a.text(g+".group")), a.counted(g+".count"))
	}
	p.takef("%s.", strings.TrimSuffix(text, ";"))
}

// within reports whether a list has all of another, in order.
func within(part, whole []string) bool {
	for _, w := range whole {
		if len(part) > 0 && part[0] == w {
			part = part[1:]
		}
	}
	return len(part) == 0
}

// evenly checks that ticks are numbers at one distance.
func (p *account) evenly(text string) (ticks []float64) {
	p.t.Helper()
	for word := range strings.FieldsSeq(text) {
		f, err := strconv.ParseFloat(strings.NewReplacer(",", "", "−", "-").Replace(word), 64)
		if err != nil {
			p.t.Fatal(err)
		}
		ticks = append(ticks, f)
	}
	slices.Sort(ticks)
	for i := 2; i < len(ticks); i++ {
		if d := ticks[i] - ticks[i-1] - ticks[1] + ticks[0]; d > 1e-9 || d < -1e-9 {
			p.t.Errorf("ticks at %v", ticks)
		}
	}
	return ticks
}

func (p *account) timeToResponse(a *answer) {
	p.t.Helper()
	steps := a.each("time_to_response.curve")
	p.take("Time to response")
	if len(steps) == 0 {
		p.take("Nobody has responded, or too few to be shown.")
		return
	}
	p.take("Share of patients without a confirmed response of 30 % (Kaplan-Meier) without a confirmed response of 30 % censored")
	median := a.at("time_to_response.median_days")
	if median != nil {
		p.takef("median: day %s", median)
	}
	p.take("100 % 0 % 25 % 50 % 75 %")
	under := p.match(`((?:\d+ )+)days at risk (\d+(?: \d+)*)`)
	p.ticks["survival"] = p.evenly(under[0])
	var want []string
	for _, s := range steps {
		want = append(want, fmt.Sprint(a.at(s+".at_risk")))
	}
	if got := strings.Fields(under[1]); !within(got, want) || len(got) < min(5, len(want)) || got[0] != want[0] {
		p.t.Errorf("at risk are said to be %q, of %q", got, want)
	}
	p.takef("n = %s; responded %s; censored %s.", a.counted("time_to_response.n"), a.counted("time_to_response.events"), a.counted("time_to_response.censored"))
	if median == nil {
		p.take("The median is not reached.")
	}
}

func (p *account) treatments(a *answer) {
	p.t.Helper()
	if instruments := a.each("instruments"); len(instruments) > 0 {
		p.take("Questionnaires")
		for _, in := range instruments {
			met := "none published"
			if a.at(in+".mcid_met") != nil {
				if met = a.ofN(in + ".mcid_met"); met == "no patients match" {
					met = a.percent(in + ".mcid_met")
				} else {
					met += ", " + a.percent(in+".mcid_met")
				}
			}
			p.takef("%s %s %s %s %s %s %s", figure.Words(a.text(in+".instrument")), a.counted(in+".change.n"), a.counted(in+".missing.count"), a.mean(in+".baseline"), a.mean(in+".follow_up"), a.mean(in+".change"), met)
		}
		for _, in := range instruments {
			p.takef("%s %s %s – %s %s", figure.Words(a.text(in+".instrument")), a.counted(in+".patients.count"), a.counted(in+".not_yet_due.count"), a.counted(in+".missing.count"), a.counted(in+".change.n"))
		}
		if n, ok := a.count("global_impression.n"); ok && n > 0 {
			p.takef("Global impression (PGIC 1 or 2, much or very much improved): %s, %s.", a.ofN("global_impression"), a.share("global_impression"))
		}
	}
	for _, of := range []string{"procedures", "medication_classes"} {
		list := a.each(of)
		for _, b := range list {
			p.takef("%s %s %s %s %s %s %s %s", figure.Words(a.text(b+".treatment")), a.counted(b+".patients.count"), a.counted(b+".change.n"), a.mean(b+".before"), a.mean(b+".after"), a.mean(b+".change"),
				strings.TrimPrefix(a.ofN(b+".responder_30")+", "+a.percent(b+".responder_30"), "no patients match, "), a.decimals(b+".standardized_response_mean", 1, 2))
		}
		for _, b := range list {
			p.takef("%s %s %s %s %s %s", figure.Words(a.text(b+".treatment")), a.counted(b+".patients.count"), a.counted(b+".not_yet_due.count"), a.counted(b+".no_baseline.count"), a.counted(b+".missing.count"), a.counted(b+".change.n"))
		}
	}
	if n := a.counted("medication_classes_undetermined.count"); n != "0" {
		p.takef("With a medicine that is not recognised in the period or the 90 days before: %s.", n)
	}
}

// step takes a row of where patients went.
func (p *account) step(a *answer, words, count, of string) {
	p.t.Helper()
	p.takef("%s %s %s", words, a.parted(count, of), a.portion(count, of))
}

// parted is a count with the one that it is of.
func (a *answer) parted(count, of string) string {
	a.t.Helper()
	n, whole := a.counted(count), a.counted(of)
	if n == hidden || whole == hidden {
		return n
	}
	return n + " of " + whole
}

// portion is a count as a percentage of another.
func (a *answer) portion(count, of string) string {
	a.t.Helper()
	n, counted := a.count(count)
	whole, known := a.count(of)
	switch {
	case !counted || !known:
		return hidden
	case whole == 0:
		return none
	}
	return strconv.FormatFloat(math.Round(1000*float64(n)/float64(whole))/10, 'f', 1, 64) + " %"
}

// bars takes the groups of a whole.
func (p *account) bars(a *answer, title, path string) {
	p.t.Helper()
	p.take(title)
	for _, g := range a.each(path + ".groups") {
		text := a.parted(g+".count", path+".n")
		if a.at(g+".percent") != nil {
			text = a.rate(g, path+".n") + ", " + text
		}
		p.takef("%s %s", figure.Words(a.text(g+".group")), text)
	}
	p.take(shareAxis)
}

// histogram takes the doses: ticks, a count a band, the lines, the edges.
func (p *account) histogram(title string, counts []string, apart ...string) {
	p.t.Helper()
	p.take(title)
	behind := ""
	for _, text := range apart {
		behind += regexp.QuoteMeta(text) + " "
	}
	numbers := strings.Fields(p.match(`((?:(?:[\d,]+|hidden) )+)` + behind + `50 MME 90 MME 0 20 50 90 MME a day`)[0])
	n := len(numbers) - len(counts)
	if n < 2 || !slices.Equal(numbers[n:], counts) {
		p.t.Fatalf("the histogram says %q, want %q behind its ticks", numbers, counts)
	}
	p.ticks["histogram"] = p.evenly(strings.Join(numbers[:n], " "))
}

func (p *account) population(a *answer, h *Head) {
	p.t.Helper()
	p.static("Crude (95 % CI)", "Standardised (95 % CI)", "This period (95 % CI)", "Earlier (95 % CI)", "Difference (95 % CI)", "Share (95 % CI)", "Mean Quartile 1 Median Quartile 3 90th percentile")
	p.cover(h, a.text("parameters.start_date"), a.text("parameters.end_date"), "How the patients of the period are: pain, opioids, treatment and follow-up.", a.filters(strings.Fields(filterNames)...)...)
	bands := a.each("severity_prevalence.bands.groups")
	severe := bands[len(bands)-1]
	p.takef("ACTIVE PATIENTS %s of %s patients", a.counted("cohort.active.count"), a.counted("cohort.patients.count"))
	p.takef("SEVERE PAIN %s by the latest score n = %s", a.rate(severe, "severity_prevalence.bands.n"), a.counted("severity_prevalence.bands.n"))
	p.takef("WITH AN OPIOID %s %s %s", a.percent("opioids.opioid_exposure"), a.ofN("opioids.opioid_exposure")+a.notKnown("opioids.opioid_exposure"), a.percentInterval("opioids.opioid_exposure"))
	p.takef("NO SCORE IN 90 DAYS %s %s %s", a.percent("follow_up_gap.gap"), a.ofN("follow_up_gap.gap"), a.percentInterval("follow_up_gap.gap"))
	p.mayMatch(a)
	p.takef("match the filters %s", a.counted("cohort.patients.count"))
	for _, row := range [][3]string{{"no record in the period", "cohort.inactive.count", "cohort.patients.count"}, {"active: a record in the period", "cohort.active.count", "cohort.patients.count"},
		{"average or current pain score in the period", "severity_prevalence.bands.n", "cohort.active.count"}, {"opioid use unknown", "opioids.opioid_exposure.undetermined", "cohort.active.count"},
		{"opioid in the period", "opioids.opioid_exposure.count", "cohort.active.count"}, {"dose known on all its days", "opioids.mme.peak.n", "opioids.opioid_exposure.count"}} {
		p.step(a, row[0], row[1], row[2])
	}
	for _, in := range a.each("insights") {
		p.takef("• %s", a.text(in+".text"))
	}
	p.severity(a, bands)
	p.bars(a, "Age at the end of the period", "age_bands")
	p.bars(a, "Gender", "genders")
	p.doses(a)
	p.measures(a)
	p.take("Patients with a medicine of the class; a patient can have several")
	for _, class := range a.each("treatment_mix.classes") {
		p.takef("%s %s", figure.Words(strings.TrimPrefix(a.text(class+".definition"), "treatment_mix.")), a.bar(class))
	}
	p.take(shareAxis)
	p.bars(a, "With and without opioids", "treatment_mix.exclusive")
	p.bars(a, "Last pain score", "follow_up_gap.last_score")
	p.disparities(a)
	p.standardized(a)
	p.comparison(a)
	p.takef("MME: %s.", a.text("opioids.mme.table"))
}

// measures takes the aligned measures.
func (p *account) measures(a *answer) {
	p.t.Helper()
	for _, m := range a.each("measures") {
		words := a.text(m+".name") + ": " + a.text(m+".numerator")
		if a.truth(m + ".proxy") {
			words += " (proxy)"
		}
		if a.text(m+".direction") == "higher_is_better" {
			words += " (higher is better)"
		}
		var excluded []string
		for _, e := range a.each(m + ".exclusions") {
			if n := a.counted(e + ".count"); n != "0" {
				excluded = append(excluded, figure.Words(a.text(e+".reason"))+": "+n)
			}
		}
		if len(excluded) == 0 {
			excluded = []string{none}
		}
		p.takef("%s %s %s %s %s %s", words, a.ofN(m), a.share(m), a.counted(m+".undetermined"), strings.Join(excluded, ", "), a.text(m+".denominator"))
	}
}

// mayMatch takes how many more may match a filter by class.
func (p *account) mayMatch(a *answer) {
	p.t.Helper()
	if n := a.counted("cohort.undetermined.count"); n != "0" {
		p.takef("May match the filter by class too: %s, with a medicine", n)
	}
}

func (p *account) severity(a *answer, bands []string) {
	p.t.Helper()
	total, known := 0, true
	var want []string
	var counts []int
	for _, b := range bands {
		n, ok := a.count(b + ".count")
		known = known && ok
		total += n
		counts = append(counts, n)
	}
	if total > 0 {
		for _, n := range counts {
			want = append(want, fixed(big.NewRat(int64(100*n), int64(total)), 0))
		}
	}
	p.take("Latest score of each patient none mild moderate severe")
	if !known {
		p.take("all hidden: few patients " + shareAxis)
	} else {
		p.take("all n = " + grouped(total) + " " + shareAxis)
		if total > 0 {
			got := strings.Fields(strings.ReplaceAll(p.match(`((?:\d+ % )+)Bands: default scheme.`)[0], "%", ""))
			if !within(got, want) {
				p.t.Errorf("the bar says %q, want %q", got, want)
			}
		}
	}
	p.takef("By average pain: %s patients, by current pain: %s. Of %s: n = %s.", a.counted("severity_prevalence.by_average.count"), a.counted("severity_prevalence.by_current.count"),
		a.text("severity_prevalence.bands.denominator"), a.counted("severity_prevalence.bands.n"))
}

func (p *account) doses(a *answer) {
	p.t.Helper()
	var counts []string
	unknown := ""
	for _, band := range a.each("opioids.mme.peak.bands.groups") {
		if group := a.text(band + ".group"); group != "0" && group != "unknown" {
			counts = append(counts, a.counted(band+".count"))
		} else if n := a.counted(band + ".count"); group == "unknown" {
			unknown = n
		}
	}
	p.histogram("Patients by their highest daily dose in the period", counts, unknown+" not known")
	if unknown != "0" {
		p.takef("Not known: %s with an opioid whose dose is not known or not counted as MME, or with a medicine that may be an opioid.", unknown)
	}
	p.distribution(a, "peak: the highest single day (definition 4)", "opioids.mme.peak")
	p.distribution(a, "peak with early refills counted at once", "opioids.mme.peak_overlapped")
	p.distribution(a, "average over covered days (definition 2)", "opioids.mme.average")
	for _, name := range strings.Fields("opioid_exposure long_term_opioid ge_50 ge_90 opioid_benzo_overlap opioid_gabapentinoid_overlap naloxone_coverage") {
		path := "opioids." + name
		unknown = ""
		if a.at(path+".undetermined") != nil {
			unknown = a.counted(path + ".undetermined")
		}
		p.takef("%s %s %s %s %s", figure.Words(a.text(path+".definition")), a.ofN(path), a.share(path), unknown, a.text(path+".denominator"))
	}
	scope := "opioids.out_of_guideline_scope."
	p.takef("with an opioid %s, ≥ 50 MME %s, ≥ 90 MME %s, with a benzodiazepine %s; of more of them one of these is not known: %s. Opioid dose unknown or incomplete: %s. Patients with an opioid that is assumed to be taken, because it has neither supply nor end: %s.", a.counted(scope+"opioid_exposure.count"), a.counted(scope+"ge_50.count"),
		a.counted(scope+"ge_90.count"), a.counted(scope+"opioid_benzo_overlap.count"), a.counted(scope+"undetermined.count"), a.counted("opioids.mme.incomplete.count"), a.counted("opioids.mme.assumed.count"))
}

func (p *account) distribution(a *answer, name, path string) {
	p.t.Helper()
	p.takef("%s %s %s %s %s %s %s", name, a.counted(path+".n"), a.plain(path+".mean"), a.plain(path+".q1"), a.plain(path+".median"), a.plain(path+".q3"), a.plain(path+".p90"))
}

func (p *account) disparities(a *answer) {
	p.t.Helper()
	first := true
	for _, d := range a.each("disparities") {
		groups := a.each(d + ".groups")
		if !slices.ContainsFunc(groups, func(g string) bool { return a.at(g+".difference") != nil }) {
			continue
		}
		if first {
			p.take("in percentage points (Newcombe's 95 % interval). Groups of fewer than 11 are not compared.")
			first = false
		}
		p.takef("%s by %s", figure.Capital(figure.Words(a.text(d+".measure"))), figure.Words(a.text(d+".dimension")))
		for _, g := range groups {
			words := "not compared"
			switch n := a.counted(g + ".n"); {
			case a.truth(g + ".suppressed"):
				words = hidden
			case a.at(d+".reference") == a.at(g+".group"):
				words = "reference, " + a.percent(g) + " of " + n + a.notKnown(g)
			case a.at(g+".difference") != nil:
				words = a.difference(g, groups[slices.IndexFunc(groups, func(r string) bool { return a.at(r+".group") == a.at(d+".reference") })]) + fmt.Sprintf(", %s of %s", a.percent(g), n) + a.notKnown(g)
			case n != hidden:
				words += ", n = " + n + a.notKnown(g)
			}
			p.takef("%s %s", figure.Words(a.text(g+".group")), words)
		}
		p.evenly(p.match(`((?:−?[\d.]+ )+)difference in percentage points`)[0])
	}
}

// difference is that of two groups with Newcombe's interval, worked out here.
func (a *answer) difference(g, reference string) string {
	a.t.Helper()
	rates := func(place string) (p, low, high float64) {
		count, _ := a.count(place + ".count")
		n, _ := a.count(place + ".n")
		low, high = wilson(count, n)
		return float64(count) / float64(n), low, high
	}
	p1, low1, high1 := rates(g)
	p2, low2, high2 := rates(reference)
	d := p1 - p2
	return fmt.Sprintf("%s (%s to %s)", a.near(g+".difference", d), a.near(g+".difference_ci95.low", d-math.Hypot(p1-low1, high2-p2)),
		a.near(g+".difference_ci95.high", d+math.Hypot(high1-p1, p2-low2)))
}
