package fhir

import "anodyne.example/anodyne/internal/pain"

const interpretationSystem = "http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation"

// resultSNOMED has the SNOMED CT codes of the results of a drug screen.
var resultSNOMED = map[string]string{"positive": "10828004", "negative": "260385009"}

func writeLab(o *outgoing) error {
	obs := o.observation("", usCore+"us-core-observation-lab")
	obs.Category = category("laboratory")
	obs.Code = &CodeableConcept{Text: o.text("analyte")}
	if code := o.text("loinc"); code != "" {
		obs.Code.Coding = []Coding{{System: loinc, Code: code}}
	}
	switch value := o.number("value"); {
	case value != "":
		obs.ValueQuantity = quantity(value, o.text("unit"))
		obs.ReferenceRange = o.referenceRange(obs.ValueQuantity.Unit)
	default:
		if obs.ValueCodeableConcept = o.result(); obs.ValueCodeableConcept == nil {
			obs.DataAbsentReason = concept(dataAbsentReasonCode, "unknown")
		}
	}
	if method := o.text("method"); method != "" {
		obs.Method = o.m.concept(o.m.fieldSystem("labs", "method"), method)
	}
	obs.Extension = o.extensions()
	return o.add(obs.ResourceType, obs.ID, obs)
}

func (o *outgoing) result() *CodeableConcept {
	result := o.text("result")
	if result == "" {
		return nil
	}
	c := &CodeableConcept{}
	if code := resultSNOMED[result]; code != "" {
		c.Coding = append(c.Coding, Coding{System: snomed, Code: code})
	}
	c.Coding = append(c.Coding, Coding{System: o.m.fieldSystem("labs", "result"), Code: result})
	return c
}

func (o *outgoing) referenceRange(unit string) []ReferenceRange {
	low, high := o.number("ref_low"), o.number("ref_high")
	if low == "" && high == "" {
		return nil
	}
	var r ReferenceRange
	if low != "" {
		r.Low = quantity(low, unit)
	}
	if high != "" {
		r.High = quantity(high, unit)
	}
	return []ReferenceRange{r}
}

// isLab reports whether an Observation is a laboratory result. The code may be
// any.
func isLab(_ *incoming, o *Observation) bool {
	for i := range o.Category {
		if o.Category[i].has(observationCategory, "laboratory") {
			return true
		}
	}
	return false
}

func readLab(in *incoming, o *Observation) {
	in.setText("loinc", o.Code.code(loinc), "code")
	if name, at := o.Code.nameAt(); pain.LineProblem(name, 200) == "" && !blank(name) {
		if at == "code.text" || !in.draft.value.has("loinc") {
			in.setText("analyte", name, at)
		}
	}
	switch {
	case o.ValueQuantity != nil && o.ValueQuantity.Value != "":
		in.readLabValue(o)
	case o.ValueInteger != "":
		in.setNumber("value", o.ValueInteger, "valueInteger")
	case o.ValueCodeableConcept != nil:
		in.readResult(o.ValueCodeableConcept)
	}
	in.setText("method", o.Method.code(in.m.fieldSystem("labs", "method")), "method")
}

// readLabValue takes the number and its unit. A unit that is too long for the
// field is refused by package pain.
func (in *incoming) readLabValue(o *Observation) {
	q := o.ValueQuantity
	if q.Comparator != "" {
		in.refuse(NotSupported, "valueQuantity.comparator", "A value with a comparator is not supported.")
		return
	}
	in.setNumber("value", q.Value, "valueQuantity.value")
	in.setText("unit", q.unit(), "valueQuantity.unit")
	if len(o.ReferenceRange) != 1 {
		return // several, for other people or meanings, are kept as received
	}
	r := &o.ReferenceRange[0]
	if r.Type != nil && !r.Type.has("http://terminology.hl7.org/CodeSystem/referencerange-meaning", "normal") || len(r.AppliesTo) > 0 || r.Age != nil {
		return
	}
	for _, bound := range [...]struct {
		q           *Quantity
		field, name string
	}{{r.Low, "ref_low", "low"}, {r.High, "ref_high", "high"}} {
		if bound.q != nil && bound.q.Comparator == "" && bound.q.unit() == q.unit() {
			in.setNumber(bound.field, bound.q.Value, "referenceRange[0]."+bound.name+".value")
		}
	}
}

// readResult takes the result of a drug screen. Results with other codes are
// kept as received.
func (in *incoming) readResult(c *CodeableConcept) {
	result := c.code(in.m.fieldSystem("labs", "result"))
	for name, code := range resultSNOMED {
		if result == "" && c.has(snomed, code) {
			result = name
		}
	}
	switch {
	case result != "":
	case c.has(interpretationSystem, "POS"):
		result = "positive"
	case c.has(interpretationSystem, "NEG"):
		result = "negative"
	}
	in.setText("result", result, "valueCodeableConcept")
}
