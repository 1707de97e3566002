package importer

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"anodyne.example/anodyne/internal/pain"
)

// form is the JSON form of a cell.
type form uint8

const (
	asText   form = iota
	asNumber      // otherwise a text, which the rules reject
	asBool
	asScalar // a number, true or false, or else a text
	asList   // texts separated by "|"
	asObject // has fields of its own
)

// valueMembers has, for each data type, the fields of a value by dotted name,
// from the published schemas.
var valueMembers = sync.OnceValue(func() map[string]map[string]form {
	types := map[string]map[string]form{}
	for _, t := range pain.DataTypes() {
		members := map[string]form{}
		addMembers(members, "", pain.Schema(t.Type))
		types[t.Name] = members
	}
	return types
})

// valuePaths lists the fields of all types, sorted.
var valuePaths = sync.OnceValue(func() []string {
	var paths []string
	for _, members := range valueMembers() {
		for path, f := range members {
			if f != asObject {
				paths = append(paths, path)
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
})

type schema struct {
	Type       any                        `json:"type"`
	Properties map[string]json.RawMessage `json:"properties"`
	// AnyOf has the long form of a value besides the short one.
	AnyOf []json.RawMessage `json:"anyOf"`
}

func addMembers(members map[string]form, prefix string, text json.RawMessage) {
	var object schema
	if err := json.Unmarshal(text, &object); err != nil {
		panic(err) // the schemas are part of the program
	}
	for _, alternative := range object.AnyOf {
		addMembers(members, prefix, alternative)
	}
	for name, property := range object.Properties {
		var s schema
		if err := json.Unmarshal(property, &s); err != nil {
			panic(err)
		}
		path := prefix + name
		if members[path] = formOf(s); len(s.Properties) > 0 {
			addMembers(members, path+".", property)
		}
	}
}

func formOf(s schema) form {
	switch s.Type {
	case "number", "integer":
		return asNumber
	case "boolean":
		return asBool
	case "array":
		return asList
	case "object":
		return asObject
	case "string":
		return asText
	}
	return asScalar // one of several types
}

// formIn returns the form of a field of a value for a data type.
func formIn(dataType, path string) form {
	if strings.HasPrefix(path, "items.") {
		return asScalar
	}
	return valueMembers()[dataType][path]
}
