package fhir

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

// domainResource is what all resources have that we map.
type domainResource struct {
	ResourceType string      `json:"resourceType"`
	ID           string      `json:"id,omitempty"`
	Meta         *Meta       `json:"meta,omitempty"`
	Extension    []Extension `json:"extension,omitempty"`
}

// Meta is the metadata of a resource.
type Meta struct {
	VersionID   string   `json:"versionId,omitempty"`
	LastUpdated string   `json:"lastUpdated,omitempty"`
	Profile     []string `json:"profile,omitempty"`
	Tag         []Coding `json:"tag,omitempty"`
}

// Identifier is a business identifier.
type Identifier struct {
	System string `json:"system,omitempty"`
	Value  string `json:"value,omitempty"`
}

// Reference refers to a resource: by a literal reference, or by an identifier.
type Reference struct {
	Reference  string      `json:"reference,omitempty"`
	Type       string      `json:"type,omitempty"`
	Identifier *Identifier `json:"identifier,omitempty"`
	Display    string      `json:"display,omitempty"`
}

// Coding is a code of a code system.
type Coding struct {
	System  string `json:"system,omitempty"`
	Code    string `json:"code,omitempty"`
	Display string `json:"display,omitempty"`
}

// CodeableConcept is a concept, by codes and text.
type CodeableConcept struct {
	Extension []Extension `json:"extension,omitempty"`
	Coding    []Coding    `json:"coding,omitempty"`
	Text      string      `json:"text,omitempty"`
}

// Quantity is a number with a unit. The number is text, so that its digits are
// those that were written.
type Quantity struct {
	Value      json.Number `json:"value,omitempty"`
	Comparator string      `json:"comparator,omitempty"`
	Unit       string      `json:"unit,omitempty"`
	System     string      `json:"system,omitempty"`
	Code       string      `json:"code,omitempty"`
}

// Period is a period, of which either end may be open.
type Period struct {
	Start string `json:"start,omitempty"`
	End   string `json:"end,omitempty"`
}

// Annotation is a note.
type Annotation struct {
	Text string `json:"text,omitempty"`
}

// Extension is an extension, with extensions or one value of those types that
// ours have.
type Extension struct {
	URL          string      `json:"url"`
	Extension    []Extension `json:"extension,omitempty"`
	ValueString  string      `json:"valueString,omitempty"`
	ValueCode    string      `json:"valueCode,omitempty"`
	ValueDate    string      `json:"valueDate,omitempty"`
	ValueDecimal json.Number `json:"valueDecimal,omitempty"`
	ValueInteger json.Number `json:"valueInteger,omitempty"`
	ValueBoolean *bool       `json:"valueBoolean,omitempty"`
	// ValueBase64Binary is a text of white space only, which FHIR does not
	// allow in a string.
	ValueBase64Binary binary `json:"valueBase64Binary,omitempty"`
}

// binary is data in base64, in which there may be white space.
type binary []byte

// UnmarshalJSON implements [json.Unmarshaler].
func (b *binary) UnmarshalJSON(text []byte) error {
	var s string
	err := json.Unmarshal(text, &s)
	if err == nil {
		*b, err = decodeBinary(s)
	}
	return err
}

func decodeBinary(s string) ([]byte, error) {
	return base64.StdEncoding.DecodeString(strings.Map(func(r rune) rune {
		if r == ' ' || r == '\n' || r == '\r' || r == '\t' {
			return -1
		}
		return r
	}, s))
}
