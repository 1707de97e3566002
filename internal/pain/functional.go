package pain

import (
	"regexp"
	"slices"
)

// FunctionalStatus is one measure of a patient's function.
type FunctionalStatus struct {
	Measure string
	Value   NumberOrText
	Unit    string
}

// FunctionalMeasure is a measure with known limits. Other measures are
// accepted without checks.
type FunctionalMeasure struct {
	Name  string   `json:"name"`
	Max   float64  `json:"max,omitempty"` // the lowest value is 0
	Whole bool     `json:"whole,omitempty"`
	Unit  string   `json:"unit,omitempty"`
	Words []string `json:"words,omitempty"`
}

var functionalMeasures = []FunctionalMeasure{
	{Name: "tug_s", Max: 300, Unit: "s"},
	{Name: "six_min_walk_m", Max: 1000, Unit: "m"},
	{Name: "work_days_missed", Max: 31, Whole: true, Unit: "d"},
	{Name: LimitsLifeOrWork, Words: HowOften()},
	{Name: PainFrequency, Words: HowOften()},
}

// The measures that define high-impact chronic pain: how often pain limited
// life or work in the past three months, and how often there was any pain.
const (
	LimitsLifeOrWork = "limits_life_or_work"
	PainFrequency    = "pain_frequency"
)

// HowOften returns the answers to these measures, in ascending order.
func HowOften() []string { return []string{"never", "some_days", "most_days", "every_day"} }

// knownMeasures returns the names of the measures with known limits, and
// knownUnits their units.
func knownMeasures() (names []string) {
	for _, m := range functionalMeasures {
		names = append(names, m.Name)
	}
	return names
}

func knownUnits() (units []string) {
	for _, m := range functionalMeasures {
		if m.Unit != "" {
			units = append(units, m.Unit)
		}
	}
	return units
}

// FunctionalMeasures lists the measures with known limits.
func FunctionalMeasures() []FunctionalMeasure { return slices.Clone(functionalMeasures) }

// anyNumber limits numbers without known limits, so that sums cannot overflow.
var anyNumber = between(-1e12, 1e12)

var functionalStatuses = kind[FunctionalStatus]{
	members: []member[FunctionalStatus]{
		pattern("measure", func(v *FunctionalStatus) *string { return &v.Measure }, regexp.MustCompile(`^[a-z][a-z0-9_]{0,99}$`), "tug_s").must().with(KeptIfKnown, knownMeasures()...),
		numberOrText("value", func(v *FunctionalStatus) *NumberOrText { return &v.Value }, anyNumber, maxShort).must().with(KeptIfKnown, HowOften()...),
		line("unit", func(v *FunctionalStatus) *string { return &v.Unit }, maxLabel).with(KeptIfKnown, knownUnits()...),
	},
	check: checkFunctionalStatus,
	deidentify: func(v *FunctionalStatus) {
		// A measure that callers name may be an age.
		if !slices.Contains(knownMeasures(), v.Measure) {
			v.Value = NumberOrText{}
		}
	},
	limits: functionalLimits(),
}

func checkFunctionalStatus(v *FunctionalStatus, r *reading) {
	i := slices.IndexFunc(functionalMeasures, func(m FunctionalMeasure) bool { return m.Name == v.Measure })
	if i < 0 {
		return
	}
	m := &functionalMeasures[i]
	switch f, isNumber := v.Value.Number.Get(); {
	case len(m.Words) > 0 && (isNumber || v.Value.Text != ""):
		if !slices.Contains(m.Words, v.Value.Text) {
			r.Fault("value", WordProblem(v.Value.Text, m.Words))
		}
	case isNumber && !m.span().holds(f), v.Value.Text != "":
		r.Fault("value", m.span().problem())
	}
	switch {
	case v.Unit == "":
		if !isThere(r, "unit") {
			v.Unit = m.Unit
		}
	case m.Unit == "":
		r.Fault("unit", "must be omitted: "+m.Name+" has no unit.")
	case v.Unit != m.Unit:
		r.Fault("unit", "must be "+m.Unit+" for "+m.Name+", or omitted.")
	}
}

func (m *FunctionalMeasure) span() span {
	return span{max: m.Max, whole: m.Whole, unit: m.Unit}
}

func functionalLimits() string {
	b := []byte(`"dependentSchemas":{"measure":{"allOf":[`)
	for i := range functionalMeasures {
		m := &functionalMeasures[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"if":{"properties":{"measure":{"const":"`+m.Name+`"}}},"then":{"properties":{"value":{`...)
		if len(m.Words) > 0 {
			b = appendEnum(b, m.Words)
			b = append(b, `},"unit":false}}}`...)
		} else {
			b = m.span().appendSchema(b)
			b = append(b, `},"unit":{"const":"`+m.Unit+`"}}}}`...)
		}
	}
	return string(append(b, `]}}`...))
}
