package fhir

import (
	"anodyne.example/anodyne/internal/pain"
)

// HasParts reports whether a record of a type can be several resources, some of
// which a correction can remove.
func HasParts(t pain.DataType) bool { return t == pain.TypeVitals || t == pain.TypeAssessments }

// sign is a vital sign, which is an Observation of its own.
type sign struct {
	part    string // of the id
	codes   []string
	profile string
	fields  []signField
}

// signField is a number of a sign. Blood pressure has two, as components.
type signField struct {
	name  string
	loinc string // of a component
	unit  string
	units unitTable
}

// signs are the vital signs with their LOINC codes and the profiles of US Core.
var signs = []sign{
	{"bp", []string{"85354-9"}, "us-core-blood-pressure", []signField{
		{"systolic", "8480-6", "mm[Hg]", pressure}, {"diastolic", "8462-4", "mm[Hg]", pressure},
	}},
	{"hr", []string{"8867-4"}, "us-core-heart-rate", []signField{{"heart_rate", "", "/min", perMinute}}},
	{"rr", []string{"9279-1"}, "us-core-respiratory-rate", []signField{{"respiratory_rate", "", "/min", perMinute}}},
	{"spo2", []string{"59408-5", "2708-6"}, "us-core-pulse-oximetry", []signField{{"spo2", "", "%", percent}}},
	{"temp", []string{"8310-5"}, "us-core-body-temperature", []signField{{"temperature_c", "", "Cel", celsius}}},
	{"weight", []string{"29463-7"}, "us-core-body-weight", []signField{{"weight_kg", "", "kg", kilograms}}},
	{"height", []string{"8302-2"}, "us-core-body-height", []signField{{"height_cm", "", "cm", centimetres}}},
}

func init() {
	byPart := map[string]map[string]bool{}
	for _, s := range signs {
		byPart[s.part] = map[string]bool{}
		for _, f := range s.fields {
			byPart[s.part][f.name] = true
		}
	}
	parts[pain.TypeVitals] = byPart
}

func writeVitals(o *outgoing) error {
	var list []*Observation
	for i := range signs {
		if obs := o.sign(&signs[i]); obs != nil {
			list = append(list, obs)
		}
	}
	if len(list) == 0 { // a value of fields that are declared but not in the table
		obs := o.observation("")
		obs.Category, obs.Code = category("vital-signs"), o.m.concept(o.m.system(dataTypeSystem), "vitals")
		list = append(list, obs)
	}
	common := o.extensions()
	for i, obs := range list {
		if obs.Extension = common; i > 0 {
			obs.Extension = common[:o.recordExtensions]
		}
		if err := o.add(obs.ResourceType, obs.ID, obs); err != nil {
			return err
		}
	}
	return nil
}

// sign returns the Observation of a sign, or nil if the value does not have
// it.
func (o *outgoing) sign(s *sign) *Observation {
	var quantities [2]*Quantity
	found := false
	for i, f := range s.fields {
		if n := o.number(f.name); n != "" {
			quantities[i], found = quantity(n, f.unit), true
		}
	}
	if !found {
		return nil
	}
	obs := o.observation(s.part, usCore+s.profile)
	obs.Category = category("vital-signs")
	obs.Code = &CodeableConcept{Text: codeTexts["vitals"][s.part]}
	for _, code := range s.codes {
		obs.Code.Coding = append(obs.Code.Coding, Coding{System: loinc, Code: code})
	}
	if len(s.fields) == 1 {
		obs.ValueQuantity = quantities[0]
		return obs
	}
	for i, f := range s.fields {
		c := ObservationComponent{Code: concept(loinc, f.loinc), ValueQuantity: quantities[i]}
		c.Code.Text = codeTexts["vitals"][f.name]
		if quantities[i] == nil {
			c.DataAbsentReason = concept(dataAbsentReasonCode, "unknown")
		}
		obs.Component = append(obs.Component, c)
	}
	return obs
}

// signOf returns the sign of an Observation, or nil. A blood pressure may also
// be one of its two numbers; field is its index then, and otherwise -1.
func signOf(o *Observation) (s *sign, field int) {
	for i := range signs {
		for _, code := range signs[i].codes {
			if o.Code.has(loinc, code) {
				return &signs[i], -1
			}
		}
		for j, f := range signs[i].fields {
			if f.loinc != "" && o.Code.has(loinc, f.loinc) {
				return &signs[i], j
			}
		}
	}
	return nil, -1
}

func isVitals(in *incoming, o *Observation) bool {
	s, _ := signOf(o)
	return s != nil || o.Code.has(in.m.system(dataTypeSystem), "vitals")
}

func readVitals(in *incoming, o *Observation) {
	s, field := signOf(o)
	if s == nil {
		return
	}
	in.draft.Part = s.part
	switch {
	case field >= 0:
		in.readSign(&s.fields[field], o.ValueQuantity, "valueQuantity")
	case len(s.fields) == 1:
		in.readSign(&s.fields[0], o.ValueQuantity, "valueQuantity")
	default:
		in.readBloodPressure(o, s)
	}
}

func (in *incoming) readSign(f *signField, q *Quantity, at string) {
	in.setNumber(f.name, in.readQuantity(q, f.units, at), at+".value")
}

// readBloodPressure takes the components that have a value, at least one.
func (in *incoming) readBloodPressure(o *Observation, s *sign) {
	found := false
	for i := range o.Component {
		c := &o.Component[i]
		for j := range s.fields {
			if c.Code.has(loinc, s.fields[j].loinc) && c.DataAbsentReason == nil {
				found = true
				in.readSign(&s.fields[j], c.ValueQuantity, "component"+index(i)+".valueQuantity")
			}
		}
	}
	if !found {
		in.refuse(Required, "component", "A blood pressure needs a component with the systolic or the diastolic pressure.")
	}
}
