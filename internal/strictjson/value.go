package strictjson

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"anodyne.example/anodyne/internal/fault"
)

// maxEcho is the maximum number of bytes of a value, or of an unknown field's
// name, echoed to the caller.
const maxEcho = 200

// Value is any value in a body, with its position.
type Value struct {
	doc *document
	at  uint32
}

// Object is an object in a body; Read gives access to its fields.
type Object struct{ Value }

// Array is an array in a body.
type Array struct{ Value }

func (v Value) node() *node { return &v.doc.nodes[v.at] }

func (v Value) raw() []byte {
	n := v.node()
	return v.doc.body[n.start:n.end]
}

// AsString returns the text of a string.
func (v Value) AsString() (string, bool) {
	if v.node().kind != jsontext.KindString {
		return "", false
	}
	return unquote(v.raw()), true
}

// AsNumber returns a number. A number that does not fit a float64 is rejected.
func (v Value) AsNumber() (float64, bool) {
	if v.node().kind != jsontext.KindNumber {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(v.raw()), 64)
	if err != nil {
		return 0, false
	}
	return f, true
}

// AsObject returns the value as an object.
func (v Value) AsObject() (*Object, bool) {
	if v.node().kind != jsontext.KindBeginObject {
		return nil, false
	}
	return &Object{v}, true
}

// Fault records an error of the value. problem continues a sentence that
// begins with the path of the value.
func (v Value) Fault(fields *fault.Fields, problem string) {
	path := v.Path()
	fields.Add(path, v.Echo(), path+" "+problem)
}

// Path returns the dotted path of the value, such as medical_history[3].notes.
// It is computed on demand, because most bodies are valid.
func (v Value) Path() string {
	var path []byte
	nodes := v.doc.nodes
	at := uint32(0)
	for at != v.at {
		array := nodes[at].kind == jsontext.KindBeginArray
		child, index := at+1, 0
		for nodes[child].next <= v.at {
			child, index = nodes[child].next, index+1
		}
		switch {
		case array:
			path = append(path, '[')
			path = strconv.AppendInt(path, int64(index), 10)
			path = append(path, ']')
		case len(path) > 0:
			path = append(path, '.')
			fallthrough
		default:
			path = append(path, shorten(v.doc.name(child))...)
		}
		at = child
	}
	return string(path)
}

// Echo returns the value in a form that prints as it was sent. Long texts are
// truncated; long objects and arrays become the beginning of their text. It
// shares no memory with the body.
func (v Value) Echo() any {
	raw := v.raw()
	switch kind := v.node().kind; {
	case kind == jsontext.KindNull:
		return nil
	case kind == jsontext.KindTrue, kind == jsontext.KindFalse:
		return kind == jsontext.KindTrue
	case kind == jsontext.KindString:
		return shorten(unquote(raw))
	case len(raw) > maxEcho:
		return shorten(string(raw[:maxEcho+1]))
	}
	return json.RawMessage(bytes.Clone(raw))
}

// Len returns the number of elements.
func (a Array) Len() int { return int(a.node().count) }

// All iterates over the elements in order.
func (a Array) All() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		i, end := 0, a.node().next
		for at := a.at + 1; at < end; at = a.doc.nodes[at].next {
			if !yield(i, Value{a.doc, at}) {
				return
			}
			i++
		}
	}
}

// find returns the index of a field of the object.
func (o *Object) find(name string) (at uint32, ok bool) {
	doc := o.doc
	end := o.node().next
	for at = o.at + 1; at < end; at = doc.nodes[at].next {
		if string(doc.nameText(at)) == name {
			return at, true
		}
	}
	return 0, false
}

func (doc *document) name(at uint32) string {
	n := &doc.nodes[at]
	return unquote(doc.body[n.name:n.nameEnd])
}

// nameText returns the name of a field, which is part of the body if it can be.
func (doc *document) nameText(at uint32) []byte {
	n := &doc.nodes[at]
	if n.escapedName {
		return []byte(doc.name(at))
	}
	return doc.body[n.name+1 : n.nameEnd-1]
}

// unquote returns the text of a string that is known to be valid.
func unquote(quoted []byte) string {
	if inner := quoted[1 : len(quoted)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	text, _ := jsontext.AppendUnquote(make([]byte, 0, len(quoted)), quoted)
	return string(text)
}

// shorten truncates a text that is too long to echo, never within a character.
func shorten(s string) string {
	if len(s) <= maxEcho {
		return s
	}
	end := maxEcho
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
