package openapitest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/api/openapi"
)

// Example is an example request in the document.
type Example struct {
	// Name is the operationId and the names of the examples used.
	Name   string
	Method string
	// Path is the path template of the operation; Request fills it in.
	Path        string
	Query       url.Values
	Header      http.Header
	ContentType string
	Body        []byte
	// Security is the security scheme of the operation, or "".
	Security string
}

// Examples lists the example requests of the document: each operation with
// each example of its body and, one at a time, with each example of its query
// and header parameters. Required query parameters are in every request. An
// operation without a body is also listed without parameters, unless it
// requires one of several.
func Examples() []Example {
	d := compiled()
	paths := d.root["paths"].(object)
	var all []Example
	for _, route := range openapi.Routes() {
		operation := paths[route.Path].(object)[strings.ToLower(route.Method)].(object)
		requests := d.bodies(operation, Example{
			Name:     operation["operationId"].(string),
			Method:   route.Method,
			Path:     route.Path,
			Query:    d.required(operation),
			Security: security(operation),
		})
		if _, needs := operation["x-one-of"]; !needs {
			all = append(all, requests...)
		}
		all = append(all, d.parameters(operation, requests[0])...)
	}
	return all
}

func security(operation object) string {
	ways, _ := operation["security"].([]any)
	for _, way := range ways {
		for scheme := range way.(object) {
			return scheme
		}
	}
	return ""
}

// required returns the required query parameters of an operation, with the
// first example of each.
func (d *document) required(operation object) url.Values {
	query := url.Values{}
	list, _ := operation["parameters"].([]any)
	for _, item := range list {
		parameter := d.deref(item.(object))
		if needed, _ := parameter["required"].(bool); !needed || parameter["in"] != "query" {
			continue
		}
		examples := d.examples(parameter)
		for _, which := range slices.Sorted(maps.Keys(examples))[:1] {
			query.Set(parameter["name"].(string), fmt.Sprint(examples[which]))
		}
	}
	return query
}

// bodies returns bare with each example of its body, or bare itself if there
// is none.
func (d *document) bodies(operation object, bare Example) (all []Example) {
	body, ok := operation["requestBody"].(object)
	if !ok {
		return []Example{bare}
	}
	content := d.deref(body)["content"].(object)
	for _, mediaType := range slices.Sorted(maps.Keys(content)) {
		examples := d.examples(content[mediaType].(object))
		for _, name := range slices.Sorted(maps.Keys(examples)) {
			e := bare
			e.Name += "/" + name
			e.ContentType = mediaType
			e.Body = encode(mediaType, examples[name])
			all = append(all, e)
		}
	}
	return all
}

func encode(mediaType string, value any) []byte {
	if mediaType == formType {
		form := url.Values{}
		for name, field := range value.(object) {
			form.Set(name, fmt.Sprint(field))
		}
		return []byte(form.Encode())
	}
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // it was decoded from JSON
	}
	return text
}

// parameters returns the request with each example of each of its parameters.
func (d *document) parameters(operation object, e Example) (all []Example) {
	list, _ := operation["parameters"].([]any)
	for _, item := range list {
		parameter := d.deref(item.(object))
		name := parameter["name"].(string)
		examples := d.examples(parameter)
		for _, which := range slices.Sorted(maps.Keys(examples)) {
			one, value := e, fmt.Sprint(examples[which])
			one.Name += "/" + name + "=" + value
			switch parameter["in"] {
			case "query":
				one.Query = maps.Clone(e.Query)
				one.Query.Set(name, value)
			case "header":
				one.Header = http.Header{}
				one.Header.Set(name, value)
			}
			all = append(all, one)
		}
	}
	return all
}

// examples returns the examples of a parameter or media type by name.
func (d *document) examples(owner object) object {
	found := make(object)
	if value, ok := owner["example"]; ok {
		found[""] = value
	}
	named, _ := owner["examples"].(object)
	for name, example := range named {
		found[name] = d.deref(example.(object))["value"]
	}
	return found
}

// deref follows a reference, if o is one.
func (d *document) deref(o object) object {
	ref, ok := o["$ref"].(string)
	if !ok {
		return o
	}
	o, _, err := d.resolve(ref)
	if err != nil {
		panic(err) // a test resolves all references
	}
	return o
}
