package fhir

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/strictjson"
)

// MaxBytes is the size of the largest resource that is read.
const MaxBytes = 4 << 20

// maxDepth is the maximum nesting depth of a resource. It is less than that of
// package strictjson, because what is kept of a resource is nested deeper.
const maxDepth = strictjson.MaxDepth - 4

// incoming is a resource being read.
type incoming struct {
	m      *Mapping
	body   []byte
	root   *strictjson.Object
	draft  *Draft
	issues []Issue
}

// object is a JSON object being written, in the order of its fields.
type object struct{ fields []jsonField }

type jsonField struct {
	name string
	json []byte
}

func (o *object) has(name string) bool { return o.get(name) != nil }

// get returns the value of a field, or nil.
func (o *object) get(name string) []byte {
	for i := range o.fields {
		if o.fields[i].name == name {
			return o.fields[i].json
		}
	}
	return nil
}

func (o *object) set(name string, value []byte) {
	o.fields = append(o.fields, jsonField{name, value})
}

func (o *object) append(b []byte) []byte {
	b = append(b, '{')
	for i, f := range o.fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(strictjson.AppendString(b, f.name), ':')
		b = append(b, f.json...)
	}
	return append(b, '}')
}

func (m Mapping) read(body []byte) (*Draft, []Issue) {
	if len(body) > MaxBytes {
		return nil, []Issue{{"error", TooLong, "", "The resource is larger than 4 MiB."}}
	}
	root, err := strictjson.Parse(body)
	if err != nil {
		return nil, []Issue{{"error", Structure, "", message(err)}}
	}
	if depth(body) > maxDepth {
		return nil, []Issue{{"error", TooLong, "", "The resource is nested too deeply."}}
	}
	resourceType, issue := typeOf(root)
	if issue != nil {
		return nil, []Issue{*issue}
	}
	read := readers[resourceType]
	if read == nil {
		return nil, []Issue{{"error", NotSupported, resourceType, "This service does not take resources of this type."}}
	}
	in := &incoming{m: &m, body: body, root: root, draft: &Draft{Type: resourceType, root: root}}
	if in.issues = validate(root, resourceType, &m); failed(in.issues) {
		return nil, in.issues
	}
	if v, ok := root.Get("id"); ok {
		in.draft.ID, _ = v.AsString()
	}
	read(in)
	if failed(in.issues) {
		return nil, in.issues
	}
	if in.draft.DataType != 0 {
		in.finishRecord()
	}
	return in.draft, in.issues
}

// depth returns the nesting depth of valid JSON.
func depth(json []byte) int {
	deepest, now, quoted := 0, 0, false
	for i := 0; i < len(json); i++ {
		switch c := json[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return deepest
}

func message(err error) string {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Message
	}
	return "The body must be one JSON object."
}

func typeOf(root *strictjson.Object) (string, *Issue) {
	v, ok := root.Get("resourceType")
	if !ok {
		return "", &Issue{"error", Required, "resourceType", "The element resourceType is required."}
	}
	name, ok := v.AsString()
	if !ok || name == "" {
		return "", &Issue{"error", Structure, "resourceType", "The element resourceType must be a string."}
	}
	if !isName(name) {
		return "", &Issue{"error", Structure, "resourceType", "The element resourceType must be the name of a resource type."}
	}
	return name, nil
}

// isName reports whether a text can be the name of a resource type, so that it
// may be in a message.
func isName(s string) bool {
	if len(s) > 64 {
		return false
	}
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return false
		}
	}
	return s != ""
}

func failed(issues []Issue) bool {
	for i := range issues {
		if issues[i].Severity == "error" || issues[i].Severity == "fatal" {
			return true
		}
	}
	return false
}

// refuse adds an error. at is the path within the resource, such as
// component[1].valueQuantity; "" is the resource itself.
func (in *incoming) refuse(code, at, text string) {
	in.issues = append(in.issues, Issue{"error", code, in.at(at), text})
}

func (in *incoming) at(path string) string {
	if path == "" {
		return in.draft.Type
	}
	return in.draft.Type + "." + path
}

// decode decodes the resource into a struct. A failure is a mistake of the
// validator, and refuses the resource.
func (in *incoming) decode(v any) bool {
	if err := json.Unmarshal(in.body, v); err != nil {
		in.refuse(Structure, "", "The resource cannot be read.")
		return false
	}
	return true
}

// setText sets a text field of the value; at is the element that it came from.
func (in *incoming) setText(name, s, at string) {
	if s != "" && !in.draft.value.has(name) {
		in.setJSON(name, strictjson.AppendString(nil, s), at)
	}
}

// setNumber sets a number of the value.
func (in *incoming) setNumber(name string, n json.Number, at string) {
	if n != "" && !in.draft.value.has(name) {
		in.setJSON(name, []byte(n), at)
	}
}

// setJSON sets a field of the value.
func (in *incoming) setJSON(name string, value []byte, at string) {
	in.draft.value.set(name, value)
	in.draft.from("value."+name, in.at(at))
}

// setRecord sets a text field of the record beside its value.
func (in *incoming) setRecord(name, s, at string) {
	if s != "" && !in.draft.record.has(name) {
		in.draft.record.set(name, strictjson.AppendString(nil, s))
		in.draft.from(name, in.at(at))
	}
}

