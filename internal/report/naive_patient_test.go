package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"
)

// naive works a patient's summary out again from what was recorded, day by day
// and without any rule of the program, slow and plain as the domain has it.
type naive struct {
	who      *chronicle
	from, to int // days since 1970
	drugs    []prescription
}

// prescription is a medicine with the days it covers.
type prescription struct {
	fact
	class       string
	first, last int
	open        bool // neither supply nor end
	over        bool // by its status, on the day of the record
	ended       bool // has an end date
	mme         float64
	reason      string
}

var naiveClasses = map[string]string{
	"ibuprofen": "nsaid", "naproxen": "nsaid", "celecoxib": "nsaid", "acetaminophen": "other_analgesic", "gabapentin": "gabapentinoid", "pregabalin": "gabapentinoid",
	"duloxetine": "antidepressant", "amitriptyline": "antidepressant", "lorazepam": "benzodiazepine", "clonazepam": "benzodiazepine", "diazepam": "benzodiazepine", "naloxone": "opioid_antagonist",
	"tramadol": "opioid", "oxycodone": "opioid", "morphine": "opioid", "hydrocodone": "opioid", "hydromorphone": "opioid", "buprenorphine": "opioid", "codeine": "opioid", "tapentadol": "opioid",
	"fentanyl": "opioid", "methadone": "opioid", "oxymorphone": "opioid",
}

// Morphine milligram equivalents of a milligram (CDC 2022); of fentanyl, of a
// microgram an hour.
var naiveFactors = map[string]float64{"tramadol": 0.2, "oxycodone": 1.5, "morphine": 1, "hydrocodone": 1, "hydromorphone": 5, "codeine": 0.15, "tapentadol": 0.4, "fentanyl": 2.4, "methadone": 4.7, "oxymorphone": 3}

var timesADay = map[string]float64{"QD": 1, "QHS": 1, "BID": 2, "TID": 3, "QID": 4}

func dayNumber(at time.Time) int { return int(math.Floor(float64(at.Unix()) / 86400)) }

func dayOfText(s string) int {
	at, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return dayNumber(at)
}

func dayText(day int) string { return time.Unix(int64(day)*86400, 0).UTC().Format(time.DateOnly) }

func newNaive(t *testing.T, who *chronicle, from, to string) *naive {
	t.Helper()
	n := &naive{who: who, from: dayOfText(from), to: dayOfText(to)}
	for _, f := range who.facts {
		if f.kind != "medications" || slices.Contains([]string{"cancelled", "draft", "entered-in-error"}, text(f.value, "status", "")) {
			continue
		}
		p := prescription{fact: f, class: naiveClasses[text(f.value, "name", "")], first: dayNumber(f.at)}
		if p.class == "" {
			t.Fatalf("no class of %v", f.value["name"])
		}
		p.over = slices.Contains([]string{"stopped", "completed", "on-hold"}, text(f.value, "status", ""))
		if start := text(f.value, "start_date", ""); start != "" {
			p.first = dayOfText(start)
		}
		end := text(f.value, "end_date", "")
		p.ended = end != ""
		supply, supplied := number(f.value["days_supply"])
		switch {
		case supplied:
			p.last = p.first + int(supply) - 1
			if p.ended {
				p.last = min(p.last, dayOfText(end))
			}
		case p.ended:
			p.last = dayOfText(end)
		default:
			p.open, p.last = true, max(p.first, dayNumber(f.at))
		}
		if p.class == "opioid" {
			p.mme, p.reason = naiveMME(f.value)
		}
		if p.first <= n.to {
			n.drugs = append(n.drugs, p)
		}
	}
	return n
}

func naiveMME(v map[string]any) (mme float64, reason string) {
	name := text(v, "name", "")
	switch {
	case name == "buprenorphine":
		return 0, "buprenorphine_excluded"
	case name == "methadone" && text(v, "indication", "") == "opioid use disorder":
		return 0, "methadone_for_oud_excluded"
	}
	strength, strong := number(v["strength"])
	quantity, counted := number(v["quantity"])
	supply, supplied := number(v["days_supply"])
	if strong && counted && supplied {
		mme = strength * quantity / supply * naiveFactors[name]
		if name == "fentanyl" {
			mme *= 3 // a patch is worn for three days
		}
		return mme, ""
	}
	dose, given := number(v["dose"])
	often, said := timesADay[text(v, "frequency", "")]
	if n, ok := number(v["doses_per_day"]); ok {
		often, said = n, true
	}
	if v["prn"] == true {
		often, said = number(v["max_doses_per_day"])
	}
	if !given || !said {
		return 0, "missing_dose_or_supply"
	}
	return dose * often * naiveFactors[name], ""
}

