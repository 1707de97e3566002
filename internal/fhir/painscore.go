package fhir

import (
	"encoding/json"
	"math/big"
	"strings"

	"anodyne.example/anodyne/internal/pain"
)

const screeningProfile = usCore + "us-core-observation-screening-assessment"

// scaleLOINC has the LOINC code of each scale that has one.
var scaleLOINC = func() map[string]string {
	codes := map[string]string{}
	for _, s := range pain.Scales() {
		if s.LOINC != "" {
			codes[s.Name] = s.LOINC
		}
	}
	return codes
}()

func writePainScore(o *outgoing) error {
	obs := o.observation("", screeningProfile)
	obs.Category = category("survey")
	scale := o.text("scale")
	if code := scaleLOINC[scale]; code != "" {
		obs.Code = concept(loinc, code)
	} else {
		obs.Code = concept(o.m.fieldSystem("pain_scores", "scale"), scale)
	}
	unit := "{score}"
	if scale == "vas" {
		unit = "mm"
	}
	obs.ValueQuantity = &Quantity{Value: o.number("score"), Unit: unit, System: ucum, Code: unit}
	obs.BodySite = o.bodySite()
	obs.Component = o.components("aspect", "recall", "context", "quality")
	if derived, ok := o.value.Object("derived"); ok {
		if v, ok := derived.Get("severity"); ok {
			if band, _ := v.AsString(); band != "" {
				obs.Interpretation = []CodeableConcept{*concept(o.m.fieldSystem("pain_scores", "severity"), band)}
			}
		}
	}
	obs.Extension = o.extensions()
	return o.add(obs.ResourceType, obs.ID, obs)
}

func isPainScore(in *incoming, o *Observation) bool {
	return in.scaleOf(o) != ""
}

// scaleOf returns the scale of a pain score, or "".
func (in *incoming) scaleOf(o *Observation) string {
	code := o.Code.code(loinc)
	for scale, known := range scaleLOINC {
		if code == known {
			return scale
		}
	}
	return o.Code.code(in.m.fieldSystem("pain_scores", "scale"))
}

func readPainScore(in *incoming, o *Observation) {
	scale := in.scaleOf(o)
	in.setText("scale", scale, "code")
	switch {
	case o.ValueInteger != "" && scale != "vas":
		in.setNumber("score", o.ValueInteger, "valueInteger")
	case o.ValueQuantity == nil || o.ValueQuantity.Value == "":
		in.refuse(Required, "valueQuantity", "A pain score needs a number as its value.")
	case o.ValueQuantity.Comparator != "":
		in.refuse(NotSupported, "valueQuantity.comparator", "A value with a comparator is not supported.")
	default:
		in.readScore(o.ValueQuantity, scale)
	}
	in.readBodySite(o.BodySite)
	in.readComponents(o.Component)
}

func (in *incoming) readScore(q *Quantity, scale string) {
	switch unit := q.unit(); {
	case scale == "vas" && unit == "mm", scale != "vas" && (unit == "" || unit == "{score}" || unit == "1"):
		in.setNumber("score", q.Value, "valueQuantity.value")
	case scale == "vas" && unit == "cm":
		in.setNumber("score", times(q.Value, 10, 1), "valueQuantity.value")
	case scale == "vas":
		in.refuse(CodeInvalid, "valueQuantity.code", "The unit of a visual analogue scale must be mm or cm.")
	default:
		in.refuse(CodeInvalid, "valueQuantity.code", "The unit of this pain scale must be {score}.")
	}
}

// unit returns the UCUM code of a quantity or, without one, the unit as
// written.
func (q *Quantity) unit() string {
	if q.Code != "" && (q.System == ucum || q.System == "") {
		return q.Code
	}
	return q.Unit
}

// times multiplies a number exactly by a fraction.
func times(n json.Number, numerator, denominator int64) json.Number {
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return n
	}
	return decimal(r.Mul(r, big.NewRat(numerator, denominator)))
}

// decimal returns a number with at most 12 digits after the point.
func decimal(r *big.Rat) json.Number {
	s := r.FloatString(12)
	s = strings.TrimRight(s, "0")
	return json.Number(strings.TrimSuffix(s, "."))
}
