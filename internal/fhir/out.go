package fhir

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/strictjson"
)

// The code systems of others.
const (
	loinc                = "http://loinc.org"
	snomed               = "http://snomed.info/sct"
	ucum                 = "http://unitsofmeasure.org"
	observationCategory  = "http://terminology.hl7.org/CodeSystem/observation-category"
	dataAbsentReasonCode = "http://terminology.hl7.org/CodeSystem/data-absent-reason"
	usCore               = "http://hl7.org/fhir/us/core/StructureDefinition/"
)

// outgoing is a record being mapped to resources. A mapping reads fields with
// text, number and the like; what it has not read becomes extensions, so that
// no field can be forgotten.
type outgoing struct {
	m    *Mapping
	rec  *pain.Record
	v    Version
	id   string // the id of a resource without a part
	root string // the identifier of the record
	// patient is the reference to the patient.
	patient string
	value   strictjson.Reader
	// fields are faults of the stored value.
	fields    fault.Fields
	resources []Resource
	// recordExtensions is how many of the extensions are not of the value.
	recordExtensions int
}

func (m Mapping) record(rec *pain.Record, v Version) ([]Resource, error) {
	if int(rec.Type) >= len(mappings) || mappings[rec.Type] == nil {
		return nil, fmt.Errorf("fhir: no mapping for data type %d", rec.Type)
	}
	value, err := strictjson.Parse([]byte(rec.Value.JSON()))
	if err != nil {
		return nil, fmt.Errorf("fhir: stored value of %s: %w", rec.Type, err)
	}
	if v.Root.IsZero() {
		v.Root = rec.ID
	}
	o := &outgoing{m: &m, rec: rec, v: v, root: v.Root.String(), resources: make([]Resource, 0, 1)}
	o.id = o.root[len(o.root)-ulidLength:]
	o.patient = patientReference(rec.PatientID)
	o.value = strictjson.Read(value, &o.fields)
	if err := mappings[rec.Type](o); err != nil {
		return nil, fmt.Errorf("fhir: record of %s: %w", rec.Type, err)
	}
	if err := o.fields.Err(); err != nil {
		return nil, fmt.Errorf("fhir: stored value of %s: %w", rec.Type, err)
	}
	return o.resources, nil
}

// resourceID returns the id of a resource: the identifier without its prefix,
// which has a character that FHIR does not allow.
func resourceID[K id.Kind](i id.ID[K]) string {
	text := i.String()
	return text[len(text)-ulidLength:]
}

// ulidLength is the length of an identifier without its prefix.
const ulidLength = 26

// patientReference returns the reference to a patient.
func patientReference(i id.Patient) string {
	const prefix = "Patient/"
	var room [64]byte
	b := i.Append(append(room[:0], prefix...))
	return string(append(b[:len(prefix)], b[len(b)-ulidLength:]...))
}

// text returns a text of the value, or "".
func (o *outgoing) text(name string) string {
	s, _ := o.value.String(name)
	return s
}

// number returns a number of the value as written, or "".
func (o *outgoing) number(name string) json.Number {
	v, ok := o.value.Value(name)
	if !ok || v.Kind() != strictjson.KindNumber {
		return ""
	}
	return json.Number(v.Raw())
}

// status returns the status of the resource. A superseded record is an old
// version and has the status that it had.
func (o *outgoing) status() string {
	switch {
	case o.rec.Status != pain.Superseded:
		return string(o.rec.Status)
	case !o.rec.Corrects.IsZero():
		return string(pain.Amended)
	}
	return string(pain.Final)
}

func (o *outgoing) meta(profiles ...string) *Meta {
	meta := &Meta{LastUpdated: instant(o.v.LastUpdated), Profile: profiles}
	if o.v.Number > 0 {
		meta.VersionID = strconv.Itoa(o.v.Number)
	}
	return meta
}

// identifier returns the identifier of the record, by which its parts are found
// in other organisations.
func (o *outgoing) identifier() []Identifier {
	return []Identifier{{System: o.m.recordSystem(), Value: o.root}}
}

func (m *Mapping) recordSystem() string { return m.words().record }

func (o *outgoing) subject() *Reference { return &Reference{Reference: o.patient} }

// encounter, performers and notes are nil if the record has none.
func (o *outgoing) encounter() *Reference {
	if o.rec.EncounterID == "" || blank(o.rec.EncounterID) {
		return nil
	}
	return &Reference{Identifier: &Identifier{System: o.m.base() + "/encounter", Value: o.rec.EncounterID}}
}

