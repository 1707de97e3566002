package pain

import (
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/strictjson"
)

// reading is an object in the course of being read. One that was stored has
// the members that the service computed; a caller's must not have them. What
// was stored once is read without judging it again: rules may change.
type reading struct {
	strictjson.Reader
	fields *fault.Fields
	stored bool
	// aliases are those of the organisation whose record is read.
	aliases *Aliases
}

func read(o *strictjson.Object, fields *fault.Fields, stored bool) *reading {
	return &reading{Reader: strictjson.Read(o, fields), fields: fields, stored: stored}
}

// member declares one member of an object T: how it is read, printed and
// described. There is no other place that knows its name.
type member[T any] struct {
	name     string
	about    string // what the schema says it is; "" when the name says it
	required bool
	computed bool // by the service: refused from callers

	read   func(r *reading, v *T)
	print  func(b []byte, v *T) []byte // appends nothing when it is not set
	schema func(b []byte) []byte       // appends the inside of a schema object
}

func (m member[T]) must() member[T] {
	m.required = true
	return m
}

func (m member[T]) derived() member[T] {
	m.computed = true
	return m
}

func (m member[T]) means(about string) member[T] {
	m.about = about
	return m
}

// readMembers reads an object's members in order. From a caller the required
// ones must be there and those that the service computes must not.
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

// anyThere reports whether a caller sent any of the members.
func anyThere[T any](members []member[T], r *reading) bool {
	for i := range members {
		if !members[i].computed && isThere(r, members[i].name) {
			return true
		}
	}
	return false
}

// isThere reports whether a member has a value. null and "" are none.
func isThere(r *reading, name string) bool {
	v, ok := r.Value(name)
	if !ok {
		return false
	}
	text, isText := v.AsString()
	return !isText || text != ""
}

// appendMembers appends the object of all members that are set.
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

// appendObjectSchema appends the inside of the schema of an object.
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
		b = m.schema(b)
		if m.computed {
			b = append(b, `,"readOnly":true`...)
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
		if !members[i].required {
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
