package fhir

import (
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/pain"
)

const interpretationSystem = "http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation"

// resultSNOMED has the SNOMED CT codes of the results of a drug screen.
var resultSNOMED = map[string]string{"positive": "10828004", "negative": "260385009"}

// resultCodes are the SNOMED CT codes that are read as results: positive,
// detected, negative and not detected. Sources: the value set
// detected-not-detected-value-set of HL7's COVID-19 FHIR Profile Library, and
// the German MII module for microbiology.
var resultCodes = map[string]string{"10828004": "positive", "260373001": "positive", "260385009": "negative", "260415000": "negative"}

// resultWords are the words that are read as results.
var resultWords = map[string]string{"positive": "positive", "detected": "positive", "negative": "negative", "not detected": "negative"}

func writeLab(o *outgoing) error {
	obs := o.observation("", labProfile)
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

// labProfile is the profile of laboratory results.
const labProfile = usCore + "us-core-observation-lab"

// isDeclaredLab reports whether an Observation is a laboratory result according
// to both its category and its profile, as ours are. Such a result has any code,
// including that of a vital sign: 2708-6 is a saturation measured in blood, too.
func isDeclaredLab(in *incoming, o *Observation) bool {
	return o.Meta != nil && slices.Contains(o.Meta.Profile, labProfile) && isLab(in, o)
}

// isLab reports whether an Observation is a laboratory result according to its
// category.
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
		in.setText("result", in.resultOf(o.ValueCodeableConcept), "valueCodeableConcept")
	case o.ValueString != "":
		in.setText("result", resultIn(o.ValueString), "valueString")
	}
	in.setText("method", o.Method.code(in.m.fieldSystem("labs", "method")), "method")
	in.checkScreen(o)
}

// checkScreen refuses a drug screen, which is a result with a method or an
// expected result, if its value could not be read. Other results, such as the
// colour of urine, are kept as received.
func (in *incoming) checkScreen(o *Observation) {
	expected, _ := in.extensionOf(o.Extension, "labs", "expected")
	if expected == "" && !in.draft.value.has("method") || in.draft.value.has("value") || in.draft.value.has("result") || failed(in.issues) {
		return
	}
	for name := range in.root.All() {
		if stem("Observation", name) == "value" {
			in.refuse(CodeInvalid, name, "The result of a drug screen must be a number, or positive or negative as a SNOMED CT code.")
			return
		}
	}
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

// resultOf returns the result of a drug screen, or "" if it is none of ours. A
// SNOMED CT code decides over the words beside it.
func (in *incoming) resultOf(c *CodeableConcept) string {
	if result := c.code(in.m.fieldSystem("labs", "result")); result != "" {
		return result
	}
	switch code := c.code(snomed); {
	case code != "":
		return resultCodes[code]
	case c.has(interpretationSystem, "POS"):
		return "positive"
	case c.has(interpretationSystem, "NEG"):
		return "negative"
	}
	return resultIn(c.words())
}

// resultIn returns the result that a text is, or "".
func resultIn(text string) string {
	word := strings.TrimSuffix(strings.ToLower(strings.TrimSpace(text)), "(qualifier value)")
	return resultWords[strings.TrimSpace(word)]
}