// current reports whether a medicine is taken on the last day.
func (n *naive) current(p *prescription) bool {
	return !(p.over && !p.ended) && (p.open || p.last >= n.to)
}

// maybe reports whether it may cover a day, surely whether it does.
func (n *naive) maybe(p *prescription, day int) bool {
	last := p.last
	if p.open && !p.over {
		last = n.to
	}
	return p.first <= day && day <= max(last, p.first)
}

func (n *naive) surely(p *prescription, day int) bool { return !p.open && n.maybe(p, day) }

// counts reports whether the dose of an opioid on the days it covers is known;
// misses, whether a total without it is too low.
func (p *prescription) counts() bool { return p.reason == "" && !p.open }

func (p *prescription) misses() bool {
	return p.open && p.reason == "" || p.reason == "missing_dose_or_supply"
}

// on is the opioids of a day: their dose, whether one of them counts, whether
// one is missing, whether there is any.
func (n *naive) on(day int) (mme float64, known, missing, any bool) {
	for i := range n.drugs {
		p := &n.drugs[i]
		if p.class != "opioid" || !n.maybe(p, day) {
			continue
		}
		any = true
		known = known || p.counts()
		missing = missing || p.misses()
		if p.counts() {
			mme += p.mme
		}
	}
	return mme, known, missing, any
}

// prescribed is the dose of the current opioids.
func (n *naive) prescribed() (mme float64, known, incomplete bool) {
	known = true
	opioids, counted := 0, 0
	for i := range n.drugs {
		p := &n.drugs[i]
		if p.class != "opioid" || !n.current(p) {
			continue
		}
		opioids++
		if p.reason == "" {
			counted++
			mme += p.mme
		}
		incomplete = incomplete || p.reason == "missing_dose_or_supply"
	}
	return mme, opioids == 0 || counted > 0, incomplete
}

func (n *naive) taken(class string) bool {
	return slices.ContainsFunc(n.drugs, func(p prescription) bool { return p.class == class && n.current(&p) })
}

// roughly stands for a number of the answer that is so near that rounding
// explains it.
type roughly struct {
	value    float64
	decimals int
}

func oneOf(known bool, value float64, decimals int) any {
	if !known {
		return nil
	}
	return roughly{value, decimals}
}

func band(score float64) string {
	switch {
	case score >= 7:
		return "severe"
	case score >= 4:
		return "moderate"
	case score > 0:
		return "mild"
	}
	return "none"
}

