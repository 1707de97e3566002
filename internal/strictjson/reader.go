package strictjson

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"anodyne.example/anodyne/internal/fault"
)

// maxUnknown limits how many unknown fields of one object are reported, so
// that a response cannot be many times larger than its request.
const maxUnknown = 50

// Reader provides typed access to the fields of one object. An invalid field
// is recorded with its path and value, and read as if it were absent. Done
// records the fields that were never read.
type Reader struct {
	object *Object
	fields *fault.Fields
	names  [16]string // names read so far, for suggestions
	more   []string   // names beyond those
	count  int
}

// Read returns a reader for an object. Errors are added to fields.
func Read(o *Object, fields *fault.Fields) Reader {
	return Reader{object: o, fields: fields}
}

// Has reports whether a field is present, and whether it is null.
func (r *Reader) Has(name string) (present, null bool) {
	v, ok := r.member(name)
	return ok, ok && v.node().kind == jsontext.KindNull
}

// Value returns a field of any type. Null counts as absent.
func (r *Reader) Value(name string) (Value, bool) {
	v, ok := r.member(name)
	if !ok || v.node().kind == jsontext.KindNull {
		return Value{}, false
	}
	return v, true
}

// String returns a text. Absent, null and "" all mean not present.
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

// Required returns a text that must be present and not empty; otherwise it
// records an error.
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

// Bool returns a boolean.
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

// Fault records an error of a field, present or not. problem continues a
// sentence that begins with the path of the field.
func (r *Reader) Fault(name, problem string) {
	if at, ok := r.object.find(name); ok {
		Value{r.object.doc, at}.Fault(r.fields, problem)
		return
	}
	path := join(r.object.Path(), name)
	r.fields.Add(path, nil, path+" "+problem)
}

// Refuse records an error if a field is present. The field is not suggested
// for a misspelt one.
func (r *Reader) Refuse(name, problem string) {
	if at, ok := r.object.find(name); ok {
		r.object.doc.nodes[at].asked = true
		Value{r.object.doc, at}.Fault(r.fields, problem)
	}
}

// Done records every field that was not read, up to a limit, with a
// suggestion. The message omits the name, which is controlled by the caller.
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

// member looks up a field and records its name as known.
func (r *Reader) member(name string) (Value, bool) {
	switch {
	case r.count > 0 && r.names[r.count-1] == name: // Has was called before
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
