package fhir

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/strictjson"
)

// elements are the top-level elements of a resource in order.
type elements struct {
	resourceType string
	fields       []elementText
}

// elementText is an element as JSON: as it is in the resource, or prepared for a
// comparison.
type elementText struct {
	name string
	json []byte
	tree strictjson.Value // of json; the zero value until it is parsed
}

// elementsOf parses a resource.
func elementsOf(resource []byte) (elements, bool) {
	root, err := strictjson.Parse(resource)
	if err != nil {
		return elements{}, false
	}
	return elementsIn(root), true
}

// elementsIn returns the fields of an object as elements.
func elementsIn(root *strictjson.Object) elements {
	e := elements{fields: make([]elementText, 0, root.Len())}
	for name, v := range root.Names() {
		e.fields = append(e.fields, elementText{elementName(name), v.Raw(), v})
	}
	e.resourceType = e.text("resourceType")
	return e
}

func (e *elements) get(name string) *elementText {
	for i := range e.fields {
		if e.fields[i].name == name {
			return &e.fields[i]
		}
	}
	return nil
}

// original returns the JSON of an element, or nil.
func (e *elements) original(name string) []byte {
	if f := e.get(name); f != nil {
		return f.json
	}
	return nil
}

// text returns the text of an element, or "" if it is not a string.
func (e *elements) text(name string) (text string) {
	if v, ok := e.get(name).value(); ok {
		text, _ = v.AsString()
	}
	return text
}

// value returns the value of an element. It is not ok for one that is absent.
func (f *elementText) value() (_ strictjson.Value, ok bool) {
	if f == nil {
		return strictjson.Value{}, false
	}
	if f.tree == (strictjson.Value{}) {
		f.tree, ok = valueOf(f.json)
		return f.tree, ok
	}
	return f.tree, true
}

// object returns the value of an element that is an object.
func (f *elementText) object() (*strictjson.Object, bool) {
	if v, ok := f.value(); ok {
		return v.AsObject()
	}
	return nil, false
}

// array returns the value of an element that is an array.
func (f *elementText) array() (strictjson.Array, bool) {
	if v, ok := f.value(); ok {
		return v.AsArray()
	}
	return strictjson.Array{}, false
}

// orNull returns the JSON of an element, or null.
func (f *elementText) orNull() []byte {
	if f == nil || f.json == nil {
		return []byte("null")
	}
	return f.json
}

// rewrite replaces texts within an element of a resource.
func (f *elementText) rewrite(replace func(field []byte, text strictjson.Value) (string, bool)) {
	var out []byte
	from := 0
	for field, text := range f.tree.Strings() {
		replacement, ok := replace(field, text)
		if !ok {
			continue
		}
		at := text.Offset() - f.tree.Offset()
		out = strictjson.AppendString(append(out, f.json[from:at]...), replacement)
		from = at + len(text.Raw())
	}
	if out != nil {
		f.json, f.tree = append(out, f.json[from:]...), strictjson.Value{}
	}
}

// present returns an element, or nil if it is absent or null.
func (f *elementText) present() *elementText {
	if f == nil || string(f.json) == "null" {
		return nil
	}
	return f
}

// sameElement reports whether two elements are equal, or both absent. Most are
// equal as text, or obviously not, and need not be parsed.
func sameElement(a, b *elementText) bool {
	if a == nil || b == nil {
		return a == b
	}
	switch {
	case bytes.Equal(a.json, b.json):
		return true
	case len(a.json) == 0 || len(b.json) == 0 || a.json[0] != b.json[0]:
		return false
	case a.json[0] == '"' && bytes.IndexByte(a.json, '\\') < 0 && bytes.IndexByte(b.json, '\\') < 0:
		return false
	}
	x, okX := a.value()
	y, okY := b.value()
	return okX && okY && strictjson.Same(x, y)
}

// fingerprint returns a hash, in JSON, of some elements.
func (e *elements) fingerprint(of func(name string) bool) []byte {
	list := make([]*elementText, 0, len(e.fields))
	for i := range e.fields {
		if of(e.fields[i].name) {
			list = append(list, &e.fields[i])
		}
	}
	slices.SortFunc(list, func(a, b *elementText) int { return strings.Compare(a.name, b.name) })
	text := make([]byte, 0, 1024)
	for _, f := range list {
		text = append(append(text, f.name...), ':')
		if v, ok := f.value(); ok {
			text = appendCanonical(text, v)
		} else {
			text = append(text, f.json...)
		}
	}
	hash := sha256.Sum256(text)
	return strictjson.AppendString(nil, hex.EncodeToString(hash[:16]))
}

// valueOf parses a JSON value.
func valueOf(json []byte) (strictjson.Value, bool) {
	if json == nil {
		return strictjson.Value{}, false
	}
	root, err := strictjson.Parse(append(append([]byte(`{"v":`), json...), '}'))
	if err != nil {
		return strictjson.Value{}, false
	}
	return root.Get("v")
}

// canonical returns a JSON value with sorted fields, without white space and
// with one way to write strings. Numbers keep their digits, because 1.0 and 1
// are different in FHIR.
func canonical(json []byte) []byte {
	v, ok := valueOf(json)
	if !ok {
		return json
	}
	return appendCanonical(nil, v)
}

func appendCanonical(b []byte, v strictjson.Value) []byte {
	switch v.Kind() {
	case strictjson.KindObject:
		o, _ := v.AsObject()
		return appendSorted(b, o)
	case strictjson.KindArray:
		array, _ := v.AsArray()
		b = append(b, '[')
		for i, element := range array.All() {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendCanonical(b, element)
		}
		return append(b, ']')
	case strictjson.KindString:
		if bytes.IndexByte(v.Raw(), '\\') >= 0 { // otherwise there is one way to write it
			s, _ := v.AsString()
			return strictjson.AppendString(b, s)
		}
	}
	return append(b, v.Raw()...)
}

// appendSorted appends an object in the order of the names.
func appendSorted(b []byte, o *strictjson.Object) []byte {
	type field struct {
		name  []byte
		value strictjson.Value
	}
	var room [16]field
	fields := room[:0]
	for name, value := range o.Names() {
		fields = append(fields, field{name, value})
	}
	slices.SortFunc(fields, func(x, y field) int { return bytes.Compare(x.name, y.name) })
	b = append(b, '{')
	for i, f := range fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendCanonical(append(strictjson.AppendString(b, f.name), ':'), f.value)
	}
	return append(b, '}')
}
