package report

import (
	"fmt"
	"slices"
	"strings"
)

// sharedDays returns the days of the period on which both an opioid and a
// medicine of a class are taken; with certain, those that are not assumed.
func (n *naive) sharedDays(class string, certain bool) (days []int) {
	for day := n.from; day <= n.to; day++ {
		has := func(class string) bool {
			return slices.ContainsFunc(n.drugs, func(p prescription) bool {
				return p.class == class && p.days[day] && (!certain || !p.open || p.first == day)
			})
		}
		if has("opioid") && has(class) {
			days = append(days, day)
		}
	}
	return days
}

// possiblyShared is on how many days an opioid and a medicine of a class may
// both be taken, when each medicine that is not understood may be either.
func (n *naive) possiblyShared(class string) (days int) {
	for day := n.from; day <= n.to; day++ {
		number := map[string]int{}
		for i := range n.drugs {
			if n.drugs[i].days[day] {
				number[n.drugs[i].class]++
			}
		}
		opioids, others, unknown := min(1, number["opioid"]), min(1, number[class]), number["unclassified"]
		if opioids+others+unknown >= 2 {
			days++
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
	mme, known, incomplete, assumed := n.prescribed()
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
		mayBeEarlier := false
		switch {
		case mme >= threshold-1e-9:
			active = true
			for day := n.to; ; day-- {
				if dose, _, missing, _, _ := n.on(day); dose < threshold-1e-9 {
					mayBeEarlier = missing
					break
				}
				since = dayText(day)
			}
		case !incomplete:
			active = false
		}
		add(fmt.Sprintf("ge_%v", threshold), active, since, map[string]any{"mme": oneOf(known, mme, 1), "threshold": roughly{threshold, 0}, "incomplete": incomplete, "assumed": assumed, "since_incomplete": mayBeEarlier, "unclassified": n.unclassified(n.current)})
	}
	for _, class := range [][2]string{{"opioid_benzo_overlap", "benzodiazepine"}, {"opioid_gabapentinoid_overlap", "gabapentinoid"}} {
		shared, certain, possible := n.sharedDays(class[1], false), n.sharedDays(class[1], true), n.possiblyShared(class[1])
		both := n.taken("opioid") && n.taken(class[1])
		var active, since, last any
		if len(shared) > 0 {
			since, last = dayText(shared[0]), dayText(shared[len(shared)-1])
		}
		if len(shared) > 0 {
			active = true
		} else if possible == 0 {
			active = false
		}
		add(class[0], active, since, map[string]any{"shared_days": roughly{float64(len(shared)), 0}, "assumed_days": roughly{float64(len(shared) - len(certain)), 0}, "possibly_shared_days": roughly{float64(possible), 0}, "last_shared_day": last,
			"current": both, "from": dayText(n.from), "to": dayText(n.to), "unclassified": n.unclassified(func(p *prescription) bool { return n.between(p, n.from, n.to) })})
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
			if p.value["name"] == "naloxone" && (!p.open && p.days[day] || (p.open || len(p.days) == 0) && p.first == day) {
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
	unknown := n.unclassified(func(p *prescription) bool { return n.between(p, n.to-364, n.to) })
	var active any // true however the unknown turn out, or false
	switch {
	case last != nil, !taken && !n.taken("unclassified"), len(reasons) == 0 && !incomplete:
		active = false
	case taken && len(reasons) > 0 && len(unknown) == 0:
		active = true
	}
	add("naloxone_gap", active, nil, map[string]any{"opioid_active": taken, "reasons": reasons, "naloxone_days": roughly{365, 0}, "last_naloxone": last, "unclassified": unknown})
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
