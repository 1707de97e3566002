package fhir

import (
	"encoding/json"

	"anodyne.example/anodyne/internal/strictjson"
)

// measure is a number of a daily record, which is a component.
type measure struct {
	name  string
	loinc string // "" if there is only our own code
	unit  string
	units unitTable
}

// The numbers of sleep and activity.
var (
	sleepMeasures = []measure{
		{"hours", "93832-4", "h", hours},
		{"quality", "", "{score}", scores},
		{"awakenings", "", "", counts},
		{"pain_interference", "", "{score}", scores},
	}
	activityMeasures = []measure{
		{"steps", "41950-7", "/d", steps},
		{"active_minutes", "", "min", minutes},
	}
)

// writeDaily maps records whose numbers are the components of one Observation.
func writeDaily(measures []measure) func(o *outgoing) error {
	return func(o *outgoing) error {
		dataType := o.rec.Type.String()
		obs := o.observation("")
		obs.Category, obs.Code = category("activity"), o.m.concept(o.m.system(dataTypeSystem), dataType)
		for _, m := range measures {
			n := o.number(m.name)
			if n == "" {
				continue
			}
			c := ObservationComponent{Code: &CodeableConcept{Text: codeTexts[dataType][m.name]}, ValueQuantity: quantity(n, m.unit)}
			if m.loinc != "" {
				c.Code.Coding = append(c.Code.Coding, Coding{System: loinc, Code: m.loinc})
			}
			c.Code.Coding = append(c.Code.Coding, Coding{System: o.m.fieldSystem(dataType, ""), Code: m.name})
			obs.Component = append(obs.Component, c)
		}
		obs.Extension = o.extensions()
		return o.add(obs.ResourceType, obs.ID, obs)
	}
}

// isDaily recognises our own code and, for a single number, its LOINC code.
func isDaily(dataType string, measures []measure) func(in *incoming, o *Observation) bool {
	return func(in *incoming, o *Observation) bool {
		if o.Code.has(in.m.system(dataTypeSystem), dataType) {
			return true
		}
		for _, m := range measures {
			if m.loinc != "" && o.Code.has(loinc, m.loinc) {
				return true
			}
		}
		return false
	}
}

func readDaily(measures []measure) func(in *incoming, o *Observation) {
	return func(in *incoming, o *Observation) {
		own := in.m.fieldSystem(in.draft.DataType.String(), "")
		for i := range measures {
			m := &measures[i]
			if m.loinc != "" && o.Code.has(loinc, m.loinc) {
				in.setNumber(m.name, in.readQuantity(o.ValueQuantity, m.units, "valueQuantity"), "valueQuantity.value")
			}
			for j := range o.Component {
				c := &o.Component[j]
				if c.Code.has(own, m.name) || m.loinc != "" && c.Code.has(loinc, m.loinc) {
					at := "component" + index(j) + ".valueQuantity"
					in.setNumber(m.name, in.readQuantity(c.ValueQuantity, m.units, at), at+".value")
				}
			}
		}
	}
}

func writeMood(o *outgoing) error {
	obs := o.observation("")
	obs.Category, obs.Code = category("survey"), o.m.concept(o.m.system(dataTypeSystem), "mood")
	if score := o.number("score"); score != "" {
		obs.ValueQuantity = quantity(score, "{score}")
	}
	obs.Extension = o.extensions()
	return o.add(obs.ResourceType, obs.ID, obs)
}

func isMood(in *incoming, o *Observation) bool {
	return o.Code.has(in.m.system(dataTypeSystem), "mood")
}

func readMood(in *incoming, o *Observation) {
	if o.ValueQuantity != nil {
		in.setNumber("score", in.readQuantity(o.ValueQuantity, scores, "valueQuantity"), "valueQuantity.value")
	}
}

func writeFunctionalStatus(o *outgoing) error {
	obs := o.observation("")
	obs.Category = category("survey")
	obs.Code = concept(o.m.fieldSystem("functional_status", "measure"), o.text("measure"))
	obs.Code.Text = codeTexts["functional_status-measure"][obs.Code.Coding[0].Code]
	if v, ok := o.value.Value("value"); ok {
		if v.Kind() == strictjson.KindNumber {
			obs.ValueQuantity = quantity(json.Number(v.Raw()), o.text("unit"))
		} else {
			obs.ValueString, _ = v.AsString()
		}
	}
	obs.Extension = o.extensions()
	return o.add(obs.ResourceType, obs.ID, obs)
}

func isFunctionalStatus(in *incoming, o *Observation) bool {
	return o.Code.code(in.m.fieldSystem("functional_status", "measure")) != ""
}

func readFunctionalStatus(in *incoming, o *Observation) {
	in.setText("measure", o.Code.code(in.m.fieldSystem("functional_status", "measure")), "code")
	switch {
	case o.ValueQuantity != nil && o.ValueQuantity.Comparator != "":
		in.refuse(NotSupported, "valueQuantity.comparator", "A value with a comparator is not supported.")
	case o.ValueQuantity != nil && o.ValueQuantity.Value != "":
		in.setNumber("value", o.ValueQuantity.Value, "valueQuantity.value")
		in.setText("unit", o.ValueQuantity.unit(), "valueQuantity.unit")
	case o.ValueInteger != "":
		in.setNumber("value", o.ValueInteger, "valueInteger")
	case o.ValueString != "":
		in.setText("value", o.ValueString, "valueString")
	default:
		in.refuse(Required, "valueQuantity", "A measure of function needs a number or a text as its value.")
	}
}