func moment3339(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// pain is the primary series and what became of it.
func (n *naive) pain() map[string]any {
	type kind struct{ aspect, scale, site string }
	groups := map[kind][]fact{}
	for _, f := range n.who.facts {
		k := kind{text(f.value, "aspect", "current"), text(f.value, "scale", "nrs"), text(f.value, "body_site", "")}
		if f.kind == "pain_scores" && k.scale != "vrs4" && (k.aspect == "average" || k.aspect == "current") && dayNumber(f.at) <= n.to {
			groups[k] = append(groups[k], f)
		}
	}
	var chosen kind
	for k, list := range groups {
		best := groups[chosen]
		rank := map[string]int{"current": 1, "average": 2}
		better := cmp.Or(rank[k.aspect]-rank[chosen.aspect], len(list)-len(best))
		if better == 0 {
			better = list[len(list)-1].at.Compare(best[len(best)-1].at)
		}
		if better > 0 {
			chosen = k
		}
	}
	scores := groups[chosen]
	if len(scores) == 0 {
		return map[string]any{"aspect": nil, "scale": nil, "body_site": nil, "scores": roughly{0, 0}, "points": []any{}, "truncated": false, "latest": nil, "baseline": nil, "change": nil}
	}
	// Of one moment the lower score comes first.
	sort.SliceStable(scores, func(i, k int) bool {
		return scores[i].at.Before(scores[k].at) || scores[i].at.Equal(scores[k].at) && toTen(scores[i].value) < toTen(scores[k].value)
	})
	point := func(f fact) map[string]any {
		return map[string]any{"recorded_at": moment3339(f.at), "score": roughly{toTen(f.value), 1}, "band": band(toTen(f.value)), "aspect": chosen.aspect, "scale": chosen.scale}
	}
	points := []any{}
	for _, f := range scores[max(0, len(scores)-1000):] {
		points = append(points, point(f))
	}
	index, sum, first := dayNumber(scores[0].at), 0.0, 0
	for _, f := range scores {
		if day := dayNumber(f.at); day <= index && day > index-14 {
			sum += toTen(f.value)
			first++
		}
	}
	base, last := sum/float64(first), toTen(scores[len(scores)-1].value)
	p := map[string]any{
		"aspect": chosen.aspect, "scale": chosen.scale, "body_site": chosen.site, "scores": roughly{float64(len(scores)), 0}, "points": points, "truncated": len(scores) > 1000,
		"latest":   point(scores[len(scores)-1]),
		"baseline": map[string]any{"index_date": dayText(index), "scores": roughly{float64(first), 0}, "score": roughly{base, 1}, "band": band(base)},
		"change":   nil,
	}
	if first < len(scores) {
		change := map[string]any{"points": roughly{last - base, 1}, "percent": nil, "responder_30": nil, "responder_50": nil, "worsened_30": nil, "nrs_ge_2": base-last >= 2-1e-9, "low_baseline": base < 4}
		if base > 0 {
			percent := 100 * (last - base) / base
			maps.Copy(change, map[string]any{"percent": roughly{percent, 2}, "responder_30": percent <= -30+1e-9, "responder_50": percent <= -50+1e-9, "worsened_30": percent >= 30-1e-9})
		}
		p["change"] = change
	}
	return p
}

func (n *naive) medications() []any {
	list := []any{}
	for i := range n.drugs {
		p := &n.drugs[i]
		if !n.current(p) {
			continue
		}
		m := map[string]any{"record_id": p.id.String(), "name": p.value["name"], "drug_class": p.class, "status": text(p.value, "status", ""), "start_date": dayText(p.first), "end_date": nil, "mme_per_day": nil, "mme_excluded_reason": nil}
		if !p.open {
			m["end_date"] = dayText(p.last)
		}
		if p.class == "opioid" && p.reason == "" {
			m["mme_per_day"] = roughly{p.mme, 1}
		}
		if p.reason != "" {
			m["mme_excluded_reason"] = p.reason
		}
		list = append(list, m)
	}
	sort.SliceStable(list, func(i, k int) bool {
		a, b := list[i].(map[string]any), list[k].(map[string]any)
		return cmp.Or(strings.Compare(a["start_date"].(string), b["start_date"].(string)), strings.Compare(a["name"].(string), b["name"].(string))) < 0
	})
	return list
}

func (n *naive) mme() map[string]any {
	var covered, from50, from90, opioidDays int
	var total, peak float64
	var incomplete bool
	timeline := []any{}
	var run map[string]any
	var runMME float64
	for day := n.from; day <= n.to; day++ {
		mme, known, missing, some := n.on(day)
		incomplete = incomplete || missing
		if !some {
			run = nil
			continue
		}
		opioidDays++
		if known {
			covered++
			total += mme
			peak = max(peak, mme)
			if mme >= 50-1e-9 {
				from50++
			}
			if mme >= 90-1e-9 {
				from90++
			}
		}
		if run != nil && (run["mme"] != nil) == known && run["incomplete"] == missing && math.Abs(runMME-mme) < 1e-6 {
			run["to"] = dayText(day)
			continue
		}
		run, runMME = map[string]any{"from": dayText(day), "to": dayText(day), "mme": oneOf(known, mme, 1), "incomplete": missing}, mme
		timeline = append(timeline, run)
	}
	now, known, _ := n.prescribed()
	m := map[string]any{"from": dayText(n.from), "to": dayText(n.to), "current": oneOf(known, now, 1), "current_band": nil, "peak": oneOf(covered > 0 || opioidDays == 0, peak, 1),
		"average": nil, "covered_days": roughly{float64(covered), 0}, "days_ge_50": roughly{float64(from50), 0}, "days_ge_90": roughly{float64(from90), 0}, "incomplete": incomplete, "timeline": timeline}
	if covered > 0 {
		m["average"] = roughly{total / float64(covered), 1}
	}
	if known {
		switch {
		case now == 0:
			m["current_band"] = "0"
		case now < 20-1e-9:
			m["current_band"] = ">0-<20"
		case now < 50-1e-9:
			m["current_band"] = "20-<50"
		case now < 90-1e-9:
			m["current_band"] = "50-<90"
		default:
			m["current_band"] = ">=90"
		}
	}
	return m
}

// naiveInstruments are those that the clinic uses, in the order of the domain.
var naiveInstruments = []struct {
	name            string
	items, mayMiss  int
	mean            bool
	points, percent float64
	bands           []any // from, name, ...
}{
	{"peg", 3, 0, true, 1, 30, nil},
	{"phq_9", 9, 2, false, 0, 0, []any{0.0, "minimal", 5.0, "mild", 10.0, "moderate", 15.0, "moderately_severe", 20.0, "severe"}},
	{"gad_7", 7, 1, false, 0, 0, []any{0.0, "minimal", 5.0, "mild", 10.0, "moderate", 15.0, "severe"}},
	{"pgic", 1, 0, false, 0, 0, []any{1.0, "very_much_improved", 2.0, "much_improved", 3.0, "minimally_improved", 4.0, "no_change", 5.0, "minimally_worse", 6.0, "much_worse", 7.0, "very_much_worse"}},
	{"promis_pi", 0, 0, false, 3, 0, []any{10.0, "within_normal_limits", 55.0, "mild", 60.0, "moderate", 70.0, "severe"}},
	{"odi", 0, 0, false, 10, 30, []any{0.0, "minimal", 20.001, "moderate", 40.001, "severe", 60.001, "crippling", 80.001, "bed_bound"}},
}

func (n *naive) instruments() []any {
	list := []any{}
	for _, info := range naiveInstruments {
		var latest, previous *float64
		var last, lastScored fact
		status := ""
		found := false
		for _, f := range n.who.facts {
			if f.kind != "assessments" || f.value["instrument"] != info.name || dayNumber(f.at) > n.to {
				continue
			}
			if found && latest != nil {
				previous, lastScored = latest, last
			}
			found, last, latest, status = true, f, nil, "complete"
			if total, ok := number(f.value["score"]); ok {
				latest = &total
				continue
			}
			items := f.value["items"].(map[string]int)
			var sum float64
			for _, v := range items {
				sum += float64(v)
			}
			switch missing := info.items - len(items); {
			case missing > info.mayMiss:
				status = "unscorable"
				continue
			case missing > 0:
				status = "prorated"
				sum = math.Round(sum / float64(len(items)) * float64(info.items))
			case info.mean:
				sum /= float64(info.items)
			}
			latest = &sum
		}
		if !found {
			continue
		}
		in := map[string]any{"instrument": info.name, "recorded_at": moment3339(last.at), "status": status, "score": nil, "band": "", "previous": nil, "change": nil, "mcid_met": nil}
		if latest != nil {
			in["score"] = roughly{*latest, 1}
			for i := 0; i < len(info.bands); i += 2 {
				if *latest >= info.bands[i].(float64) {
					in["band"] = info.bands[i+1]
				}
			}
		}
		if previous != nil {
			in["previous"] = map[string]any{"recorded_at": moment3339(lastScored.at), "score": roughly{*previous, 1}}
			if latest != nil {
				fall := *previous - *latest
				in["change"] = roughly{-fall, 1}
				if info.points > 0 || info.percent > 0 {
					in["mcid_met"] = info.points > 0 && fall >= info.points-1e-9 || info.percent > 0 && *previous > 0 && 100*fall / *previous >= info.percent-1e-9
				}
			}
		}
		list = append(list, in)
	}
	return list
}

func (n *naive) procedures() []any {
	list := []any{}
	for _, f := range n.who.facts {
		if f.kind != "procedures" || dayNumber(f.at) > n.to {
			continue
		}
		p := map[string]any{"record_id": f.id.String(), "recorded_at": moment3339(f.at), "procedure_type": f.value["procedure_type"]}
		for _, name := range []string{"body_site", "laterality", "level"} {
			p[name] = text(f.value, name, "")
		}
		for _, name := range []string{"pre_score", "post_score", "relief_percent"} {
			v, ok := number(f.value[name])
			p[name] = oneOf(ok, v, 1)
		}
		list = append(list, p)
	}
	return list[max(0, len(list)-20):]
}

// sharedDays are the days of the period on which both an opioid and a medicine
// of a class are taken, by a way to judge that.
func (n *naive) sharedDays(class string, covers func(*prescription, int) bool) (days []int) {
	for day := n.from; day <= n.to; day++ {
		has := func(class string) bool {
			return slices.ContainsFunc(n.drugs, func(p prescription) bool { return p.class == class && covers(&p, day) })
		}
		if has("opioid") && has(class) {
			days = append(days, day)
		}
	}
	return days
}

// codes are those of the history that begin with a prefix and count.
func (n *naive) codes(ever bool, prefixes ...string) []any {
	list := []string{}
	for _, h := range n.who.history {
		goes := slices.Contains([]string{"", "active", "recurrence", "relapse"}, h.Status)
		begun := h.OnsetDate == "" || h.OnsetDate <= dayText(n.to)[:len(h.OnsetDate)]
		if h.Category != "family" && (ever || goes) && begun && slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(h.ICD10Code, p) }) && !slices.Contains(list, h.ICD10Code) {
			list = append(list, h.ICD10Code)
		}
	}
	slices.Sort(list)
	return anyOf(append([]string{}, list...))
}

