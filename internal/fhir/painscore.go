package fhir

import "anodyne.example/anodyne/internal/pain"

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

// scaleConcepts has the concepts of scaleLOINC, which are shared.
var scaleConcepts = func() map[string]*CodeableConcept {
	concepts := map[string]*CodeableConcept{}
	for scale, code := range scaleLOINC {
		concepts[scale] = concept(loinc, code)
		concepts[scale].Text = codeTexts["pain_scores-scale"][scale]
	}
	return concepts
}()

func writePainScore(o *outgoing) error {
	obs := o.observation("", screeningProfile)
	obs.Category = category("survey")
	scale := o.text("scale")
	if code := scaleConcepts[scale]; code != nil {
		obs.Code = code
	} else {
		obs.Code = o.m.concept(o.m.fieldSystem("pain_scores", "scale"), scale)
	}
	unit := "{score}"
	if scale == "vas" {
		unit = "mm"
	}
	obs.ValueQuantity = quantity(o.number("score"), unit)
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
	for scale, known := range scaleLOINC {
		if o.Code.has(loinc, known) {
			return scale
		}
	}
	return o.Code.code(in.m.fieldSystem("pain_scores", "scale"))
}

func readPainScore(in *incoming, o *Observation) {
	scale := in.scaleOf(o)
	in.setText("scale", scale, "code")
	if scale != "vas" && o.ValueInteger != "" {
		in.setNumber("score", o.ValueInteger, "valueInteger")
	} else {
		units := scores
		if scale == "vas" {
			units = millimetres
		}
		in.setNumber("score", in.readQuantity(o.ValueQuantity, units, "valueQuantity"), "valueQuantity.value")
	}
	in.readBodySite(o.BodySite)
	in.readComponents(o.Component)
}
