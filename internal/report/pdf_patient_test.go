package report

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"anodyne.example/anodyne/internal/figure"
)

// patient takes a patient's summary apart. What the summary does not say (the
// doses of medicines, the medical history) comes from what was recorded.
func (p *account) patient(a *answer, h *Head, who *chronicle) {
	p.t.Helper()
	from, to := h.From.String(), a.text("as_of")
	p.take("PATIENT SUMMARY " + who.Name)
	p.takef("PERIOD %s to %s FIGURES AS OF %s", from, to, to)
	born := fmt.Sprintf("Born %s (%d years)", who.DateOfBirth, age(who.DateOfBirth.String(), to))
	if who.Gender != "" {
		born += " · " + who.Gender
	}
	p.take(born + " " + who.ID.String())
	drawn, before := who.scores(a, from, to)
	p.patientTiles(a, drawn)
	p.curves(a, who, drawn)
	rest := p.medicines(a, who)
	p.safety(a)
	p.patientDefinitions(a, len(drawn), before)
	if len(rest) > 0 {
		p.match(`Current medicines(?:, continued)?`)
	}
	for _, m := range rest {
		p.medicine(a, who, m)
	}
	if list := a.each("instruments"); len(list) > 0 {
		p.take("Questionnaires")
		for _, in := range list {
			p.questionnaire(a, in)
		}
	}
	if list := a.each("procedures"); len(list) > 0 {
		p.take("Procedures")
		for _, done := range list {
			relief := a.plain(done + ".relief_percent")
			if relief != none {
				relief += " %"
			}
			site := []string{figure.Words(a.text(done + ".laterality")), figure.Words(a.text(done + ".body_site")), a.text(done + ".level")}
			p.takef("%s %s %s %s %s %s", a.text(done + ".recorded_at")[:10], figure.Words(a.text(done+".procedure_type")), strings.Join(site, " "), a.plain(done+".pre_score"), a.plain(done+".post_score"), relief)
		}
		p.take("The newest 20.")
	}
	p.static("Condition ICD-10 Status Since Category")
	for _, entry := range who.history {
		p.takef("%s %s %s %s %s", entry.Condition, entry.ICD10Code, entry.Status, entry.OnsetDate, figure.Words(entry.Category))
	}
}

// age is that in years on a day.
func age(born, on string) int {
	year := func(s string) int { n, _ := strconv.Atoi(s[:4]); return n }
	years := year(on) - year(born)
	if on[4:] < born[4:] {
		years--
	}
	return years
}

// scores are the points of the answer's series in the period, and how many lie
// before it. Of a long series the answer has only the newest, so they are
// counted in the records.
func (who *chronicle) scores(a *answer, from, to string) (drawn []string, before int) {
	a.t.Helper()
	for _, f := range who.drawn(a, "", to) {
		if f.at.Format(time.DateOnly) < from {
			before++
			continue
		}
		drawn = append(drawn, strings.TrimSuffix(strconv.FormatFloat(toTen(f.value), 'f', 1, 64), ".0"))
	}
	return drawn, before
}

// drawn are the records of the answer's series in a period.
func (who *chronicle) drawn(a *answer, from, to string) (list []fact) {
	a.t.Helper()
	aspect, scale, site, side := a.text("pain.aspect"), a.text("pain.scale"), a.text("pain.body_site"), a.text("pain.laterality")
	for _, f := range who.facts {
		day := f.at.Format(time.DateOnly)
		if f.kind == "pain_scores" && aspect != "" && text(f.value, "aspect", "current") == aspect && text(f.value, "scale", "nrs") == scale && text(f.value, "body_site", "") == site &&
			text(f.value, "laterality", "") == side && from <= day && day <= to {
			list = append(list, f)
		}
	}
	return list
}

func text(value map[string]any, name, otherwise string) string {
	if s, ok := value[name].(string); ok {
		return s
	}
	return otherwise
}

