package fhir

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/strictjson"
)

// Kept is what is kept beside a patient or a record: by resource, as
// [KeptKey] names it, what [Keep] returned. Its JSON is what the store has.
type Kept map[string]json.RawMessage

// ParseKept parses what the store has; "" is nothing.
func ParseKept(text string) (k Kept, err error) {
	if text == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &k); err != nil {
		return nil, fmt.Errorf("fhir: what is kept cannot be read: %w", err)
	}
	return k, nil
}

// Text returns what the store keeps; "" if there is nothing.
func (k Kept) Text() string {
	if len(k) == 0 {
		return ""
	}
	if text, ok := k.plainText(); ok {
		return text
	}
	b, err := json.Marshal(k)
	if err != nil {
		panic(err) // all values are JSON
	}
	return string(b)
}

// plainText returns what package json makes of k. It is not ok if package json
// would change the values, which it does to white space and to characters that
// HTML or JavaScript treat specially.
func (k Kept) plainText() (text string, ok bool) {
	size := len("{}")
	for key, value := range k {
		if !isPlain(value) {
			return "", false
		}
		size += len(key) + len(value) + len(`"":,`)
	}
	var b strings.Builder
	b.Grow(size)
	separator := byte('{')
	for _, key := range slices.Sorted(maps.Keys(k)) {
		quoted := strictjson.AppendString(nil, key)
		if !isPlain(quoted) {
			return "", false
		}
		b.WriteByte(separator)
		b.Write(quoted)
		b.WriteByte(':')
		b.Write(k[key])
		separator = ','
	}
	b.WriteByte('}')
	return b.String(), true
}

// isPlain reports whether package json writes valid JSON as it is.
func isPlain(text []byte) bool {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\\':
			i++ // only in strings
		case '"':
			quoted = !quoted
		case ' ', '\t', '\n', '\r':
			if !quoted {
				return false
			}
		case '<', '>', '&', 0xe2: // the latter begins U+2028 and U+2029
			return false
		}
	}
	return true
}

// With returns k with what is kept of one resource; nil removes it.
func (k Kept) With(key string, kept []byte) Kept {
	changed := Kept{}
	for name, value := range k {
		changed[name] = value
	}
	delete(changed, key)
	if kept != nil {
		changed[key] = kept
	}
	return changed
}

// KeptKey returns the key of a resource in [Kept]: its type and the part of the
// patient or record that it is, such as Observation/bp or Patient/.
func KeptKey(resourceType, id string) string {
	_, part, _ := strings.Cut(id, "-")
	return resourceType + "/" + part
}

// restore returns a resource with what is kept of it.
func (k Kept) restore(r Resource) Resource {
	if kept, ok := k[KeptKey(r.Type, r.ID)]; ok {
		r.JSON = Restore(r.JSON, kept)
	}
	return r
}

// StoredPatient maps a patient as [Mapping.Patient] does, with what the store
// keeps beside it. updated is the time of the latest change.
func (m Mapping) StoredPatient(p *pain.Patient, updated time.Time, kept string) (Resource, error) {
	k, err := ParseKept(kept)
	if err != nil {
		return Resource{}, err
	}
	r, err := m.At(updated).Patient(p)
	return k.restore(r), err
}

// StoredConditions maps the medical history as [Mapping.Conditions] does, with
// what the store keeps beside the patient. A Condition that was updated has the
// id that it had before.
func (m Mapping) StoredConditions(p *pain.Patient, updated time.Time, kept string) ([]Resource, error) {
	k, err := ParseKept(kept)
	if err != nil {
		return nil, err
	}
	list, err := m.At(updated).Conditions(p)
	for i := range list {
		list[i] = k.restore(list[i])
	}
	return k.Named(list), err
}

// conditionName is the key of the id of a Condition that was updated, by the
// part of the id that follows from its contents.
func conditionName(part string) string { return "Condition.id/" + part }

// conditionID is what is kept of the id.
type conditionID struct {
	Part string `json:"part"`
}

// NameCondition notes that the Condition whose contents give it one part of an
// id has another one.
func (k Kept) NameCondition(part, name string) {
	delete(k, conditionName(part))
	if part != name {
		b, err := json.Marshal(conditionID{name})
		if err != nil {
			panic(err) // a string always marshals
		}
		k[conditionName(part)] = b
	}
}

// Named returns Conditions with the ids that they had before they were updated.
// The list must have all of a patient, with the ids that follow from their
// contents.
func (k Kept) Named(list []Resource) []Resource {
	parts := make([]string, len(list))
	for i := range list {
		_, parts[i], _ = strings.Cut(list[i].ID, "-")
	}
	named := slices.Clone(list)
	for i, name := range k.conditionNames(parts) {
		if name != parts[i] {
			patient, _, _ := strings.Cut(list[i].ID, "-")
			named[i] = list[i].renamed(patient + "-" + name)
		}
	}
	return named
}

// conditionNames returns the parts of the ids that Conditions have, given those
// that follow from their contents. One that another Condition has by then gets a
// suffix.
func (k Kept) conditionNames(parts []string) []string {
	taken := map[string]bool{}
	names := make([]string, len(parts))
	for i, part := range parts {
		var name conditionID
		if raw, ok := k[conditionName(part)]; ok && json.Unmarshal(raw, &name) == nil && name.Part != "" && !taken[name.Part] {
			names[i] = name.Part
			taken[name.Part] = true
		}
	}
	for i, part := range parts {
		if names[i] == "" {
			for names[i] = part; taken[names[i]]; {
				names[i] += "-x"
			}
			taken[names[i]] = true
		}
	}
	return names
}

// renamed returns a Condition with another id.
func (r Resource) renamed(id string) Resource {
	return Resource{Type: r.Type, ID: id, JSON: bytes.ReplaceAll(r.JSON, []byte(`"`+r.ID+`"`), []byte(`"`+id+`"`))}
}

// StoredRecord maps a record as [Mapping.Record] does, with what the store
// keeps beside it. A medication that was received as a MedicationStatement is
// one again.
func (m Mapping) StoredRecord(rec *pain.Record, v Version, kept string) ([]Resource, error) {
	k, err := ParseKept(kept)
	if err != nil {
		return nil, err
	}
	if _, ok := k[KeptKey(medicationStatement, "")]; ok {
		m = m.As(medicationStatement)
	}
	list, err := m.Record(rec, v)
	for i := range list {
		list[i] = k.restore(list[i])
	}
	return list, err
}
