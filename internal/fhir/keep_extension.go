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
func (f *elementText) withoutOwn(prefix string) []byte {
	array, ok := f.array()
	if !ok {
		return f.json
	}
	var left arrayText
	for _, one := range array.All() {
		if !isOwn(one, prefix) {
			left.add(one)
		}
	}
	return left.close()
}

// mergeExtensions returns our own extensions, which are all of a generated
// resource, followed by the kept ones.
func mergeExtensions(kept, own *elementText) []byte {
	var merged arrayText
	for _, from := range [...]*elementText{own, kept} {
		if array, ok := from.array(); ok {
			for _, one := range array.All() {
				merged.add(one)
			}
		}
	}
	return merged.close()
}
