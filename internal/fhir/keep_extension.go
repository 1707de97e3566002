package fhir

import (
	"strings"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/strictjson"
)

// ownExtensions returns what the URLs of our extensions begin with, given the
// system of our own identifier in the same resource; "" if it has none.
func ownExtensions(system string) string {
	at := strings.LastIndexByte(system, '/')
	if at < 0 {
		return ""
	}
	return system[:at] + "/StructureDefinition/"
}

// isOwn reports whether an extension is one that we write: its URL has the
// prefix and names a field.
func isOwn(v strictjson.Value, prefix string) bool {
	o, ok := v.AsObject()
	if !ok || prefix == "" {
		return false
	}
	url, ok := o.Get("url")
	if !ok {
		return false
	}
	text, _ := url.AsString()
	name, ok := strings.CutPrefix(text, prefix)
	if !ok {
		return false
	}
	owner, field, _ := strings.Cut(name, "-")
	switch owner {
	case "record":
		return field == "status" || isRecordField(field)
	case "patient":
		return field == "gender" || field == "email" || field == "phone"
	}
	for _, t := range pain.DataTypes() {
		if t.Name == owner {
			return find(declaredFields(t.Type), field) != nil
		}
	}
	return false
}

// withoutOwn returns extensions without our own, or nil if none is left.
func withoutOwn(json []byte, prefix string) []byte {
	v, ok := valueOf(json)
	array, isArray := asArray(v, ok)
	if !isArray {
		return json
	}
	b := []byte{'['}
	for _, one := range array.All() {
		if !isOwn(one, prefix) {
			b = appendElement(b, one)
		}
	}
	if len(b) == 1 {
		return nil
	}
	return append(b, ']')
}

// mergeExtensions returns our own extensions, which are all of a generated
// resource, followed by the kept ones.
func mergeExtensions(kept, own []byte) []byte {
	b := []byte{'['}
	for _, json := range [...][]byte{own, kept} {
		v, ok := valueOf(json)
		if array, isArray := asArray(v, ok); isArray {
			for _, one := range array.All() {
				b = appendElement(b, one)
			}
		}
	}
	if len(b) == 1 {
		return nil
	}
	return append(b, ']')
}

func appendElement(b []byte, v strictjson.Value) []byte {
	if len(b) > 1 {
		b = append(b, ',')
	}
	return append(b, v.Raw()...)
}
