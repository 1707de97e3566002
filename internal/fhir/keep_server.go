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
	for i := range e.fields {
		f := &e.fields[i]
		var json []byte
		switch f.name {
		case "meta":
			json = f.without("versionId", "lastUpdated")
		case "identifier":
			json = f.withoutSystem(system)
		case "extension":
			json = f.withoutOwn(ownExtensions(system))
		case "subject", "patient":
			json = f.withReference(patient)
		default:
			continue
		}
		f.json, f.tree = json, strictjson.Value{}
	}
	e.fields = slices.DeleteFunc(e.fields, func(f elementText) bool { return f.json == nil })
}

// complete is the inverse of prepare for a kept element: it adds what the
// server sets. The elements are those of the generated resource.
func (e *elements) complete(name string, kept *elementText) []byte {
	kept = kept.present()
	own := e.get(name)
	switch name {
	case "meta":
		return mergeServer(kept, own, "versionId", "lastUpdated")
	case "identifier":
		return mergeIdentifiers(kept, own, e.serverSystem())
	case "extension":
		return mergeExtensions(kept, own)
	case "subject", "patient":
		if kept == nil {
			kept = own
		} else {
			return kept.withReference(e.reference())
		}
	}
	if kept == nil {
		return nil
	}
	return kept.json
}

// serverSystem returns the system of our own identifier, which is the first of
// a generated resource.
func (e *elements) serverSystem() string {
	v, ok := e.get("identifier").value()
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
		if o, ok := e.get(name).object(); ok {
			if r, has := o.Get("reference"); has {
				return r.Raw()
			}
		}
	}
	return nil
}

// without returns an object without some fields, or nil if none is left.
func (f *elementText) without(names ...string) []byte {
	o, ok := f.object()
	if !ok {
		return f.json
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

// withoutSystem returns identifiers without those of a system, or nil if none
// is left.
func (f *elementText) withoutSystem(system string) []byte {
	v, ok := f.value()
	if !ok || system == "" {
		return f.json
	}
	array, isArray := v.AsArray()
	if !isArray {
		if systemOf(v) == system {
			return nil
		}
		return f.json
	}
	var left arrayText
	for _, one := range array.All() {
		if systemOf(one) != system {
			left.add(one)
		}
	}
	return left.close()
}

// mergeIdentifiers returns our own identifiers followed by the kept ones. An
// element that can have only one identifier has the kept one.
func mergeIdentifiers(kept, own *elementText, system string) []byte {
	array, isArray := own.array()
	if !isArray {
		if kept == nil {
			kept = own
		}
		if kept == nil {
			return nil
		}
		return kept.json
	}
	var merged arrayText
	for _, one := range array.All() {
		if systemOf(one) == system {
			merged.add(one)
		}
	}
	if others, ok := kept.array(); ok {
		for _, one := range others.All() {
			merged.add(one)
		}
	}
	return merged.close()
}

// arrayText is a JSON array being written.
type arrayText []byte

func (a *arrayText) add(v strictjson.Value) {
	separator := byte(',')
	if len(*a) == 0 {
		separator = '['
	}
	*a = append(append(*a, separator), v.Raw()...)
}

// close returns the array, or nil if it is empty.
func (a *arrayText) close() []byte {
	if len(*a) == 0 {
		return nil
	}
	return append(*a, ']')
}

// withReference returns a reference with another target.
func (f *elementText) withReference(target []byte) []byte {
	o, ok := f.object()
	if !ok || target == nil {
		return f.json
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
func mergeServer(kept, own *elementText, names ...string) []byte {
	var merged object
	for _, from := range [...]*elementText{own, kept} {
		o, ok := from.object()
		if !ok {
			continue
		}
		for name, value := range o.All() {
			if slices.Contains(names, name) == (from == own) {
				merged.set(name, value.Raw())
			}
		}
	}
	if len(merged.fields) == 0 {
		return nil
	}
	return merged.append(nil)
}