func (n *naive) flags() []any {
	mme, known, incomplete := n.prescribed()
	scope := n.codes(false, "C", "D57", "Z51.5")
	outside := len(scope) > 0
	var list []any
	add := func(flag string, active, since any, basis map[string]any) {
		if flag != "phq9_item9" && flag != "out_of_guideline_scope" {
			basis["out_of_guideline_scope"] = outside
		}
		list = append(list, map[string]any{"flag": flag, "active": active, "since": since, "basis": basis})
	}
	for _, threshold := range []float64{50, 90} {
		var active, since any
		switch {
		case mme >= threshold-1e-9:
			active = true
			for day := n.to; ; day-- {
				if dose, _, _, _ := n.on(day); dose < threshold-1e-9 {
					break
				}
				since = dayText(day)
			}
		case !incomplete:
			active = false
		}
		add(fmt.Sprintf("ge_%v", threshold), active, since, map[string]any{"mme": oneOf(known, mme, 1), "threshold": roughly{threshold, 0}, "incomplete": incomplete})
	}
	for _, class := range [][2]string{{"opioid_benzo_overlap", "benzodiazepine"}, {"opioid_gabapentinoid_overlap", "gabapentinoid"}} {
		shared, possible := n.sharedDays(class[1], n.surely), n.sharedDays(class[1], n.maybe)
		both := n.taken("opioid") && n.taken(class[1])
		var active, since, last any
		if len(shared) > 0 {
			since, last = dayText(shared[0]), dayText(shared[len(shared)-1])
		}
		if len(shared) > 0 || both {
			active = true
		} else if len(possible) == 0 {
			active = false
		}
		add(class[0], active, since, map[string]any{"shared_days": roughly{float64(len(shared)), 0}, "possibly_shared_days": roughly{float64(len(possible)), 0}, "last_shared_day": last,
			"current": both, "from": dayText(n.from), "to": dayText(n.to)})
	}
	n.naloxone(add, mme, incomplete)
	n.selfHarm(add)
	add("out_of_guideline_scope", outside, nil, map[string]any{"icd10_codes": scope})
	return list
}

