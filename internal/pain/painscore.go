package pain

import (
	"slices"

	"anodyne.example/anodyne/internal/strictjson"
)

// PainScore is the intensity, location and quality of pain.
type PainScore struct {
	Scale        string
	Score        Number
	Aspect       string
	Recall       string
	BodySite     string
	Laterality   string
	Quality      []string
	Breakthrough Breakthrough
	Context      string
	Derived      PainScoreDerived
}

// Breakthrough describes transient flares over controlled background pain.
type Breakthrough struct {
	Episodes24h Number
	Peak        Number
	DurationMin Number
	Trigger     string
}

// PainScoreDerived holds the values derived from a pain score.
type PainScoreDerived struct {
	Normalized       Number // 0-10; null if the scale cannot be converted
	Severity         string
	Scheme           string
	NeuropathicCount Number
}

var (
	aspects      = []string{"current", "average", "worst", "least"}
	recalls      = []string{"now", "24h", "7d", "30d"}
	contexts     = []string{"rest", "movement", "post_procedure"}
	triggers     = []string{"spontaneous", "incident", "end_of_dose"}
	severities   = []string{string(NoPain), string(Mild), string(Moderate), string(Severe)}
	ordinaryPain = []string{"aching", "dull", "sharp", "throbbing", "cramping", "stiff"}
	neuropathic  = []string{"burning", "painful_cold", "electric_shock", "tingling", "pins_and_needles", "numbness", "itching", "shooting", "allodynia"}
)

var painScores = kind[PainScore]{
	members: []member[PainScore]{
		word("scale", func(v *PainScore) *string { return &v.Scale }, scaleNames()).means("defaults to nrs").present(),
		scoreMember().must(),
		word("aspect", func(v *PainScore) *string { return &v.Aspect }, aspects).means("defaults to current").present(),
		word("recall", func(v *PainScore) *string { return &v.Recall }, recalls).means("now if and only if the aspect is current"),
		word("body_site", func(v *PainScore) *string { return &v.BodySite }, siteNames()),
		word("laterality", func(v *PainScore) *string { return &v.Laterality }, lateralities),
		words("quality", func(v *PainScore) *[]string { return &v.Quality }, slices.Concat(ordinaryPain, neuropathic)),
		nested("breakthrough", func(v *PainScore) *Breakthrough { return &v.Breakthrough }, []member[Breakthrough]{
			number("episodes_24h", func(v *Breakthrough) *Number { return &v.Episodes24h }, wholes(0, 100)),
			number("peak", func(v *Breakthrough) *Number { return &v.Peak }, wholes(0, 10)),
			number("duration_min", func(v *Breakthrough) *Number { return &v.DurationMin }, above(0, 1440).in("minutes")),
			word("trigger", func(v *Breakthrough) *string { return &v.Trigger }, triggers),
		}),
		word("context", func(v *PainScore) *string { return &v.Context }, contexts),
		nested("derived", func(v *PainScore) *PainScoreDerived { return &v.Derived }, []member[PainScoreDerived]{
			result("normalized", func(v *PainScoreDerived) *Number { return &v.Normalized }).means("the score on a scale from 0 to 10; null for vrs4").present(),
			word("severity", func(v *PainScoreDerived) *string { return &v.Severity }, severities).present(),
			word("scheme", func(v *PainScoreDerived) *string { return &v.Scheme }, schemeNames()).means("the scheme that severity is based on").present(),
			result("neuropathic_descriptor_count", func(v *PainScoreDerived) *Number { return &v.NeuropathicCount }).means("for information; not a DN4 score"),
		}).derived().present(),
	},
	short:       shortPainScore,
	shortSchema: `{"type":"integer","minimum":0,"maximum":10,"description":"short form of a score on the nrs scale"}`,

	check:  checkPainScore,
	derive: derivePainScore,
	limits: painScoreLimits(),
}

// scoreMember accepts any number, because the range depends on the scale.
func scoreMember() member[PainScore] {
	m := number("score", func(v *PainScore) *Number { return &v.Score }, between(-1e300, 1e300))
	m.schema = wholes(0, 100).appendSchema
	return m
}

// shortPainScore reads a bare number as {"score": n}.
func shortPainScore(v *PainScore, value strictjson.Value) (bool, string) {
	score, ok := value.AsNumber()
	if !ok {
		return false, "must be an object, or a number from 0 to 10 on the scale nrs."
	}
	v.Scale, v.Aspect, v.Recall = "nrs", "current", "now"
	v.Score = Some(score + 0)
	if scale := scaleNamed(v.Scale); !scale.holds(score) {
		return true, scale.problem()
	}
	return true, ""
}

func checkPainScore(v *PainScore, r *reading) {
	if v.Scale == "" && !isThere(r, "scale") {
		v.Scale = "nrs"
	}
	if v.Aspect == "" && !isThere(r, "aspect") {
		v.Aspect = "current"
	}
	if score, ok := v.Score.Get(); ok && v.Scale != "" {
		if scale := scaleNamed(v.Scale); !scale.holds(score) {
			r.Fault("score", scale.problem())
		}
	}
	switch {
	case v.Aspect == "current" && v.Recall == "" && !isThere(r, "recall"):
		v.Recall = "now"
	case v.Aspect == "current" && v.Recall != "" && v.Recall != "now":
		r.Fault("recall", "must be now or omitted if the aspect is current.")
	case v.Aspect != "" && v.Aspect != "current" && v.Recall == "now":
		r.Fault("recall", "must not be now unless the aspect is current.")
	}
}

func derivePainScore(v *PainScore) {
	scale, score := scaleNamed(v.Scale), v.Score.value
	v.Derived.Normalized = none[float64]()
	if n, ok := scale.Normalize(score); ok {
		v.Derived.Normalized = Some(n)
	}
	severity, scheme := scale.severity(score)
	v.Derived.Severity, v.Derived.Scheme = string(severity), scheme
	if len(v.Quality) > 0 {
		count := 0
		for _, q := range v.Quality {
			if slices.Contains(neuropathic, q) {
				count++
			}
		}
		v.Derived.NeuropathicCount = Some(float64(count))
	}
}

func painScoreLimits() string {
	b := []byte(`"dependentSchemas":{"score":{"allOf":[`)
	for i := range scales {
		s := &scales[i]
		b = append(b, `{"if":{"properties":{"scale":{"const":"`+s.Name+`"}}`...)
		if s.Name != "nrs" {
			b = append(b, `,"required":["scale"]`...)
		}
		b = append(b, `},"then":{"properties":{"score":{"maximum":`...)
		b = appendNumber(b, s.Max)
		b = append(b, `,"multipleOf":`...)
		b = appendNumber(b, s.Step)
		b = append(b, `}}}},`...)
	}
	return string(append(b, `{"if":{"properties":{"aspect":{"const":"current"}}},`+
		`"then":{"properties":{"recall":{"const":"now"}}},"else":{"properties":{"recall":{"not":{"const":"now"}}}}}]}}`...))
}

func scaleNames() []string {
	var names []string
	for _, s := range scales {
		names = append(names, s.Name)
	}
	return names
}

func schemeNames() []string {
	var names []string
	for _, s := range schemes {
		names = append(names, s.Name)
	}
	return names
}
