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
		if p.ended = end != ""; p.ended {
			p.end = dayOfText(end)
		}
		supply, supplied := number(f.value["days_supply"])
		p.supply = int(supply)
		switch status := text(f.value, "status", ""); {
		case supplied:
			p.last = p.first + p.supply - 1
			if on := dayNumber(f.at); !p.ended && on > p.first && on <= p.last && (status == "stopped" || status == "on-hold") {
				p.ended, p.end = true, on-1
			}
			if p.ended {
				p.last = min(p.last, p.end)
			}
		case p.ended:
			p.last = p.end
		default:
			p.open, p.last = true, max(p.first, dayNumber(f.at))
		}
		switch p.class {
		case "opioid":
			p.mme, p.reason = naiveMME(f.value)
		case "unclassified":
			p.reason = "unclassified_medicine"
		}
		p.identify()
		if p.first <= n.to {
			n.drugs = append(n.drugs, p)
		}
	}
	n.layOut()
	return n
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

// kind is what scores must share to be compared.
type kind struct{ aspect, scale, site, side string }

func kindOf(f fact) kind {
	k := kind{text(f.value, "aspect", "current"), text(f.value, "scale", "nrs"), text(f.value, "body_site", ""), text(f.value, "laterality", "")}
	if k.side == "na" {
		k.side = ""
	}
	return k
}

// primary is the scores of the kind that is shown. Those of the period decide which
// kinds are looked at, if there are any; of average pain, or else current, the first
// day of all decides, by how many scores it has, how bad they are, and the order of
// the reference tables.
func (n *naive) primary() (chosen kind, scores []fact) {
	var all, lately []fact
	for _, f := range n.who.facts {
		if k := kindOf(f); f.kind == "pain_scores" && k.scale != "vrs4" && (k.aspect == "average" || k.aspect == "current") && dayNumber(f.at) <= n.to {
			all = append(all, f)
			if dayNumber(f.at) >= n.from {
				lately = append(lately, f)
			}
		}
	}
	if len(lately) == 0 {
		lately = all
	}
	aspect := "current"
	for _, f := range lately {
		if kindOf(f).aspect == "average" {
			aspect = "average"
		}
	}
	looked := map[kind]bool{}
	for _, f := range lately {
		looked[kindOf(f)] = kindOf(f).aspect == aspect
	}
	first := 0
	count, sum := map[kind]int{}, map[kind]float64{}
	for _, f := range all {
		if k := kindOf(f); looked[k] {
			if len(count) == 0 {
				first = dayNumber(f.at)
			}
			if dayNumber(f.at) == first {
				count[k]++
				sum[k] += toTen(f.value)
			}
		}
	}
	order := func(k kind) int {
		return 10000*slices.Index([]string{"nrs", "vas", "vrs4", "fps_r"}, k.scale) + 10*slices.Index(append([]string{""}, naiveSites...), k.site) +
			slices.Index([]string{"", "left", "right", "bilateral", "midline"}, k.side)
	}
	for k := range count {
		if cmp.Or(count[k]-count[chosen], cmp.Compare(math.Round(10*sum[k]), math.Round(10*sum[chosen])), order(chosen)-order(k)) > 0 {
			chosen = k
		}
	}
	for _, f := range all {
		if kindOf(f) == chosen {
			scores = append(scores, f)
		}
	}
	return chosen, scores
}

var naiveSites = []string{"head", "face", "jaw", "neck", "shoulder", "upper arm", "elbow", "forearm", "wrist", "hand", "chest", "upper back", "lower back",
	"abdomen", "pelvis", "buttock", "hip", "groin", "thigh", "knee", "lower leg", "ankle", "foot", "widespread", "other"}

