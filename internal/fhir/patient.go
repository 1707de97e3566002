package fhir

import (
	"net/url"
	"strconv"
	"strings"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/strictjson"
)

// Patient is a Patient with the elements that we map. Others are kept as
// received.
type Patient struct {
	domainResource
	Identifier []Identifier   `json:"identifier,omitempty"`
	Name       []HumanName    `json:"name,omitempty"`
	Telecom    []ContactPoint `json:"telecom,omitempty"`
	Gender     string         `json:"gender,omitempty"`
	BirthDate  string         `json:"birthDate,omitempty"`
}

// HumanName is a name of a person.
type HumanName struct {
	Use    string   `json:"use,omitempty"`
	Text   string   `json:"text,omitempty"`
	Family string   `json:"family,omitempty"`
	Given  []string `json:"given,omitempty"`
	Period *Period  `json:"period,omitempty"`
}

// ContactPoint is a telephone number, an e-mail address or the like.
type ContactPoint struct {
	System string `json:"system,omitempty"`
	Value  string `json:"value,omitempty"`
	Use    string `json:"use,omitempty"`
}

func (m Mapping) patient(p *pain.Patient) (Resource, error) {
	identifiers, err := p.Identifiers.List()
	if err != nil {
		return Resource{}, err
	}
	r := Patient{
		domainResource: domainResource{ResourceType: "Patient", ID: resourceID(p.ID), Meta: m.patientMeta(p, usCore+"us-core-patient")},
		BirthDate:      p.DateOfBirth.String(),
	}
	r.Identifier = append(make([]Identifier, 0, 1+len(identifiers)), Identifier{System: m.patientSystem(), Value: p.ID.String()})
	for _, one := range identifiers {
		r.Identifier = append(r.Identifier, Identifier{System: m.IdentifierURI(one.System), Value: one.Value})
	}
	r.Name = []HumanName{splitName(p.Name)}
	if r.Gender = foldGender(p.Gender); p.Gender != r.Gender && p.Gender != "" || p.Gender == "unknown" {
		r.Extension = append(r.Extension, textExtension(m.extensionURL("patient", "gender"), p.Gender))
	}
	for _, way := range [...]struct{ system, value string }{{"phone", p.Contact.Phone}, {"email", p.Contact.Email}} {
		switch {
		case way.value == "":
		case blank(way.value):
			r.Extension = append(r.Extension, textExtension(m.extensionURL("patient", way.system), way.value))
		default:
			r.Telecom = append(r.Telecom, ContactPoint{System: way.system, Value: way.value})
		}
	}
	return encode("Patient", r.ID, &r)
}

func (m *Mapping) patientSystem() string { return m.base() + "/patient" }

func (m *Mapping) patientMeta(p *pain.Patient, profile string) *Meta {
	updated := m.updated
	if updated.IsZero() {
		updated = p.CreatedAt
	}
	meta := &Meta{LastUpdated: instant(updated), Profile: []string{profile}}
	if p.Version > 0 {
		meta.VersionID = strconv.FormatInt(p.Version, 10)
	}
	return meta
}

// IdentifierURI returns the system of a patient's identifier as a URI: a URI
// stays as it is, and a short name such as mrn becomes one below our base.
func (m Mapping) IdentifierURI(system string) string {
	if strings.Contains(system, ":") && !strings.ContainsAny(system, " \u00a0") && !strings.HasPrefix(system, m.identifierPrefix()) {
		return system
	}
	return m.identifierPrefix() + url.PathEscape(system)
}

// IdentifierSystem is the inverse of [Mapping.IdentifierURI].
func (m Mapping) IdentifierSystem(uri string) string {
	if name, ok := strings.CutPrefix(uri, m.identifierPrefix()); ok {
		if system, err := url.PathUnescape(name); err == nil && m.IdentifierURI(system) == uri {
			return system
		}
	}
	return uri
}

func (m *Mapping) identifierPrefix() string { return m.base() + "/identifier/" }

// splitName splits a name into given names and the last word as family name,
// which is all that a single text tells.
func splitName(name string) HumanName {
	words := strings.Fields(name)
	n := HumanName{Text: name}
	if last := len(words) - 1; last >= 0 {
		n.Given, n.Family = words[:last], words[last]
	}
	return n
}

