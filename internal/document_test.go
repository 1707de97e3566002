package internal

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/api/openapi"
)

// apiDocument is the OpenAPI document.
type apiDocument map[string]any

func readDocument(t *testing.T) (d apiDocument) {
	t.Helper()
	if err := json.Unmarshal(openapi.JSON(), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// at returns a nested value, following references.
func (d apiDocument) at(value any, members ...string) any {
	for _, member := range members {
		value = d.resolved(value)[member]
	}
	return value
}

func (d apiDocument) resolved(value any) map[string]any {
	object, _ := value.(map[string]any)
	if reference, ok := object["$ref"].(string); ok && len(object) == 1 {
		return d.resolved(d.at(map[string]any(d), strings.Split(strings.TrimPrefix(reference, "#/"), "/")...))
	}
	return object
}

func (d apiDocument) schema(name string) shape {
	return d.shape(d.at(map[string]any(d), "components", "schemas", name))
}

func (d apiDocument) operation(operation string) (path, verb any) {
	method, route, _ := strings.Cut(operation, " ")
	path = d.at(map[string]any(d), "paths", route)
	return path, d.at(path, strings.ToLower(method))
}

// bodies are the schemas of a request and of its answer, as far as they are JSON.
func (d apiDocument) bodies(operation string) (request, answer any) {
	_, verb := d.operation(operation)
	for _, content := range d.resolved(d.at(verb, "requestBody", "content")) {
		request = d.at(content, "schema")
	}
	for status, response := range d.resolved(d.at(verb, "responses")) {
		if strings.HasPrefix(status, "2") && answer == nil {
			answer = d.at(response, "content", "application/json", "schema")
		}
	}
	return request, answer
}

// queryParameters are the names of an operation's parameters in the query.
func (d apiDocument) queryParameters(operation string) (names []string) {
	path, verb := d.operation(operation)
	for _, of := range []any{path, verb} {
		list, _ := d.at(of, "parameters").([]any)
		for _, parameter := range list {
			if p := d.resolved(parameter); p["in"] == "query" {
				names = append(names, p["name"].(string))
			}
		}
	}
	return names
}

// shape is what a schema allows, with its references and alternatives resolved.
type shape struct {
	types      map[string]bool // the names of JSON Schema
	format     string
	words      []string // texts that are listed, without the empty one
	properties map[string]any
	required   map[string]bool
	items      any
	objects    []shape // the alternatives that are objects
}

func (d apiDocument) shape(schema any) shape {
	s := shape{types: map[string]bool{}, properties: map[string]any{}, required: map[string]bool{}}
	d.add(&s, schema)
	if len(s.properties) > 0 {
		s.objects = append(s.objects, s)
	}
	return s
}

func (d apiDocument) add(s *shape, schema any) {
	object, _ := schema.(map[string]any)
	if reference, ok := object["$ref"].(string); ok {
		d.add(s, d.resolved(map[string]any{"$ref": reference}))
	}
	switch types := object["type"].(type) {
	case string:
		s.types[types] = true
	case []any:
		for _, name := range types {
			s.types[name.(string)] = true
		}
	}
	listed, _ := object["enum"].([]any)
	if constant, ok := object["const"]; ok {
		listed = append(listed, constant)
	}
	for _, value := range listed {
		switch value := value.(type) {
		case nil:
			s.types["null"] = true
		case bool:
			s.types["boolean"] = true
		case float64:
			s.types["integer"] = true
		case string:
			s.types["string"] = true
			if value != "" {
				s.words = append(s.words, value)
			}
		}
	}
	if format, ok := object["format"].(string); ok {
		s.format = format
	}
	if items, ok := object["items"]; ok {
		s.items = items
	}
	properties, _ := object["properties"].(map[string]any)
	maps.Copy(s.properties, properties)
	required, _ := object["required"].([]any)
	for _, name := range required {
		s.required[name.(string)] = true
	}
	parts, _ := object["allOf"].([]any)
	for _, part := range parts {
		d.add(s, part)
	}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		alternatives, _ := object[keyword].([]any)
		for _, alternative := range alternatives {
			a := d.shape(alternative)
			maps.Copy(s.types, a.types)
			s.words = append(s.words, a.words...)
			s.objects = append(s.objects, a.objects...)
			if a.format != "" {
				s.format = a.format
			}
			if a.items != nil {
				s.items = a.items
			}
		}
	}
}

// object is the alternative that has all these properties; without one, all
// alternatives together, with what each of them requires.
func (s shape) object(names []string) shape {
	together := shape{properties: map[string]any{}, required: map[string]bool{}}
	for i, alternative := range s.objects {
		if !slices.ContainsFunc(names, func(name string) bool { return alternative.properties[name] == nil }) {
			return alternative
		}
		maps.Copy(together.properties, alternative.properties)
		if i == 0 {
			maps.Copy(together.required, alternative.required)
		}
		maps.DeleteFunc(together.required, func(name string, _ bool) bool { return !alternative.required[name] })
	}
	return together
}

// only is the part of an object that has these properties.
func (s shape) only(names []string) shape {
	part := shape{properties: maps.Clone(s.properties), required: s.required}
	maps.DeleteFunc(part.properties, func(name string, _ any) bool { return !slices.Contains(names, name) })
	part.objects = []shape{part}
	return part
}
