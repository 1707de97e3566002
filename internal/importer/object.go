package importer

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/strictjson"
)

// object makes the body of a line of NDJSON: the API's body, besides which
// external_id and, of a clinical record, patient_id say whose it is.
func (m *mapping) object(text string) (e entry, err error) {
	// The whole line is judged as the API judges a body.
	if _, err := strictjson.Parse([]byte(text)); err != nil {
		return e, err
	}
	b := []byte{'{'}
	hasType := false
	err = eachMember(text, func(name string, value jsontext.Value) (err error) {
		switch member := m.renamed(name); {
		case member == nothing:
		case member == externalID:
			e.external, err = reference(member, value)
		case member == patientID && m.kind == Clinical:
			e.patient, err = reference(member, value)
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
	if m.kind == Clinical && !hasType && m.dataType != "" {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = strictjson.AppendString(append(b, `"data_type":`...), m.dataType)
	}
	e.body = append(b, '}')
	// In canonical form a line is known again however it was written. Two
	// members of one name, which a rename can make, are the rules' to refuse.
	known := jsontext.Value(bytes.Clone(e.body))
	if err := known.Canonicalize(); err == nil {
		e.known = known
	} else {
		e.known = e.body
	}
	return e, nil
}

// renamed is the member that a line's member stands for.
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

// reference reads the identifier of a patient, here or elsewhere.
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

// guess says what a file holds, by the names of its columns or members.
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

// eachMember calls fn for the members of an object; value is good during the
// call only.
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
		name := token.String() // the next read ends the token
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
