package fhir

import (
	"slices"

	"anodyne.example/anodyne/internal/strictjson"
)

// prepare removes from the elements what the server sets within them, so that
// they can be compared and kept: versionId and lastUpdated of meta, our own
// identifiers, and our own extensions, whose values follow the record. The
// reference to the patient is replaced by the generated one.
func (e *elements) prepare(generated *elements) {
	system := generated.serverSystem()
	patient := generated.reference()
	e.fields = slices.Clone(e.fields)
	for i := range e.fields {
		switch f := &e.fields[i]; f.name {
		case "meta":
			f.json = without(f.json, "versionId", "lastUpdated")
		case "identifier":
			f.json = withoutSystem(f.json, system)
		case "extension":
			f.json = withoutOwn(f.json, ownExtensions(system))
		case "subject", "patient":
			f.json = withReference(f.json, patient)
		}
	}
	e.fields = slices.DeleteFunc(e.fields, func(f elementText) bool { return f.json == nil })
}

// complete is the inverse of prepare for a kept element: it adds what the
// server sets. The elements are those of the generated resource.
func (e *elements) complete(name string, kept []byte) []byte {
	if kept == nil || string(kept) == "null" {
		kept = nil
	}
	own := e.original(name)
	switch name {
	case "meta":
		return mergeServer(kept, own, "versionId", "lastUpdated")
	case "identifier":
		return mergeIdentifiers(kept, own, e.serverSystem())
	case "extension":
		return mergeExtensions(kept, own)
	case "subject", "patient":
		if kept == nil {
			return own
		}
		return withReference(kept, e.reference())
	}
	return kept
}

// serverSystem returns the system of our own identifier, which is the first of
// a generated resource.
func (e *elements) serverSystem() string {
	v, ok := valueOf(e.original("identifier"))
	if !ok {
		return ""
	}
	if array, isArray := v.AsArray(); isArray {
		for _, first := range array.All() {
			return systemOf(first)
		}
	}
	return systemOf(v)
}

func systemOf(v strictjson.Value) string {
	o, ok := v.AsObject()
	if !ok {
		return ""
	}
	system, ok := o.Get("system")
	if !ok {
		return ""
	}
	s, _ := system.AsString()
	return s
}

// reference returns the reference of a generated resource to its patient, in
// JSON, or nil.
func (e *elements) reference() []byte {
	for _, name := range [...]string{"subject", "patient"} {
		if v, ok := valueOf(e.original(name)); ok {
			if o, isObject := v.AsObject(); isObject {
				if r, has := o.Get("reference"); has {
					return r.Raw()
				}
			}
		}
	}
	return nil
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

// without returns an object without some fields, or nil if none is left.
func without(json []byte, names ...string) []byte {
	v, _ := valueOf(json)
	o, ok := asObject(v)
	if !ok {
		return json
	}
	var left object
	for name, value := range o.All() {
		if !slices.Contains(names, name) {
			left.set(name, value.Raw())
		}
	}
	if len(left.fields) == 0 {
		return nil
	}
	return left.append(nil)
}

func asObject(v strictjson.Value) (*strictjson.Object, bool) {
	if v == (strictjson.Value{}) {
		return nil, false
	}
	return v.AsObject()
}

// withoutSystem returns identifiers without those of a system, or nil if none
// is left.
func withoutSystem(json []byte, system string) []byte {
	v, ok := valueOf(json)
	if !ok || system == "" {
		return json
	}
	array, isArray := v.AsArray()
	if !isArray {
		if systemOf(v) == system {
			return nil
		}
		return json
	}
	b := []byte{'['}
	for _, one := range array.All() {
		if systemOf(one) == system {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, one.Raw()...)
	}
	if len(b) == 1 {
		return nil
	}
	return append(b, ']')
}

// mergeIdentifiers returns our own identifiers followed by the kept ones. An
// element that can have only one identifier has the kept one.
func mergeIdentifiers(kept, own []byte, system string) []byte {
	v, ok := valueOf(own)
	array, isArray := asArray(v, ok)
	if !isArray {
		if kept != nil {
			return kept
		}
		return own
	}
	b := []byte{'['}
	add := func(one strictjson.Value) {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, one.Raw()...)
	}
	for _, one := range array.All() {
		if systemOf(one) == system {
			add(one)
		}
	}
	if v, ok := valueOf(kept); ok {
		if others, isArray := v.AsArray(); isArray {
			for _, one := range others.All() {
				add(one)
			}
		}
	}
	return append(b, ']')
}

func asArray(v strictjson.Value, ok bool) (strictjson.Array, bool) {
	if !ok {
		return strictjson.Array{}, false
	}
	return v.AsArray()
}

// withReference returns a reference with another target.
func withReference(json, target []byte) []byte {
	v, _ := valueOf(json)
	o, ok := asObject(v)
	if !ok || target == nil {
		return json
	}
	var changed object
	changed.set("reference", target)
	for name, value := range o.All() {
		if name != "reference" {
			changed.set(name, value.Raw())
		}
	}
	return changed.append(nil)
}

// mergeServer returns the kept fields with those of the server.
func mergeServer(kept, own []byte, names ...string) []byte {
	var merged object
	for _, from := range [...]struct {
		json   []byte
		server bool
	}{{own, true}, {kept, false}} {
		v, _ := valueOf(from.json)
		o, ok := asObject(v)
		if !ok {
			continue
		}
		for name, value := range o.All() {
			if slices.Contains(names, name) == from.server {
				merged.set(name, value.Raw())
			}
		}
	}
	if len(merged.fields) == 0 {
		return nil
	}
	return merged.append(nil)
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
	if o, ok := v.AsObject(); ok {
		var fields object
		for name, value := range o.All() {
			fields.set(name, appendCanonical(nil, value))
		}
		slices.SortFunc(fields.fields, func(x, y jsonField) int {
			if x.name < y.name {
				return -1
			}
			return 1
		})
		return fields.append(b)
	}
	if array, ok := v.AsArray(); ok {
		b = append(b, '[')
		for i, element := range array.All() {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendCanonical(b, element)
		}
		return append(b, ']')
	}
	if s, ok := v.AsString(); ok {
		return strictjson.AppendString(b, s)
	}
	return append(b, v.Raw()...)
}