func (o *outgoing) performers() []Reference {
	if o.rec.Author == "" || blank(o.rec.Author) {
		return nil
	}
	return []Reference{{Display: o.rec.Author}}
}

func (o *outgoing) notes() []Annotation {
	if o.rec.Notes == "" || blank(o.rec.Notes) {
		return nil
	}
	return []Annotation{{Text: o.rec.Notes}}
}

// blank reports whether a text has white space only, which FHIR does not allow
// in a string. Such a text travels in an extension.
func blank(s string) bool { return strings.TrimSpace(s) == "" }

// extensions returns the fields that have no place in the resource: those of
// the record and those of the value that were not read.
func (o *outgoing) extensions() (list []Extension) {
	if o.rec.Source != "" {
		list = append(list, Extension{URL: o.m.extensionURL("record", "source"), ValueCode: o.rec.Source})
	}
	for _, field := range [...]struct{ name, text string }{{"notes", o.rec.Notes}, {"author", o.rec.Author}, {"encounter_id", o.rec.EncounterID}} {
		if field.text != "" && blank(field.text) {
			list = append(list, textExtension(o.m.extensionURL("record", field.name), field.text))
		}
	}
	o.recordExtensions = len(list)
	fields := declaredFields(o.rec.Type)
	for name, v := range o.value.Unread() {
		list = appendExtensions(list, o.m.extensionURL(o.rec.Type.String(), name), v, find(fields, name))
	}
	return list
}

// resource returns what all resources of records have. The extensions are not
// set yet.
func (o *outgoing) resource(resourceType string, profiles ...string) domainResource {
	return domainResource{ResourceType: resourceType, ID: o.id, Meta: o.meta(profiles...)}
}

// observation returns an Observation with what every record has. The
// extensions are not set yet.
func (o *outgoing) observation(part string, profiles ...string) *Observation {
	// One allocation for what all have.
	all := &struct {
		Observation
		subject    Reference
		identifier [1]Identifier
	}{subject: Reference{Reference: o.patient}, identifier: [1]Identifier{{System: o.m.recordSystem(), Value: o.root}}}
	all.Observation = Observation{
		domainResource: o.resource("Observation", profiles...), Identifier: all.identifier[:], Status: o.status(),
		Subject: &all.subject, Encounter: o.encounter(), EffectiveDateTime: pain.Moment(o.rec.RecordedAt),
		Performer: o.performers(), Note: o.notes(),
	}
	if part != "" {
		all.ID += "-" + part
	}
	return &all.Observation
}

// category returns a category of Observations, such as survey. It must not be
// changed.
func category(code string) []CodeableConcept { return categories[code] }

var categories = func() map[string][]CodeableConcept {
	all := map[string][]CodeableConcept{}
	for _, code := range [...]string{"survey", "vital-signs", "laboratory", "activity"} {
		all[code] = []CodeableConcept{*concept(observationCategory, code)}
	}
	return all
}()

// add encodes a resource.
func (o *outgoing) add(resourceType, id string, resource any) error {
	r, err := encode(resourceType, id, resource)
	if err == nil {
		o.resources = append(o.resources, r)
	}
	return err
}

// encoder is a buffer and the encoder that writes to it, and room for what is
// appended.
type encoder struct {
	buffer bytes.Buffer
	json   *json.Encoder
	room   []byte
}

var encoders = sync.Pool{New: func() any {
	e := new(encoder)
	e.json = json.NewEncoder(&e.buffer)
	e.json.SetEscapeHTML(false)
	return e
}}

func encode(resourceType, id string, resource any) (Resource, error) {
	e := encoders.Get().(*encoder)
	defer encoders.Put(e)
	if a, ok := resource.(appender); ok {
		e.room = a.appendResource(e.room[:0])
		return Resource{Type: resourceType, ID: id, JSON: bytes.Clone(e.room)}, nil
	}
	e.buffer.Reset()
	if err := e.json.Encode(resource); err != nil {
		return Resource{}, fmt.Errorf("encode %s: %w", resourceType, err)
	}
	return Resource{Type: resourceType, ID: id, JSON: bytes.Clone(bytes.TrimSuffix(e.buffer.Bytes(), []byte{'\n'}))}, nil
}

// instant formats a time of the server, or "" for none.
func instant(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("2006-01-02T15:04:05.000Z07:00")
}
