package fhir

import (
	"encoding/json"
	"slices"
	"sync"

	"anodyne.example/anodyne/internal/pain"
)

// declared is a field of a value as package pain declares it.
type declared struct {
	name     string
	about    string
	form     form
	list     bool
	computed bool       // by the service: shown, but never read
	words    []string   // of a code
	fields   []declared // of an object
}

// form is the type of a field's values.
type form uint8

const (
	formText form = iota
	formCode
	formDate // a date, or part of one
	formDecimal
	formBoolean
	formObject
	formAny // a number or a text
)

// schema is what we read of a JSON schema.
type schema struct {
	Type       json.RawMessage `json:"type"`
	Format     string          `json:"format"`
	Pattern    string          `json:"pattern"`
	Enum       []string        `json:"enum"`
	Items      *schema         `json:"items"`
	OneOf      []schema        `json:"oneOf"`
	AnyOf      []schema        `json:"anyOf"`
	About      string          `json:"description"`
	Properties map[string]schema
}

const partialDatePattern = "^[0-9]{4}(-[0-9]{2}){0,2}$"

// declaredFields returns the fields of a data type, sorted by name.
func declaredFields(t pain.DataType) []declared { return allDeclared()[t] }

var allDeclared = sync.OnceValue(func() (all [pain.LastDataType + 1][]declared) {
	for t := range all {
		if t := pain.DataType(t); t.String() != "" {
			all[t] = fieldsOf(parseSchema(pain.StoredSchema(t)), parseSchema(pain.Schema(t)))
		}
	}
	return all
})

func parseSchema(text json.RawMessage) schema {
	var s schema
	if err := json.Unmarshal(text, &s); err != nil {
		panic("fhir: the schema of a data type: " + err.Error()) // a constant of package pain
	}
	if len(s.AnyOf) > 0 { // the short form, and the object
		s = s.AnyOf[len(s.AnyOf)-1]
	}
	return s
}

func fieldsOf(stored, sent schema) (list []declared) {
	for name, s := range stored.Properties {
		inSent, isSent := sent.Properties[name]
		d := declared{name: name, about: s.About, computed: !isSent}
		if s.Items != nil {
			d.list, s = true, *s.Items
		}
		d.form, d.words = formOf(&s), s.Enum
		if s.Properties != nil {
			d.fields = fieldsOf(s, inSent)
		}
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b declared) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
	return list
}

func formOf(s *schema) form {
	var name string
	var names []string
	if json.Unmarshal(s.Type, &name) != nil && json.Unmarshal(s.Type, &names) == nil && len(names) > 0 {
		name = names[0]
	}
	switch {
	case s.OneOf != nil:
		return formAny
	case s.Enum != nil:
		return formCode
	case s.Format == "date", s.Pattern == partialDatePattern:
		return formDate
	case name == "number", name == "integer":
		return formDecimal
	case name == "boolean":
		return formBoolean
	case name == "object":
		return formObject
	}
	return formText
}

// find returns the field with a name, or nil.
func find(fields []declared, name string) *declared {
	for i := range fields {
		if fields[i].name == name {
			return &fields[i]
		}
	}
	return nil
}
