package summary

import (
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/drug"
	"anodyne.example/anodyne/internal/pain/series"
)

// Flag is a prompt for review. Active is null if the available data does not
// decide it.
type Flag struct {
	Flag   string `json:"flag"`
	Active *bool  `json:"active"`
	// Since is the first day, if there is one.
	Since *string `json:"since"`
	// Basis holds the figures behind the flag.
	Basis map[string]any `json:"basis"`
}

func (e *evidence) flags() []Flag {
	flags := []Flag{
		e.doseFlag("ge_50", 50), e.doseFlag("ge_90", 90),
		e.overlapFlag("opioid_benzo_overlap", benzodiazepine), e.overlapFlag("opioid_gabapentinoid_overlap", gabapentinoid),
		e.naloxoneGap(),
	}
	scope := e.guidelineScope()
	for _, f := range flags {
		f.Basis["out_of_guideline_scope"] = *scope.Active
	}
	return append(flags, e.selfHarm(), scope)
}

// doseFlag flags the dose of the current medicines. Below the threshold it is
// undecided if an opioid, or a medicine that may be one, is missing from the
// dose.
func (e *evidence) doseFlag(name string, threshold float64) Flag {
	now := e.prescribed()
	f := Flag{Flag: name, Basis: map[string]any{"mme": now.shown(), "threshold": threshold, "incomplete": now.incomplete, "assumed": now.assumed, "since_incomplete": false,
		"unclassified": e.unclassified(func(m *medicine) bool { return m.isCurrent(e.day) })}}
	switch {
	case drug.AtLeast(now.mme, threshold):
		f.Active = new(true)
		f.Since, f.Basis["since_incomplete"] = e.since(threshold)
	case !now.incomplete:
		f.Active = new(false)
	}
	return f
}

// since returns the first of the consecutive days up to the current day with
// at least this dose. It may be earlier if something is missing from the dose
// of the day before.
func (e *evidence) since(threshold float64) (_ *string, mayBeEarlier bool) {
	first := e.day + 1
	for i := len(e.doses) - 1; i >= 0; i-- {
		d := &e.doses[i]
		if d.Last+1 != first {
			break
		}
		if !drug.AtLeast(d.mme, threshold) {
			mayBeEarlier = d.incomplete
			break
		}
		first = d.First
	}
	if first > e.day {
		return nil, false
	}
	return new(date(first)), mayBeEarlier
}

// overlapFlag flags days of the window on which an opioid and a medicine of
// another class are both taken. An unclassified medicine may leave this
// undecided.
func (e *evidence) overlapFlag(name string, class series.Class) Flag {
	shared := drug.Shared(e.spans(opioid), e.spans(class))
	certain := drug.Overlap(e.certainSpans(opioid), e.certainSpans(class))
	possible := e.possiblyShared(class)
	days := 0
	for _, s := range shared {
		days += s.Days()
	}
	current, window := e.anyCurrent(opioid) && e.anyCurrent(class), e.window()
	f := Flag{Flag: name, Basis: map[string]any{"shared_days": days, "assumed_days": days - certain, "possibly_shared_days": possible, "last_shared_day": nil, "current": current,
		"from": date(window.First), "to": date(window.Last), "unclassified": e.notUnderstood(window)}}
	if days > 0 {
		f.Since, f.Basis["last_shared_day"] = new(date(shared[0].First)), date(shared[len(shared)-1].Last)
	}
	switch {
	case days > 0:
		f.Active = new(true)
	case possible == 0:
		f.Active = new(false)
	}
	return f
}

// naloxoneGap flags that an opioid is taken, there is a risk factor for
// overdose, and no naloxone was given within a year. An unclassified medicine
// may be the opioid, a risk factor or naloxone.
func (e *evidence) naloxoneGap() Flag {
	reasons := e.overdoseRisks()
	taken := e.anyCurrent(opioid)
	last := e.lastNaloxone()
	unknown := e.notUnderstood(e.year())
	mayBeTaken := taken || e.anyCurrent(series.Unclassified)
	mayBeAtRisk := len(reasons) > 0 || e.prescribed().incomplete
	f := Flag{Flag: "naloxone_gap", Basis: map[string]any{"opioid_active": taken, "reasons": reasons, "naloxone_days": Window, "last_naloxone": nil, "unclassified": unknown}}
	if last != nil {
		f.Basis["last_naloxone"] = date(*last)
	}
	switch {
	case last != nil || !mayBeTaken || !mayBeAtRisk:
		f.Active = new(false)
	case taken && len(reasons) > 0 && len(unknown) == 0:
		f.Active = new(true)
	}
	return f
}

