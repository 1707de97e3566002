package pain

import (
	"slices"
	"strconv"
	"strings"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/strictjson"
)

// Limits of identifiers. Lengths are in characters.
const (
	MaxIdentifiers    = 20
	maxIdentifierText = 200
)

// ExternalSystem is the system of the identifiers that an import calls
// external_id.
const ExternalSystem = "external_id"

// Identifier is the number of a patient in another system, such as a medical
// record number. System is a URI or a short name such as "mrn". A pair belongs
// to one patient of an organisation.
type Identifier struct {
	System string `json:"system"`
	Value  string `json:"value"`
}

// Compare orders identifiers by system and value.
func (i Identifier) Compare(other Identifier) int {
	if order := strings.Compare(i.System, other.System); order != 0 {
		return order
	}
	return strings.Compare(i.Value, other.Value)
}

// Identifiers are a patient's identifiers in JSON, as stored in the database
// and returned by the API. They are only decoded on demand. The zero value is
// none.
type Identifiers struct{ json string }

// NewIdentifiers returns identifiers that are valid and different from each
// other.
func NewIdentifiers(list ...Identifier) Identifiers {
	if len(list) == 0 {
		return Identifiers{}
	}
	b := []byte{'['}
	for i, one := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = strictjson.AppendString(append(b, `{"system":`...), one.System)
		b = strictjson.AppendString(append(b, `,"value":`...), one.Value)
		b = append(b, '}')
	}
	return Identifiers{string(append(b, ']'))}
}

// StoredIdentifiers returns identifiers from the text returned by JSON.
func StoredIdentifiers(text string) Identifiers { return Identifiers{text} }

// JSON returns the identifiers as a JSON array of objects, or "" if there are
// none.
func (ids Identifiers) JSON() string { return ids.json }

// List decodes the identifiers.
func (ids Identifiers) List() ([]Identifier, error) {
	return storedList[Identifier](ids.json, "identifiers")
}

// ParseIdentifier parses an identifier written as SYSTEM|VALUE. problem is
// what is wrong with it, or "". A system has no "|", so the first one ends it.
func ParseIdentifier(text string) (one Identifier, problem string) {
	system, value, ok := strings.Cut(text, "|")
	one = Identifier{strings.TrimSpace(system), strings.TrimSpace(value)}
	switch {
	case !ok:
		return one, "must have the form SYSTEM|VALUE."
	case one.System == "":
		return one, "must have a system before the |."
	case one.Value == "":
		return one, "must have a value after the |."
	}
	for _, part := range []struct{ name, text string }{{"system", one.System}, {"value", one.Value}} {
		if problem = printableProblem(part.text, maxIdentifierText); problem != "" {
			return one, "has a " + part.name + " that " + problem
		}
	}
	return one, ""
}

// ParseAnySystem parses an identifier whose system may be absent: |VALUE
// stands for the value in any system.
func ParseAnySystem(text string) (one Identifier, problem string) {
	value, anySystem := strings.CutPrefix(strings.TrimSpace(text), "|")
	if !anySystem {
		return ParseIdentifier(text)
	}
	one, problem = ParseIdentifier("any|" + value)
	one.System = ""
	return one, problem
}

// readIdentifiers reads all identifiers of a patient. Null is none.
func readIdentifiers(r *strictjson.Reader, fields *fault.Fields) Identifiers {
	array, ok := r.Array("identifiers")
	if !ok {
		return Identifiers{}
	}
	if array.Len() > MaxIdentifiers {
		r.Fault("identifiers", "must have at most "+strconv.Itoa(MaxIdentifiers)+" entries.")
		return Identifiers{}
	}
	list := make([]Identifier, 0, array.Len())
	for _, v := range array.All() {
		one, ok := readIdentifier(v, fields)
		if ok && slices.Contains(list, one) {
			v.Fault(fields, "repeats an identifier of this patient.")
		}
		list = append(list, one)
	}
	return NewIdentifiers(list...)
}

func readIdentifier(v strictjson.Value, fields *fault.Fields) (one Identifier, ok bool) {
	object, ok := v.AsObject()
	if !ok {
		v.Fault(fields, "must be an object with system and value.")
		return one, false
	}
	r := strictjson.Read(object, fields)
	read := func(name string, problem func(string) string) string {
		text, given := r.Required(name)
		if !given {
			ok = false
			return ""
		}
		text = strings.TrimSpace(text)
		if text == "" {
			r.Fault(name, "must not be blank.")
			ok = false
		} else if wrong := problem(text); wrong != "" {
			r.Fault(name, wrong)
			ok = false
		}
		return text
	}
	one.System = read("system", systemProblem)
	one.Value = read("value", func(s string) string { return printableProblem(s, maxIdentifierText) })
	r.Done()
	return one, ok
}

func systemProblem(s string) string {
	if strings.Contains(s, "|") {
		return "must not contain |, which separates a system from a value."
	}
	return printableProblem(s, maxIdentifierText)
}

// Identify adds an identifier at the end, unless the patient has it. The error
// is an INVALID_PARAMETER fault if there are too many.
func (p *Patient) Identify(one Identifier) error {
	list, err := p.Identifiers.List()
	if err != nil || slices.Contains(list, one) {
		return err
	}
	if len(list) == MaxIdentifiers {
		return fault.Parameter("identifiers", len(list), "identifiers must have at most "+strconv.Itoa(MaxIdentifiers)+" entries in total.")
	}
	p.Identifiers = NewIdentifiers(append(list, one)...)
	return nil
}

// Has reports whether p has all values of another patient, apart from what the
// service sets. It may have more identifiers.
func (p *Patient) Has(other *Patient) (bool, error) {
	own, err := p.Identifiers.List()
	if err != nil {
		return false, err
	}
	others, err := other.Identifiers.List()
	if err != nil {
		return false, err
	}
	if slices.ContainsFunc(others, func(one Identifier) bool { return !slices.Contains(own, one) }) {
		return false, nil
	}
	same := *p
	same.ID, same.CreatedAt, same.Version, same.Identifiers = other.ID, other.CreatedAt, other.Version, other.Identifiers
	return same == *other, nil
}