// toTen is a score on 0 to 10.
func toTen(value map[string]any) float64 {
	score, _ := number(value["score"])
	if value["scale"] == "vas" {
		return score / 10
	}
	return score
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case int:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

func (p *account) patientTiles(a *answer, drawn []string) {
	p.t.Helper()
	if a.at("pain.latest") == nil {
		p.take("LATEST PAIN – no comparable score CHANGE FROM BASELINE – no baseline")
	} else {
		note := "on " + a.text("pain.latest.recorded_at")[:10]
		if len(drawn) > 1 {
			best := slices.MinFunc(drawn, func(x, y string) int { return compareText(x, y) })
			note += ", best " + best
		}
		p.takef("LATEST %s PAIN %s of 10 %s %s", strings.ToUpper(a.text("pain.aspect")), a.plain("pain.latest.score"), a.text("pain.latest.band"), note)
		p.change(a)
	}
	p.peg(a)
	value, line := "not known", "dose not counted"
	if band := a.text("mme.current_band"); band != "" {
		line = "band " + bandWords(band)
	}
	if current, ok := a.float("mme.current"); ok {
		value = a.plain("mme.current")
		if a.text("mme.current_band") == "unknown" {
			value = "≥ " + value
		} else if current == 0 {
			line = "no current opioid"
		}
	}
	if a.truth("mme.incomplete") {
		line += ", incomplete"
	}
	if a.at("mme.peak") != nil {
		line += " peak " + a.plain("mme.peak") + " since " + a.text("mme.from")
	}
	p.takef("MME A DAY %s %s", value, line)
}

func compareText(x, y string) int {
	a, _ := strconv.ParseFloat(x, 64)
	b, _ := strconv.ParseFloat(y, 64)
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (p *account) change(a *answer) {
	p.t.Helper()
	baseline := fmt.Sprintf("baseline %s on %s", a.plain("pain.baseline.score"), a.text("pain.baseline.index_date"))
	if a.at("pain.change") == nil {
		p.take("CHANGE FROM BASELINE – no score after the baseline " + baseline)
		return
	}
	value, line := a.signed("pain.change.points"), "no percentage: baseline is 0"
	if percent, ok := a.float("pain.change.percent"); ok {
		value += " (" + a.signed("pain.change.percent") + " %)"
		switch {
		case percent <= -50:
			line = "responder: 50 % or more"
		case percent <= -30:
			line = "responder: 30 % or more"
		case percent >= 30:
			line = "worse by 30 % or more"
		default:
			line = "non-responder (under 30 %)"
		}
		if a.truth("pain.change.low_baseline") {
			baseline = fmt.Sprintf("low baseline (%s): %% is misleading", a.plain("pain.baseline.score"))
		}
	}
	p.take("CHANGE FROM BASELINE " + value + " " + line + " " + baseline)
}

func (p *account) peg(a *answer) {
	p.t.Helper()
	for _, in := range a.each("instruments") {
		if a.text(in+".instrument") != "peg" {
			continue
		}
		on := a.text(in + ".recorded_at")[:10]
		switch {
		case a.at(in+".change") != nil:
			matters := "no important change"
			if a.truth(in + ".mcid_met") {
				matters = "an important change"
			}
			p.takef("PEG %s of 10 %s, %s %s to %s", a.plain(in+".score"), a.signed(in+".change"), matters, a.text(in + ".previous.recorded_at")[:10], on)
		case a.at(in+".score") != nil:
			p.takef("PEG %s of 10 first one on %s", a.plain(in+".score"), on)
		default:
			p.takef("PEG – cannot be scored: %s on %s", a.text(in+".status"), on)
		}
		return
	}
	p.take("PEG – never answered")
}

// curves takes the words of the charts.
func (p *account) curves(a *answer, who *chronicle, drawn []string) {
	p.t.Helper()
	kind := "no comparable scores"
	if a.at("pain.aspect") != nil {
		kind = a.text("pain.aspect") + " pain, scale " + figure.Words(a.text("pain.scale"))
		if site := a.text("pain.body_site"); site != "" {
			kind += ", " + site
		}
	}
	p.take("Pain (" + kind + ") pain, 0 to 10")
	if a.at("pain.baseline") != nil {
		p.take("baseline " + a.plain("pain.baseline.score"))
	}
	p.take(painAxis)
	found := p.match(`(.*?)` + dates + ` (?:([\d.]+) |No comparable scores in this period )?Opioid dose \(MME a day\) MME a day`)
	if len(drawn) > 0 && found[1] != "" && found[1] != drawn[len(drawn)-1] {
		p.t.Errorf("the last score is %q, want %s", found[1], drawn[len(drawn)-1])
	}
	labels := regexp.MustCompile(`and \d+ more `).ReplaceAllString(found[0], "")
	for label := range strings.FieldsSeq(labels) {
		known := slices.ContainsFunc(who.facts, func(f fact) bool {
			return text(f.value, "level", "") == label || slices.Contains(strings.Fields(text(f.value, "name", "")), label)
		})
		if strings.ContainsFunc(label, unicode.IsDigit) && !known {
			p.t.Errorf("nobody answers for %s above the curve: %s", label, labels)
		}
	}
	ticks := p.evenly(p.match(`((?:[\d,]+ )+)≥ 50 MME ≥ 90 MME ` + dates)[0])
	p.ticks["mme"] = ticks
	if peak, ok := a.float("mme.peak"); ok && peak > ticks[len(ticks)-1] {
		p.t.Errorf("the axis ends at %v, below the peak of %v", ticks[len(ticks)-1], peak)
	}
}

// medicines removes those of the first page, and returns those that come
// later.
func (p *account) medicines(a *answer, who *chronicle) (rest []string) {
	p.t.Helper()
	list := a.each("medications.current")
	rank := func(m string) int {
		if i := slices.Index([]string{"opioid", "benzodiazepine", "gabapentinoid", "unclassified"}, a.text(m+".drug_class")); i >= 0 {
			return i
		}
		return 4
	}
	slices.SortStableFunc(list, func(x, y string) int { return rank(x) - rank(y) })
	p.takef("Current medicines (%d)", len(list))
	here := len(list)
	if more := regexp.MustCompile(` (\d+) more on the next page\. `).FindStringSubmatch(p.text); more != nil {
		n, _ := strconv.Atoi(more[1])
		here -= n
	} else if strings.Contains(p.text, " On the next page. ") {
		here = 0
	}
	for _, m := range list[:here] {
		p.medicine(a, who, m)
	}
	if here > 0 && here < len(list) {
		p.takef("%d more on the next page.", len(list)-here)
	}
	return list[here:]
}

func (p *account) medicine(a *answer, who *chronicle, m string) {
	p.t.Helper()
	until := a.text(m + ".end_date")
	if until == "" {
		until = "not stated"
	}
	mme := ""
	if a.at(m+".mme_per_day") != nil {
		mme = a.plain(m + ".mme_per_day")
	} else if a.at(m+".mme_excluded_reason") != nil {
		mme = "– ¹"
	}
	i := slices.IndexFunc(who.facts, func(f fact) bool { return f.id.String() == a.text(m+".record_id") })
	if i < 0 {
		p.t.Fatalf("%s is not on record", a.text(m+".record_id"))
	}
	value := who.facts[i].value
	var dose []string
	for _, name := range []string{"dose", "strength"} {
		if n, ok := number(value[name]); ok {
			dose = append(dose, strconv.FormatFloat(n, 'f', -1, 64)+" "+text(value, name+"_unit", ""))
			break
		}
	}
	if often := text(value, "frequency", ""); often != "" {
		dose = append(dose, often)
	} else if n, ok := number(value["doses_per_day"]); ok {
		dose = append(dose, strconv.FormatFloat(n, 'f', -1, 64)+" a day")
	}
	if value["prn"] == true {
		dose = append(dose, "as needed")
	}
	if route := text(value, "route", ""); route != "" {
		dose = append(dose, route)
	}
	p.takef("%s %s %s %s %s %s", a.text(m+".name"), figure.Words(a.text(m+".drug_class")), strings.Join(dose, ", "), a.text(m+".first_start_date"), until, mme)
}

// safety removes the flags: those for review, the undecided ones, and the
// notes.
func (p *account) safety(a *answer) {
	p.t.Helper()
	p.take("Safety" + map[bool]string{true: ": please review"}[slices.ContainsFunc(a.each("flags"), func(f string) bool { return a.truth(f+".active") && a.text(f+".flag") != "out_of_guideline_scope" })])
	states := []string{"REVIEW", "NOT KNOWN", "NOTE"}
	lines := make([][]string, len(states))
	var absent, unasked []string
	for _, f := range a.each("flags") {
		name, active := a.text(f+".flag"), a.at(f+".active")
		switch {
		case active == true && name != "out_of_guideline_scope":
			lines[0] = append(lines[0], a.flag(f))
		case active == true:
			lines[2] = append(lines[2], a.flag(f))
		case active == false:
			absent = append(absent, figure.Words(name))
		case name == "phq9_item9":
			unasked = append(unasked, figure.Words(name))
		default:
			lines[1] = append(lines[1], a.flag(f))
		}
	}
	for i, state := range states {
		for _, line := range lines[i] {
			p.take(state + " " + line)
		}
	}
	if len(absent) > 0 {
		p.take("Not found: " + strings.Join(absent, "; ") + ".")
	}
	if len(unasked) > 0 {
		p.take("Never asked: " + strings.Join(unasked, "; ") + ".")
	}
}

// flag is one with what it rests on.
func (a *answer) flag(f string) string {
	a.t.Helper()
	line := figure.Words(a.text(f + ".flag"))
	if since := a.text(f + ".since"); since != "" {
		line += " since " + since
	}
	has := a.names(f + ".basis")
	var basis []string
	add := func(name, words string, holds func(string) bool) {
		if slices.Contains(has, name) && holds(f+".basis."+name) {
			basis = append(basis, words)
		}
	}
	if slices.Contains(has, "shared_days") {
		add("shared_days", a.counted(f+".basis.shared_days")+" shared days", func(path string) bool { n, _ := a.count(path); return n > 0 })
	}
	if slices.Contains(has, "assumed_days") {
		add("assumed_days", a.counted(f+".basis.assumed_days")+" of them assumed", func(path string) bool { n, _ := a.count(path); return n > 0 })
	}
	add("current", "both current", a.truth)
	if slices.Contains(has, "mme") {
		add("mme", a.plain(f+".basis.mme")+" MME a day", func(path string) bool { return a.at(path) != nil })
	}
	add("assumed", "assumed to be taken", a.truth)
	add("incomplete", "not all of the dose is known", a.truth)
	for _, name := range []string{"reasons", "icd10_codes"} {
		if slices.Contains(has, name) {
			for _, one := range a.each(f + ".basis." + name) {
				basis = append(basis, figure.Words(a.text(one)))
			}
		}
	}
	if slices.Contains(has, "unclassified") && len(a.each(f+".basis.unclassified")) > 0 {
		basis = append(basis, fmt.Sprintf("medicines not recognised: %d", len(a.each(f+".basis.unclassified"))))
	}
	if len(basis) > 0 {
		line += ": " + strings.Join(basis, ", ")
	}
	return line
}

func (p *account) patientDefinitions(a *answer, drawn, before int) {
	p.t.Helper()
	p.takef("n = %d in the period, %s in all. Bands: %s scheme, mild below 4, moderate from 4, severe from 7.", drawn, a.plain("pain.scores"), a.text("pain.scheme"))
	if a.at("pain.baseline") != nil {
		p.takef("Baseline: %s Here n = %s. Responder: at least 30 %% (or 50 %%) less pain than at baseline.", a.text("pain.baseline.rule"), a.plain("pain.baseline.scores"))
	}
	p.takef("Scores more than 30 days apart are not joined by a line. Kinds of scores are never mixed: %s MME: %s, %s to %s; peak is %s, average (%s) %s.", a.text("pain.rule"), a.text("mme.table"), a.text("mme.from"), a.text("mme.to"),
		a.text("mme.definitions.peak"), a.text("mme.definitions.average"), a.plain("mme.average"))
	if a.at("mme.peak") != nil && a.plain("mme.peak") != a.plain("mme.peak_overlapped") {
		p.takef("With early refills counted at once the peak is %s.", a.plain("mme.peak_overlapped"))
	}
	if n, _ := a.count("mme.assumed_days"); n > 0 {
		p.takef("Days with an opioid that is assumed to be taken: %d.", n)
	}
	p.take("Missing:")
	if before > 0 {
		p.match(fmt.Sprintf(`scores before the period \(not drawn\): %d[;.]`, before))
	}
	open := 0
	for _, m := range a.each("medications.current") {
		if a.at(m+".end_date") == nil {
			open++
		}
	}
	if open > 0 {
		p.takef("medicines without supply or end, assumed to be taken: %d.", open)
	}
}

func (p *account) questionnaire(a *answer, in string) {
	p.t.Helper()
	before, matters, score := none, none, a.plain(in+".score")
	if a.at(in+".score") == nil {
		score = a.text(in + ".status")
	}
	if a.at(in+".previous") != nil {
		before = a.plain(in+".previous.score") + " " + a.text(in + ".previous.recorded_at")[:10]
	}
	if met := a.at(in + ".mcid_met"); met != nil {
		matters = map[any]string{true: "yes", false: "no"}[met]
	}
	p.takef("%s %s %s %s %s %s %s", figure.Words(a.text(in+".instrument")), a.text(in + ".recorded_at")[:10], score, figure.Words(a.text(in+".band")), before, a.signed(in+".change"), matters)
}
