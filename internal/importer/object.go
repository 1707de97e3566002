package importer

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/strictjson"
)

// object returns the body of an NDJSON line: the body of the API, with
// external_id and identifier:SYSTEM and, for clinical records, patient_id.
func (m *mapping) object(text string) (e entry, err error) {
	// The whole line is validated like a request body.
	if _, err := strictjson.Parse([]byte(text)); err != nil {
		return e, err
	}
	b := []byte{'{'}
	hasType := false
	var list []pain.Identifier
	err = eachMember(text, func(name string, value jsontext.Value) (err error) {
		switch member := m.renamed(name); {
		case member == nothing:
		case member == externalID:
			e.external, err = reference(member, value)
		case member == patientID && m.kind == Clinical:
			e.patient, err = reference(member, value)
		case isIdentifier(member):
			one := pain.Identifier{System: strings.TrimSpace(member[len(identifier):])}
			if one.Value, err = reference(member, value); one.Value != "" {
				list = append(list, one)
			}
		default:
			hasType = hasType || member == "data_type"
			if len(b) > 1 {
				b = append(b, ',')
			}
			b = append(append(strictjson.AppendString(b, member), ':'), value...)
		}
		return err
	})
	if err != nil {
		return e, err
	}
	slices.SortFunc(list, pain.Identifier.Compare)
	if m.kind == Clinical {
		e.identifiers = list
	} else if len(list) > 0 {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(b, `"identifiers":`...), pain.NewIdentifiers(list...).JSON()...)
	}
	if m.kind == Clinical && !hasType && m.dataType != "" {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = strictjson.AppendString(append(b, `"data_type":`...), m.dataType)
	}
	e.body = append(b, '}')
	// The canonical form identifies a line regardless of formatting. Duplicate
	// names, which a rename can cause, are rejected by the rules.
	known := jsontext.Value(bytes.Clone(e.body))
	if err := known.Canonicalize(); err == nil {
		e.known = known
	} else {
		e.known = e.body
	}
	return e, nil
}

// renamed returns the field that a field of a line stands for.
func (m *mapping) renamed(name string) string {
	if isOurs(name) {
		return nothing
	}
	for _, r := range m.renames {
		if r.Column == name {
			return r.Member
		}
	}
	return name
}

func isIdentifier(member string) bool { _, ok := systemOf(member); return ok }

// reference reads the identifier of a patient, internal or external.
func reference(member string, value jsontext.Value) (string, error) {
	switch value.Kind() {
	case jsontext.KindNull:
		return "", nil
	case jsontext.KindNumber:
		return string(value), nil
	case jsontext.KindString:
		text, err := jsontext.AppendUnquote(nil, value)
		return string(bytes.TrimSpace(text)), err
	}
	return "", fault.Parameter(member, nil, member+" must be a string.")
}

// guess detects the kind of a file by the names of its columns or fields.
func guess(columns []string, renames []Rename) (Kind, bool) {
	for _, kind := range []Kind{Patients, Clinical} {
		for _, column := range columns {
			name := column
			if i, renamed := find(renames, column); renamed {
				name = renames[i].Member
			}
			switch member, _, _ := resolve(kind, name); member {
			case "date_of_birth":
				return kind, true
			case "data_type", "recorded_at", patientID, "value.score":
				return kind, true
			}
		}
	}
	return "", false
}

// eachMember calls fn for the fields of an object. value is only valid during
// the call.
func eachMember(text string, fn func(name string, value jsontext.Value) error) error {
	d := jsontext.NewDecoder(bytes.NewReader([]byte(text)))
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() == jsontext.KindString {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		name := token.String() // the next read invalidates the token
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		if err := fn(name, value); err != nil {
			return err
		}
	}
	return nil
}
