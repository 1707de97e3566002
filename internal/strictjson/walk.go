package strictjson

import (
	"iter"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind is the JSON type of a value.
type Kind byte

// The kinds.
const (
	KindNull   Kind = 'n'
	KindBool   Kind = 'b'
	KindString Kind = 's'
	KindNumber Kind = '0'
	KindObject Kind = '{'
	KindArray  Kind = '['
)

// Kind returns the JSON type of the value.
func (v Value) Kind() Kind {
	switch kind := v.node().kind; kind {
	case jsontext.KindNull:
		return KindNull
	case jsontext.KindTrue, jsontext.KindFalse:
		return KindBool
	case jsontext.KindString:
		return KindString
	case jsontext.KindNumber:
		return KindNumber
	case jsontext.KindBeginArray:
		return KindArray
	default:
		return KindObject
	}
}

// Raw returns the text of the value as sent. It is part of the body and must
// not be changed.
func (v Value) Raw() []byte { return v.raw() }

// AsArray returns the value as an array.
func (v Value) AsArray() (Array, bool) {
	if v.node().kind != jsontext.KindBeginArray {
		return Array{}, false
	}
	return Array{v}, true
}

// Get returns a field of the object, which may be null. Unlike a [Reader], it
// does not mark the field as read.
func (o *Object) Get(name string) (Value, bool) {
	at, ok := o.find(name)
	if !ok {
		return Value{}, false
	}
	return Value{o.doc, at}, true
}

// Len returns the number of fields.
func (o *Object) Len() int { return int(o.node().count) }

// All iterates over the fields in the order in which they were sent.
func (o *Object) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		end := o.node().next
		for at := o.at + 1; at < end; at = o.doc.nodes[at].next {
			if !yield(o.doc.name(at), Value{o.doc, at}) {
				return
			}
		}
	}
}

// Names iterates over the fields as All does, without a copy of the names, which
// must not be changed.
func (o *Object) Names() iter.Seq2[[]byte, Value] {
	return func(yield func([]byte, Value) bool) {
		end := o.node().next
		for at := o.at + 1; at < end; at = o.doc.nodes[at].next {
			if !yield(o.doc.nameText(at), Value{o.doc, at}) {
				return
			}
		}
	}
}

// Offset returns where in the body the value begins.
func (v Value) Offset() int { return int(v.node().start) }

// Strings iterates over all strings within a field, in the order in which they
// were sent, with the name of the field that each is in. Strings of an array
// have the name of the array's field.
func (v Value) Strings() iter.Seq2[[]byte, Value] {
	return func(yield func([]byte, Value) bool) {
		var name []byte
		if v.node().nameEnd > 0 {
			name = v.doc.nameText(v.at)
		}
		v.strings(name, yield)
	}
}

func (v Value) strings(name []byte, yield func([]byte, Value) bool) bool {
	n := v.node()
	if n.kind == jsontext.KindString {
		return yield(name, v)
	}
	for at := v.at + 1; at < n.next; at = v.doc.nodes[at].next {
		if n.kind == jsontext.KindBeginObject {
			name = v.doc.nameText(at)
		}
		if !(Value{v.doc, at}).strings(name, yield) {
			return false
		}
	}
	return true
}

// Unread iterates over the fields that the reader has not read yet, in the
// order in which they were sent.
func (r *Reader) Unread() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for name, v := range r.object.All() {
			if !v.node().asked && !yield(name, v) {
				return
			}
		}
	}
}
