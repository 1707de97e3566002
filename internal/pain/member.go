package pain

import (
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/strictjson"
)

// reading is an object being read. A stored object includes the computed
// fields, which a caller must not send. Stored objects are not validated
// again, because rules may have changed since.
type reading struct {
	strictjson.Reader
	fields *fault.Fields
	stored bool
	// aliases are those of the organisation that owns the record.
	aliases *Aliases
}

func read(o *strictjson.Object, fields *fault.Fields, stored bool) *reading {
	return &reading{Reader: strictjson.Read(o, fields), fields: fields, stored: stored}
}

// member declares one field of an object T: how it is read, written and
// described. Its name is not used anywhere else.
type member[T any] struct {
	name     string
	about    string // description in the schema; "" if the name is sufficient
	required bool
	computed bool // by the service: rejected from callers
	always   bool // present in every stored value, whether or not it was sent

	read   func(r *reading, v *T)
	print  func(b []byte, v *T) []byte // appends nothing if the field is not set
	schema func(b []byte) []byte       // appends the content of a schema object
	// answered is the schema in responses, if it differs.
	answered func(b []byte) []byte
	// cells are its columns in exported tables.
	cells []column[T]
}

func (m member[T]) must() member[T] {
	m.required = true
	return m
}

func (m member[T]) derived() member[T] {
	m.computed = true
	return m
}

// present marks a field that every stored value has.
func (m member[T]) present() member[T] {
	m.always = true
	return m
}

func (m member[T]) means(about string) member[T] {
	m.about = about
	return m
}

// readMembers reads the fields of an object in order. From a caller, required
// fields must be present and computed ones absent.
func readMembers[T any](members []member[T], r *reading, v *T) {
	for i := range members {
		m := &members[i]
		switch {
		case m.computed && !r.stored:
			r.Refuse(m.name, "is computed by the service; omit it.")
		case m.required && !isThere(r, m.name):
			r.Fault(m.name, "is required.")
		default:
			m.read(r, v)
		}
	}
}

// anyThere reports whether a caller sent any of the fields.
func anyThere[T any](members []member[T], r *reading) bool {
	for i := range members {
		if !members[i].computed && isThere(r, members[i].name) {
			return true
		}
	}
	return false
}

// isThere reports whether a field has a value. Null and "" count as absent.
func isThere(r *reading, name string) bool {
	v, ok := r.Value(name)
	if !ok {
		return false
	}
	text, isText := v.AsString()
	return !isText || text != ""
}

// appendMembers appends an object with all fields that are set.
func appendMembers[T any](b []byte, members []member[T], v *T) []byte {
	b = append(b, '{')
	for i := range members {
		start := len(b)
		if b[start-1] != '{' {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, members[i].name...)
		b = append(b, '"', ':')
		head := len(b)
		if b = members[i].print(b, v); len(b) == head {
			b = b[:start]
		}
	}
	return append(b, '}')
}

// appendObjectSchema appends the content of the schema of an object.
func appendObjectSchema[T any](b []byte, members []member[T], stored bool) []byte {
	b = append(b, `"type":"object","additionalProperties":false,"properties":{`...)
	for i := range members {
		m := &members[i]
		if m.computed && !stored {
			continue
		}
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = strictjson.AppendString(b, m.name)
		b = append(b, ':', '{')
		if stored && m.answered != nil {
			b = m.answered(b)
		} else {
			b = m.schema(b)
		}
		if m.about != "" {
			b = append(b, `,"description":`...)
			b = strictjson.AppendString(b, m.about)
		}
		b = append(b, '}')
	}
	b = append(b, '}')
	first := true
	for i := range members {
		if !members[i].required && !(stored && members[i].always) {
			continue
		}
		if first {
			b = append(b, `,"required":[`...)
		} else {
			b = append(b, ',')
		}
		first = false
		b = strictjson.AppendString(b, members[i].name)
	}
	if !first {
		b = append(b, ']')
	}
	return b
}
