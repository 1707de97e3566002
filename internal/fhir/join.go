package fhir

import (
	"bytes"
	"encoding/json"
	"fmt"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/strictjson"
)

// Join joins drafts with the same key, which are parts of one record, into the
// draft of the record. Fields that two parts have must be equal; otherwise the
// issues say where they are not. One draft is returned as it is.
func Join(parts []*Draft) (*Draft, []Issue) {
	if len(parts) == 1 {
		return parts[0], nil
	}
	var issues []Issue
	whole := *parts[0]
	whole.paths = map[string]string{}
	whole.record, whole.value = object{}, object{}
	for _, d := range parts {
		if d.DataType != whole.DataType || d.Record == nil {
			issues = append(issues, Issue{"error", BusinessRule, d.Type, "The parts of one record must be of one data type."})
			continue
		}
		issues = append(issues, whole.record.join(&d.record, d, "")...)
		issues = append(issues, whole.value.join(&d.value, d, "value.")...)
		for path, expression := range d.paths {
			if _, has := whole.paths[path]; !has {
				whole.paths[path] = expression
			}
		}
		if d != parts[0] {
			whole.Identifiers = appendNew(whole.Identifiers, d.Identifiers)
		}
	}
	whole.Part, whole.partial = "", false
	whole.Record = whole.body()
	return &whole, issues
}

func (o *object) join(other *object, d *Draft, prefix string) (issues []Issue) {
	for _, f := range other.fields {
		switch have := o.get(f.name); {
		case have == nil:
			o.set(f.name, f.json)
		case !bytes.Equal(have, f.json):
			issues = append(issues, Issue{"error", BusinessRule, d.Path(prefix + f.name), "Another part of the same record has a different value here."})
		}
	}
	return issues
}

func appendNew(list, more []pain.Identifier) []pain.Identifier {
	list = append([]pain.Identifier(nil), list...)
	for _, one := range more {
		known := false
		for _, have := range list {
			known = known || have == one
		}
		if !known {
			list = append(list, one)
		}
	}
	return list
}

// body returns the body of a record.
func (d *Draft) body() json.RawMessage {
	var body object
	body.set("data_type", strictjson.AppendString(nil, d.DataType.String()))
	body.fields = append(body.fields, d.record.fields...)
	body.set("value", d.value.append(nil))
	return body.append(nil)
}

// Correction returns the body of the correction in /v1 that gives a stored
// record the contents of the draft. Of a record with several resources, only
// the fields of this part change: a part that was entered in error is removed,
// and only the last one retracts the record. reason may be "". The error is that
// of a stored value which cannot be read.
func (d *Draft) Correction(stored *pain.Record, reason string) (json.RawMessage, error) {
	if stored.Type != d.DataType {
		return nil, fmt.Errorf("fhir: a draft of %s for a record of %s", d.DataType, stored.Type)
	}
	var body object
	if d.Status == pain.EnteredInError {
		rest, err := d.otherParts(stored, object{})
		if err != nil {
			return nil, err
		}
		if d.Part != "" && len(rest.fields) > 0 {
			body.set("value", rest.append(nil))
		} else {
			body.set("entered_in_error", []byte("true"))
		}
		if reason == "" {
			reason = "entered in error"
		}
		body.set("reason", strictjson.AppendString(nil, reason))
		return body.append(nil), nil
	}
	value := d.value
	if d.Part != "" || d.partial {
		var err error
		if value, err = d.otherParts(stored, d.value); err != nil {
			return nil, err
		}
	}
	if at := d.record.get("recorded_at"); at != nil {
		body.set("recorded_at", at)
	}
	body.set("value", value.append(nil))
	notes := d.record.get("notes")
	if notes == nil {
		notes = []byte("null")
	}
	body.set("notes", notes)
	if reason != "" {
		body.set("reason", strictjson.AppendString(nil, reason))
	}
	return body.append(nil), nil
}

// otherParts returns the value of a stored record with this part replaced.
func (d *Draft) otherParts(stored *pain.Record, part object) (object, error) {
	o, err := strictjson.Parse([]byte(stored.Value.JSON()))
	if err != nil {
		return object{}, fmt.Errorf("fhir: stored value: %w", err)
	}
	value := object{fields: append([]jsonField(nil), part.fields...)}
	own := partFields(d.DataType, d.Part)
	for name, v := range o.All() {
		declared := find(declaredFields(d.DataType), name)
		if declared == nil || declared.computed || own[name] || value.has(name) {
			continue
		}
		value.set(name, v.Raw())
	}
	return value, nil
}

// partFields returns the fields of a data type's value that are in one part.
func partFields(t pain.DataType, part string) map[string]bool { return parts[t][part] }

// parts has, for the data types whose records become several resources, the
// fields of each part.
var parts = map[pain.DataType]map[string]map[string]bool{
	pain.TypeAssessments: {"": {"score": true}}, // beside the answers
}