// overdoseRisks lists the risk factors for overdose.
func (e *evidence) overdoseRisks() []string {
	reasons := []string{}
	for _, risk := range []struct {
		name string
		here bool
	}{
		{"mme_ge_50", drug.AtLeast(e.prescribed().mme, 50)},
		{"benzodiazepine", e.anyCurrent(benzodiazepine)},
		{"overdose_or_substance_use", e.overdoses > 0 || e.substanceUse()},
		{"sleep_disordered_breathing", len(e.conditions((*pain.Coded).Stands, "G47.3")) > 0},
		{"age_65_or_over", e.age() >= 65},
		{"renal_or_hepatic_failure", len(e.conditions((*pain.Coded).Stands, "N17", "N18", "N19", "K70.4", "K71.1", "K72")) > 0},
	} {
		if risk.here {
			reasons = append(reasons, risk.name)
		}
	}
	return reasons
}

// substanceUse reports a history of substance use, regardless of when, except
// for tobacco.
func (e *evidence) substanceUse() bool {
	return len(e.conditions((*pain.Coded).Own, "F10", "F11", "F12", "F13", "F14", "F15", "F16", "F18", "F19", "T40")) > 0 ||
		slices.ContainsFunc(e.history, func(h pain.HistoryEntry) bool {
			c := h.Coded()
			return h.Category == "substance_use" && !strings.HasPrefix(h.ICD10Code, "F17") && e.begun(&c)
		})
}

func (e *evidence) age() int {
	return e.Patient.DateOfBirth.Age(pain.DateOfDay(e.day))
}

// year returns the days in which naloxone must have been given.
func (e *evidence) year() drug.Span { return drug.Span{First: e.day - Window + 1, Last: e.day} }

// lastNaloxone returns the last day within a year on which naloxone was given
// or covered, or nil. Assumed days do not count, nor does naloxone in a
// combination with an opioid.
func (e *evidence) lastNaloxone() *drug.Day {
	year := e.year()
	var last *drug.Day
	for i := range e.medicines {
		m := &e.medicines[i]
		if m.Ingredient.String() != drug.Naloxone {
			continue
		}
		span := m.Span
		if m.Open || span.Last < span.First {
			span = drug.Span{First: m.Start, Last: m.Start}
		}
		if within, ok := span.Within(year); ok && (last == nil || *last < within.Last) {
			last = &within.Last
		}
	}
	return last
}

// selfHarm flags item 9 of the latest PHQ-9.
func (e *evidence) selfHarm() Flag {
	f := Flag{Flag: "phq9_item9", Basis: map[string]any{"recorded_at": nil}}
	phq9 := series.InstrumentOf("phq_9")
	for i := range e.Series.Assessments {
		a := &e.Series.Assessments[i]
		if a.Instrument != phq9 || a.At >= e.before || a.Safety == series.NotSaid {
			continue
		}
		f.Basis["recorded_at"] = moment(a.At)
		f.Active = new(a.Safety == series.True)
		switch {
		case !*f.Active:
			f.Since = nil
		case f.Since == nil:
			f.Since = new(date(dayOf(a.At)))
		}
	}
	return f
}

// guidelineScope flags conditions that the opioid guideline excludes: cancer,
// sickle cell disease and palliative care.
func (e *evidence) guidelineScope() Flag {
	codes := e.conditions((*pain.Coded).OutsideGuideline, "")
	return Flag{Flag: "out_of_guideline_scope", Active: new(len(codes) > 0), Basis: map[string]any{"icd10_codes": codes}}
}

// conditions lists the distinct codes of the history that have one of the
// prefixes.
func (e *evidence) conditions(counts func(*pain.Coded) bool, prefixes ...string) []string {
	codes := []string{}
	for i := range e.history {
		h := e.history[i].Coded()
		if h.ICD10Code != "" && counts(&h) && e.begun(&h) && !slices.Contains(codes, h.ICD10Code) &&
			slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(h.ICD10Code, prefix) }) {
			codes = append(codes, h.ICD10Code)
		}
	}
	slices.Sort(codes)
	return codes
}

// begun reports whether a condition may have begun by the day.
func (e *evidence) begun(c *pain.Coded) bool { return c.Begins() <= e.day }
