package strictjson

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"anodyne.example/anodyne/internal/fault"
)

// maxUnknown bounds how many unknown members of one object are noted, so that
// a body of nothing else cannot make an answer many times its size.
const maxUnknown = 50

// Reader gives typed access to the members of one object. A member that is
// wrong is noted with its path and its value as received, and read as if it
// were absent. Done notes the members that were never asked for.
type Reader struct {
	object *Object
	fields *fault.Fields
	names  [16]string // asked for so far: what an unknown member may have meant
	more   []string   // beyond those
	count  int
}

// Read begins reading an object; faults go to fields.
func Read(o *Object, fields *fault.Fields) Reader {
	return Reader{object: o, fields: fields}
}

// Has reports whether a member is there, and whether it is null.
func (r *Reader) Has(name string) (present, null bool) {
	v, ok := r.member(name)
	return ok, ok && v.node().kind == jsontext.KindNull
}

// Value returns a member of any type; null counts as absent.
func (r *Reader) Value(name string) (Value, bool) {
	v, ok := r.member(name)
	if !ok || v.node().kind == jsontext.KindNull {
		return Value{}, false
	}
	return v, true
}

// String returns a text. Absent, null and "" are the same: not present.
func (r *Reader) String(name string) (s string, present bool) {
	v, ok := r.Value(name)
	if !ok {
		return "", false
	}
	if s, ok = v.AsString(); !ok {
		r.Fault(name, "must be a string.")
	}
	return s, s != ""
}

// Required returns a text that must be there and not be empty; else that is
// noted.
func (r *Reader) Required(name string) (s string, ok bool) {
	v, present := r.Value(name)
	if present {
		if s, ok = v.AsString(); !ok {
			r.Fault(name, "must be a string.")
			return "", false
		}
	}
	if s == "" {
		r.Fault(name, "is required.")
	}
	return s, s != ""
}

// Number returns a number.
func (r *Reader) Number(name string) (f float64, present bool) {
	v, ok := r.Value(name)
	if !ok {
		return 0, false
	}
	if f, ok = v.AsNumber(); !ok {
		r.Fault(name, "must be a number.")
	}
	return f, ok
}

// Bool returns true or false.
func (r *Reader) Bool(name string) (b, present bool) {
	v, ok := r.Value(name)
	if !ok {
		return false, false
	}
	kind := v.node().kind
	if kind != jsontext.KindTrue && kind != jsontext.KindFalse {
		r.Fault(name, "must be true or false.")
		return false, false
	}
	return kind == jsontext.KindTrue, true
}

// Object returns an object.
func (r *Reader) Object(name string) (o *Object, present bool) {
	v, ok := r.Value(name)
	if !ok {
		return nil, false
	}
	if o, ok = v.AsObject(); !ok {
		r.Fault(name, "must be an object.")
	}
	return o, ok
}

// Array returns an array.
func (r *Reader) Array(name string) (a Array, present bool) {
	v, ok := r.Value(name)
	if !ok {
		return Array{}, false
	}
	if v.node().kind != jsontext.KindBeginArray {
		r.Fault(name, "must be an array.")
		return Array{}, false
	}
	return Array{v}, true
}

// Fault notes what is wrong with a member, there or not. The problem
// continues a sentence that begins with the member's path.
func (r *Reader) Fault(name, problem string) {
	if at, ok := r.object.find(name); ok {
		Value{r.object.doc, at}.Fault(r.fields, problem)
		return
	}
	path := join(r.object.Path(), name)
	r.fields.Add(path, nil, path+" "+problem)
}

// Refuse notes a problem when a member is there at all. It is not proposed
// for a misspelt one.
func (r *Reader) Refuse(name, problem string) {
	if at, ok := r.object.find(name); ok {
		r.object.doc.nodes[at].asked = true
		Value{r.object.doc, at}.Fault(r.fields, problem)
	}
}

// Done notes every member that was not asked for, up to a bound, and what was
// probably meant. The message leaves the name out: it is the caller's text.
func (r *Reader) Done() {
	doc := r.object.doc
	var parent string
	unknown := 0
	end := r.object.node().next
	for at := r.object.at + 1; at < end; at = doc.nodes[at].next {
		if doc.nodes[at].asked {
			continue
		}
		if unknown++; unknown > maxUnknown {
			return
		}
		if unknown == 1 {
			parent = r.object.Path()
		}
		name := doc.name(at)
		message := "Unknown field."
		if meant := Suggest(name, r.known()); meant != "" {
			message += " Did you mean " + strconv.Quote(meant) + "?"
		}
		r.fields.Add(join(parent, shorten(name)), Value{doc, at}.Echo(), message)
	}
}

// member looks a member up and remembers that its name is known.
func (r *Reader) member(name string) (Value, bool) {
	switch {
	case r.count > 0 && r.names[r.count-1] == name: // Has, then the value
	case r.count < len(r.names):
		r.names[r.count] = name
		r.count++
	default:
		r.more = append(r.more, name)
	}
	at, ok := r.object.find(name)
	if !ok {
		return Value{}, false
	}
	r.object.doc.nodes[at].asked = true
	return Value{r.object.doc, at}, true
}

func (r *Reader) known() []string {
	return append(r.names[:r.count:r.count], r.more...)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