func (n *naive) naloxone(add func(string, any, any, map[string]any), mme float64, incomplete bool) {
	var last any
	for day := n.to; day > n.to-365 && last == nil; day-- {
		for i := range n.drugs {
			p := &n.drugs[i]
			if p.value["name"] == "naloxone" && (!p.open && n.maybe(p, day) || p.open && p.first == day) {
				last = dayText(day)
			}
		}
	}
	overdose := slices.ContainsFunc(n.who.facts, func(f fact) bool {
		return f.kind == "adverse_events" && f.value["event"] == "overdose" && dayNumber(f.at) <= n.to
	})
	substance := len(n.codes(true, "F10", "F11", "F12", "F13", "F14", "F15", "F16", "F18", "F19", "T40")) > 0
	reasons := []any{}
	for _, r := range []struct {
		name  string
		holds bool
	}{{"mme_ge_50", mme >= 50-1e-9}, {"benzodiazepine", n.taken("benzodiazepine")}, {"overdose_or_substance_use", overdose || substance}, {"sleep_disordered_breathing", len(n.codes(false, "G47.3")) > 0},
		{"age_65_or_over", age(n.who.DateOfBirth.String(), dayText(n.to)) >= 65}, {"renal_or_hepatic_failure", len(n.codes(false, "N17", "N18", "N19", "K70.4", "K71.1", "K72")) > 0}} {
		if r.holds {
			reasons = append(reasons, r.name)
		}
	}
	taken := n.taken("opioid")
	var active any
	switch {
	case !taken || last != nil:
		active = false
	case len(reasons) > 0:
		active = true
	case !incomplete:
		active = false
	}
	add("naloxone_gap", active, nil, map[string]any{"opioid_active": taken, "reasons": reasons, "naloxone_days": roughly{365, 0}, "last_naloxone": last})
}

