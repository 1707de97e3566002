package fhir

import (
	"encoding/base64"
	"encoding/json"
	"strconv"

	"anodyne.example/anodyne/internal/strictjson"
)

// Observations are most of what an export writes, so they are appended by hand,
// which takes half the time of package json. A test compares the two.

// appender is a resource that is written by hand.
type appender interface {
	appendResource(b []byte) []byte
}

// members appends the fields of an object. Fields without a value are left out.
type members struct {
	b     []byte
	first bool
}

func open(b []byte) members { return members{append(b, '{'), true} }

func (m *members) close() []byte { return append(m.b, '}') }

func (m *members) name(name string) {
	if !m.first {
		m.b = append(m.b, ',')
	}
	m.first = false
	m.b = append(m.b, '"')
	m.b = append(m.b, name...)
	m.b = append(m.b, '"', ':')
}

func (m *members) text(name, s string) {
	if s != "" {
		m.name(name)
		m.b = strictjson.AppendString(m.b, s)
	}
}

func (m *members) number(name string, n json.Number) {
	if n != "" {
		m.name(name)
		m.b = append(m.b, n...)
	}
}

func (m *members) texts(name string, list []string) {
	appendList(m, name, list, func(b []byte, s *string) []byte { return strictjson.AppendString(b, *s) })
}

// appendOne appends an object unless it is nil.
func appendOne[T any](m *members, name string, v *T, to func([]byte, *T) []byte) {
	if v != nil {
		m.name(name)
		m.b = to(m.b, v)
	}
}

// appendList appends an array unless it is empty.
func appendList[T any](m *members, name string, list []T, to func([]byte, *T) []byte) {
	if len(list) == 0 {
		return
	}
	m.name(name)
	m.b = append(m.b, '[')
	for i := range list {
		if i > 0 {
			m.b = append(m.b, ',')
		}
		m.b = to(m.b, &list[i])
	}
	m.b = append(m.b, ']')
}

func appendMeta(b []byte, v *Meta) []byte {
	m := open(b)
	m.text("versionId", v.VersionID)
	m.text("lastUpdated", v.LastUpdated)
	m.texts("profile", v.Profile)
	appendList(&m, "tag", v.Tag, appendCoding)
	return m.close()
}

func appendIdentifier(b []byte, v *Identifier) []byte {
	m := open(b)
	m.text("system", v.System)
	m.text("value", v.Value)
	return m.close()
}

func appendReference(b []byte, v *Reference) []byte {
	m := open(b)
	m.text("reference", v.Reference)
	m.text("type", v.Type)
	appendOne(&m, "identifier", v.Identifier, appendIdentifier)
	m.text("display", v.Display)
	return m.close()
}

func appendCoding(b []byte, v *Coding) []byte {
	m := open(b)
	m.text("system", v.System)
	m.text("code", v.Code)
	m.text("display", v.Display)
	return m.close()
}

func appendConcept(b []byte, v *CodeableConcept) []byte {
	m := open(b)
	appendList(&m, "extension", v.Extension, appendExtension)
	appendList(&m, "coding", v.Coding, appendCoding)
	m.text("text", v.Text)
	return m.close()
}

func appendQuantity(b []byte, v *Quantity) []byte {
	m := open(b)
	m.number("value", v.Value)
	m.text("comparator", v.Comparator)
	m.text("unit", v.Unit)
	m.text("system", v.System)
	m.text("code", v.Code)
	return m.close()
}

func appendPeriod(b []byte, v *Period) []byte {
	m := open(b)
	m.text("start", v.Start)
	m.text("end", v.End)
	return m.close()
}

func appendAnnotation(b []byte, v *Annotation) []byte {
	m := open(b)
	m.text("text", v.Text)
	return m.close()
}

func appendExtension(b []byte, v *Extension) []byte {
	m := open(b)
	m.name("url")
	m.b = strictjson.AppendString(m.b, v.URL)
	appendList(&m, "extension", v.Extension, appendExtension)
	m.text("valueString", v.ValueString)
	m.text("valueCode", v.ValueCode)
	m.text("valueDate", v.ValueDate)
	m.number("valueDecimal", v.ValueDecimal)
	m.number("valueInteger", v.ValueInteger)
	if v.ValueBoolean != nil {
		m.name("valueBoolean")
		m.b = strconv.AppendBool(m.b, *v.ValueBoolean)
	}
	if len(v.ValueBase64Binary) > 0 {
		m.text("valueBase64Binary", base64.StdEncoding.EncodeToString(v.ValueBase64Binary))
	}
	return m.close()
}

func appendRange(b []byte, v *ReferenceRange) []byte {
	m := open(b)
	appendOne(&m, "low", v.Low, appendQuantity)
	appendOne(&m, "high", v.High, appendQuantity)
	appendOne(&m, "type", v.Type, appendConcept)
	appendList(&m, "appliesTo", v.AppliesTo, appendConcept)
	m.number("age", json.Number(v.Age))
	return m.close()
}

func appendComponent(b []byte, v *ObservationComponent) []byte {
	m := open(b)
	appendOne(&m, "code", v.Code, appendConcept)
	appendOne(&m, "valueQuantity", v.ValueQuantity, appendQuantity)
	appendOne(&m, "valueCodeableConcept", v.ValueCodeableConcept, appendConcept)
	m.text("valueString", v.ValueString)
	m.number("valueInteger", v.ValueInteger)
	appendOne(&m, "dataAbsentReason", v.DataAbsentReason, appendConcept)
	return m.close()
}

func (o *Observation) appendResource(b []byte) []byte {
	m := open(b)
	m.text("resourceType", o.ResourceType)
	m.text("id", o.ID)
	appendOne(&m, "meta", o.Meta, appendMeta)
	appendList(&m, "extension", o.Extension, appendExtension)
	appendList(&m, "identifier", o.Identifier, appendIdentifier)
	m.text("status", o.Status)
	appendList(&m, "category", o.Category, appendConcept)
	appendOne(&m, "code", o.Code, appendConcept)
	appendOne(&m, "subject", o.Subject, appendReference)
	appendOne(&m, "encounter", o.Encounter, appendReference)
	m.text("effectiveDateTime", o.EffectiveDateTime)
	appendOne(&m, "effectivePeriod", o.EffectivePeriod, appendPeriod)
	m.text("effectiveInstant", o.EffectiveInstant)
	m.text("issued", o.Issued)
	appendList(&m, "performer", o.Performer, appendReference)
	appendOne(&m, "valueQuantity", o.ValueQuantity, appendQuantity)
	appendOne(&m, "valueCodeableConcept", o.ValueCodeableConcept, appendConcept)
	m.text("valueString", o.ValueString)
	m.number("valueInteger", o.ValueInteger)
	appendOne(&m, "dataAbsentReason", o.DataAbsentReason, appendConcept)
	appendList(&m, "interpretation", o.Interpretation, appendConcept)
	appendList(&m, "note", o.Note, appendAnnotation)
	appendOne(&m, "bodySite", o.BodySite, appendConcept)
	appendOne(&m, "method", o.Method, appendConcept)
	appendList(&m, "referenceRange", o.ReferenceRange, appendRange)
	appendList(&m, "derivedFrom", o.DerivedFrom, appendReference)
	appendList(&m, "component", o.Component, appendComponent)
	return m.close()
}