// foldGender returns the administrative gender of a gender as written.
func foldGender(written string) string {
	switch strings.ToLower(strings.TrimSpace(written)) {
	case "female", "f":
		return "female"
	case "male", "m":
		return "male"
	case "", "unknown":
		return "unknown"
	}
	return "other"
}

func readPatient(in *incoming) {
	var p Patient
	if !in.decode(&p) {
		return
	}
	var body object
	if i := currentName(p.Name); i < 0 {
		in.refuse(Required, "name", "A name is required.")
	} else {
		name, at := p.Name[i].text()
		body.set("name", strictjson.AppendString(nil, name))
		in.draft.from("name", in.at("name"+index(i)+at))
	}
	if p.BirthDate == "" {
		in.refuse(Required, "birthDate", "The date of birth is required.")
	}
	body.set("date_of_birth", strictjson.AppendString(nil, p.BirthDate))
	in.draft.from("date_of_birth", in.at("birthDate"))
	in.readGender(&p, &body)
	in.readContact(&p, &body)
	in.readPatientIdentifiers(p.Identifier, &body)
	in.draft.Patient = body.append(nil)
}

// currentName returns the index of the name that is in use: the official one,
// else the usual one, else the first that is not old; -1 without any.
func currentName(names []HumanName) int {
	best, rank := -1, 0
	for i, n := range names {
		r := 2
		switch n.Use {
		case "official":
			r = 4
		case "usual":
			r = 3
		case "old", "maiden":
			r = 1
		}
		if text, _ := n.text(); r > rank && text != "" {
			best, rank = i, r
		}
	}
	return best
}

// text returns the name as one text, and the element that it came from.
func (n *HumanName) text() (text, at string) {
	if !blank(n.Text) {
		return strings.TrimSpace(n.Text), ".text"
	}
	return strings.TrimSpace(strings.Join(n.Given, " ") + " " + n.Family), ""
}

func (in *incoming) readGender(p *Patient, body *object) {
	gender, at := p.Gender, "gender"
	if gender == "unknown" {
		gender = ""
	}
	for i := range p.Extension {
		if p.Extension[i].URL == in.m.extensionURL("patient", "gender") {
			if s, ok := p.Extension[i].text(); ok {
				gender, at = s, "extension"+index(i)
				if p.Gender != "" && p.Gender != foldGender(s) {
					in.refuse(BusinessRule, "gender", "The gender must agree with the extension for the gender as written; change both, or remove the extension.")
				}
			}
		}
	}
	if gender != "" {
		body.set("gender", strictjson.AppendString(nil, gender))
		in.draft.from("gender", in.at(at))
	}
}

// readContact takes the first telephone number and the first e-mail address
// that are not old.
func (in *incoming) readContact(p *Patient, body *object) {
	var contact object
	for _, system := range [...]string{"email", "phone"} {
		text, at := "", ""
		for i, way := range p.Telecom {
			if way.System == system && way.Use != "old" && way.Value != "" {
				text, at = way.Value, "telecom"+index(i)+".value"
				break
			}
		}
		for i := range p.Extension {
			if s, ok := p.Extension[i].text(); ok && text == "" && p.Extension[i].URL == in.m.extensionURL("patient", system) {
				text, at = s, "extension"+index(i)
			}
		}
		if text != "" {
			contact.set(system, strictjson.AppendString(nil, text))
			in.draft.from("contact."+system, in.at(at))
		}
	}
	if len(contact.fields) > 0 {
		body.set("contact", contact.append(nil))
	}
}

// readPatientIdentifiers takes the identifiers with a system and a value,
// except those of patients of this service, which are set by the server.
func (in *incoming) readPatientIdentifiers(list []Identifier, body *object) {
	in.readIdentifiers(list)
	b, n := []byte{'['}, 0
	for i, one := range list {
		if blank(one.System) || blank(one.Value) || one.System == in.m.patientSystem() {
			continue
		}
		if n > 0 {
			b = append(b, ',')
		}
		b = strictjson.AppendString(append(b, `{"system":`...), in.m.IdentifierSystem(one.System))
		b = strictjson.AppendString(append(b, `,"value":`...), one.Value)
		b = append(b, '}')
		in.draft.from("identifiers"+index(n), in.at("identifier"+index(i)))
		n++
	}
	if n > 0 {
		body.set("identifiers", append(b, ']'))
		in.draft.from("identifiers", in.at("identifier"))
	}
}