func (n *naive) selfHarm(add func(string, any, any, map[string]any)) {
	var active, since, asked any
	for _, f := range n.who.facts {
		if f.kind != "assessments" || f.value["instrument"] != "phq_9" || dayNumber(f.at) > n.to {
			continue
		}
		items := f.value["items"].(map[string]int)
		answer, given := items["9"]
		if !given {
			continue
		}
		asked = moment3339(f.at)
		active = answer > 0
		if answer == 0 {
			since = nil
		} else if since == nil {
			since = dayText(dayNumber(f.at))
		}
	}
	add("phq9_item9", active, since, map[string]any{"recorded_at": asked})
}

// same says where an answer differs from what was worked out; "" when nowhere.
// Members that are not worked out, which are words of definition, are passed
// over.
func same(path string, got, want any) string {
	switch w := want.(type) {
	case roughly:
		n, ok := got.(json.Number)
		if !ok {
			return fmt.Sprintf("%s is %v, want %v", path, got, w.value)
		}
		f, err := n.Float64()
		unit := math.Pow10(-w.decimals)
		if err != nil || math.Abs(f-w.value) > unit/2+1e-9 || math.Abs(f/unit-math.Round(f/unit)) > 1e-6 {
			return fmt.Sprintf("%s is %v, want %v with %d decimals", path, f, w.value, w.decimals)
		}
		return ""
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s is %v, want %v", path, got, want)
		}
		for _, name := range slices.Sorted(maps.Keys(w)) {
			if problem := same(path+"."+name, g[name], w[name]); problem != "" {
				return problem
			}
		}
		for name, v := range g {
			_, words := v.(string)
			if _, known := w[name]; !known && !words && name != "definitions" {
				return path + "." + name + " was not worked out"
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Sprintf("%s has %d entries, want %d: %v and %v", path, len(g), len(w), got, want)
		}
		for i := range w {
			if problem := same(path+"["+strconv.Itoa(i)+"]", g[i], w[i]); problem != "" {
				return problem
			}
		}
		return ""
	}
	if got != want {
		return fmt.Sprintf("%s is %v, want %v", path, got, want)
	}
	return ""
}

// checkSummaries holds the summaries of all patients against the records.
func (c *clinic) checkSummaries(t *testing.T) {
	periods := [][2]string{{"2025-09-01", "2025-12-15"}, {"2025-01-16", "2026-01-15"}, {"2025-03-01", "2025-06-30"}}
	if !c.all {
		periods = periods[:1]
	}
	for _, period := range periods {
		for i, who := range c.patients {
			a := answerOf(t, c.made(t, c.about(i, `,"start_date":"`+period[0]+`","end_date":"`+period[1]+`"`)))
			n := newNaive(t, who, period[0], period[1])
			root := a.root.(map[string]any)
			for part, want := range map[string]any{"pain": n.pain(), "medications": map[string]any{"current": n.medications()}, "mme": n.mme(), "instruments": n.instruments(), "procedures": n.procedures(), "flags": n.flags()} {
				if problem := same(part, root[part], want); problem != "" {
					t.Errorf("patient %d, %s to %s: %s", i, period[0], period[1], problem)
				}
			}
		}
	}
}