// pain returns the primary series and its change.
func (n *naive) pain() map[string]any {
	chosen, scores := n.primary()
	if len(scores) == 0 {
		return map[string]any{"aspect": nil, "scale": nil, "body_site": nil, "laterality": nil, "scores": roughly{0, 0}, "points": []any{}, "truncated": false, "latest": nil, "baseline": nil, "change": nil}
	}
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
		"aspect": chosen.aspect, "scale": chosen.scale, "body_site": chosen.site, "laterality": chosen.side, "scores": roughly{float64(len(scores)), 0}, "points": points, "truncated": len(scores) > 1000,
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
		m := map[string]any{"record_id": p.id.String(), "name": p.value["name"], "drug_class": p.class, "status": text(p.value, "status", ""), "start_date": dayText(p.first), "end_date": nil, "assumed": p.open, "assumed_until": nil, "mme_per_day": nil, "mme_excluded_reason": nil}
		begun, newest := p.first, p.first
		for k := range n.drugs {
			if n.drugs[k].value["name"] == p.value["name"] {
				begun = min(begun, n.drugs[k].first)
				if !n.drugs[k].over {
					newest = max(newest, n.drugs[k].first)
				}
			}
		}
		m["last_start_date"] = dayText(newest)
		m["first_start_date"] = dayText(begun)
		last := n.to
		for ; p.lasts(n, last+1); last++ {
		}
		if p.open {
			m["assumed_until"] = dayText(last)
		} else {
			m["end_date"] = dayText(last)
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
	var covered, from50, from90, opioidDays, supposed int
	var total, peak, overlapped float64
	var incomplete bool
	timeline := []any{}
	var run map[string]any
	var runMME float64
	for day := n.from; day <= n.to; day++ {
		mme, known, missing, some, assumed := n.on(day)
		incomplete = incomplete || missing
		overlapped = max(overlapped, n.overlappedOn(day), mme)
		if assumed {
			supposed++
		}
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
		if run != nil && (run["mme"] != nil) == known && run["incomplete"] == missing && run["assumed"] == assumed && math.Abs(runMME-mme) < 1e-6 {
			run["to"] = dayText(day)
			continue
		}
		run, runMME = map[string]any{"from": dayText(day), "to": dayText(day), "mme": oneOf(known, mme, 1), "incomplete": missing, "assumed": assumed}, mme
		timeline = append(timeline, run)
	}
	now, known, missing, _ := n.prescribed()
	reasons := map[string]bool{}
	for i := range n.drugs {
		if p := &n.drugs[i]; p.opioid() && p.misses() && n.between(p, n.from, n.to) {
			reasons[cmp.Or(p.reason, "missing_dose_or_supply")] = true
		}
	}
	dosed := covered > 0 || opioidDays == 0
	m := map[string]any{"from": dayText(n.from), "to": dayText(n.to), "current": oneOf(known, now, 1), "current_band": nil, "peak": oneOf(dosed, peak, 1), "peak_overlapped": oneOf(dosed, overlapped, 1), "assumed_days": roughly{float64(supposed), 0},
		"average": nil, "covered_days": roughly{float64(covered), 0}, "days_ge_50": roughly{float64(from50), 0}, "days_ge_90": roughly{float64(from90), 0}, "incomplete": incomplete, "incomplete_reasons": anyOf(slices.Sorted(maps.Keys(reasons))), "timeline": timeline}
	if covered > 0 {
		m["average"] = roughly{total / float64(covered), 1}
	}
	if known || missing {
		switch {
		case missing && now < 90-1e-9:
			m["current_band"] = "unknown"
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
	{"phq_9", 9, 2, false, 5, 20, []any{0.0, "minimal", 5.0, "mild", 10.0, "moderate", 15.0, "moderately_severe", 20.0, "severe"}},
	{"gad_7", 7, 1, false, 4, 0, []any{0.0, "minimal", 5.0, "mild", 10.0, "moderate", 15.0, "severe"}},
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
					in["mcid_met"] = info.points > 0 && fall >= info.points-1e-9 || info.percent > 0 && *previous > 0 && (info.name != "phq_9" || *previous >= 20) && 100*fall / *previous >= info.percent-1e-9
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

// checkSummaries compares the summaries of all patients with the records.
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