// readExtensions takes the fields that travel in our extensions. Fields that
// the service computes are left out. A field that an element or another
// extension has must be the same there.
func (in *incoming) readExtensions(list []Extension) {
	fields := declaredFields(in.draft.DataType)
	ofType := in.m.extensionURL(in.draft.DataType.String(), "")
	ofRecord := in.m.extensionURL("record", "")
	for i := range list {
		if name, ok := strings.CutPrefix(list[i].URL, ofRecord); ok {
			if s, isText := list[i].text(); isText && isRecordField(name) {
				in.compare(in.draft.record.get(name), strictjson.AppendString(nil, s), i)
				in.setRecord(name, s, "extension"+index(i))
			}
			continue
		}
		name, ok := strings.CutPrefix(list[i].URL, ofType)
		if !ok {
			continue
		}
		d := find(fields, name)
		if d == nil || d.computed || d.list && in.draft.value.has(name) {
			continue
		}
		if json, ok := appendFieldJSON(nil, list, i, d, "value."+name, in.at("extension"), in.draft.note); ok {
			if in.compare(in.draft.value.get(name), json, i); !in.draft.value.has(name) {
				in.draft.value.set(name, json)
			}
		}
	}
}

// compare refuses the extension with an index if the field that it has is
// already known, and is different.
func (in *incoming) compare(known, json []byte, i int) {
	if known != nil && !sameJSON(known, json) {
		in.refuse(BusinessRule, "extension"+index(i), "The extension contradicts another element that has the same field.")
	}
}

// sameJSON reports whether two values are equal; numbers may be written
// differently.
func sameJSON(a, b []byte) bool {
	x, errX := strconv.ParseFloat(string(a), 64)
	y, errY := strconv.ParseFloat(string(b), 64)
	if errX == nil && errY == nil {
		return x == y
	}
	return sameElement(&elementText{json: a}, &elementText{json: b})
}

func isRecordField(name string) bool {
	switch name {
	case "source", "notes", "author", "encounter_id":
		return true
	}
	return false
}

// readCommon takes what all records have in the same elements.
func (in *incoming) readCommon(identifiers []Identifier, subject *Reference, subjectAt string, encounter *Reference, performers []Reference, performersAt string, notes []Annotation) {
	in.boundIdentifiers(identifiers)
	in.readIdentifiers(identifiers)
	in.readSubject(subject, subjectAt)
	if encounter != nil && encounter.Identifier != nil && encounter.Identifier.System == in.m.base()+"/encounter" {
		in.setRecord("encounter_id", encounter.Identifier.Value, "encounter.identifier.value")
	}
	if len(performers) == 1 && performers[0].Reference == "" && performers[0].Identifier == nil {
		in.setRecord("author", performers[0].Display, performersAt+"[0].display")
	}
	if len(notes) == 1 {
		in.setRecord("notes", notes[0].Text, "note[0].text")
	}
}

// The identifiers of a record are indexed, so that they have the limits of
// those of a patient.
const maxIdentifierText = 200

func (in *incoming) boundIdentifiers(list []Identifier) {
	if len(list) > pain.MaxIdentifiers {
		in.refuse(Value, "identifier", "There must be at most "+strconv.Itoa(pain.MaxIdentifiers)+" identifiers.")
		return
	}
	for i, one := range list {
		at := "identifier[" + strconv.Itoa(i) + "]"
		if utf8.RuneCountInString(one.System) > maxIdentifierText {
			in.refuse(Value, at+".system", "Must have at most 200 characters.")
		}
		if utf8.RuneCountInString(one.Value) > maxIdentifierText {
			in.refuse(Value, at+".value", "Must have at most 200 characters.")
		}
	}
}

// readIdentifiers notes the identifiers and, if one is that of a record of
// ours, in any organisation, the key of the record.
func (in *incoming) readIdentifiers(list []Identifier) {
	for _, one := range list {
		if one.System == "" || one.Value == "" {
			continue
		}
		in.draft.Identifiers = append(in.draft.Identifiers, pain.Identifier{System: one.System, Value: one.Value})
		if one.System == in.m.recordSystem() && in.draft.Key == "" {
			in.draft.Key = one.Value
		}
	}
}

// readSubject takes the reference to the patient, which is required.
func (in *incoming) readSubject(subject *Reference, at string) {
	switch {
	case subject == nil:
		in.refuse(Required, at, "A reference to the patient is required.")
	case subject.Reference == "" && subject.Identifier == nil:
		in.refuse(Required, at+".reference", "A reference to the patient, or the patient's identifier, is required.")
	case strings.HasPrefix(subject.Reference, "#"):
		in.refuse(NotSupported, at+".reference", "A contained patient is not supported; send the patient as a resource of its own.")
	default:
		in.draft.Subject = *subject
	}
}

// readMoment takes the time of the record.
func (in *incoming) readMoment(text, at string) {
	if len(text) < len("YYYY-MM-DD") {
		in.refuse(Value, at, "The time must have at least year, month and day.")
		return
	}
	in.setRecord("recorded_at", text, at)
}

func (in *incoming) finishRecord() {
	in.draft.Record = in.draft.body()
	if in.draft.Status == "" {
		in.draft.Status = pain.Final
	}
}
