package openapitest

import (
	"fmt"
	"strings"
	"testing"
)

// TestEveryExampleIsValid validates each example of the document, of requests
// and responses, against its schema.
func TestEveryExampleIsValid(t *testing.T) {
	d := compiled()
	checked := 0
	check := func(schemaAt, exampleAt string, value any) {
		schema, err := d.schema(schemaAt)
		if err != nil {
			t.Fatal(err)
		}
		checked++
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s: %s", exampleAt, brief(err))
		}
	}
	var walk func(at string, value any)
	walk = func(at string, value any) {
		switch value := value.(type) {
		case object:
			if _, ok := value["schema"]; ok { // a parameter, a header or a media type
				for name, example := range d.examples(value) {
					check(pointer(at, "schema"), pointer(at, "examples", name), example)
				}
			}
			if examples, ok := value["examples"].([]any); ok { // a schema
				for i, example := range examples {
					check(at, pointer(at, "examples", fmt.Sprint(i)), example)
				}
			}
			for name, member := range value {
				if name != "example" && name != "examples" {
					walk(pointer(at, name), member)
				}
			}
		case []any:
			for i, item := range value {
				walk(pointer(at, fmt.Sprint(i)), item)
			}
		}
	}
	walk("#", d.root)
	if checked < 80 {
		t.Errorf("found %d examples only", checked)
	}
}

// TestEveryJSONBodyHasAnExample ignores the document itself, which is its own
// example.
func TestEveryJSONBodyHasAnExample(t *testing.T) {
	var walk func(at string, value any)
	walk = func(at string, value any) {
		members, ok := value.(object)
		if !ok || strings.Contains(at, "openapi.json") {
			return
		}
		content, _ := members["content"].(object)
		for mediaType, body := range content {
			if body, ok := body.(object); ok && strings.Contains(mediaType, "json") && body["examples"] == nil {
				t.Errorf("%s has no example of %s", at, mediaType)
			}
		}
		for name, member := range members {
			walk(pointer(at, name), member)
		}
	}
	walk("#", compiled().root)
}

// TestSchemasAreStrict verifies that the keywords the document depends on are
// enforced.
func TestSchemasAreStrict(t *testing.T) {
	d, err := compile([]byte(`{"openapi":"3.1.0","paths":{},"components":{
		"responses":{"UnknownPath":{},"MethodNotAllowed":{},"FHIROutcome":{}},
		"schemas":{"Error":{},
			"closed":{"type":"object","required":["a"],"properties":{"a":{}},"additionalProperties":false},
			"choice":{"enum":["a","b"]},
			"nullable":{"type":["string","null"]},
			"pattern":{"type":"string","pattern":"^pat_[0-9]+$"},
			"day":{"type":"string","format":"date"},
			"time":{"type":"string","format":"date-time"},
			"referring":{"$ref":"#/components/schemas/closed"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		schema string
		value  any
		valid  bool
	}{
		{"closed", object{"a": "x"}, true},
		{"closed", object{}, false},
		{"closed", object{"a": "x", "b": "y"}, false},
		{"referring", object{"b": "y"}, false},
		{"choice", "a", true},
		{"choice", "c", false},
		{"nullable", nil, true},
		{"nullable", "", true},
		{"nullable", true, false},
		{"pattern", "pat_1", true},
		{"pattern", "pat_x", false},
		{"day", "2024-02-29", true},
		{"day", "2025-02-29", false},
		{"day", "01/02/2025", false},
		{"time", "2026-01-15T10:30:00Z", true},
		{"time", "2026-01-15 10:30:00", false},
	} {
		schema, err := d.schema("#/components/schemas/" + c.schema)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(c.value); (err == nil) != c.valid {
			t.Errorf("%s with %v: %v", c.schema, c.value, err)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	const others = `"components":{"schemas":{"Error":{}},"responses":{"UnknownPath":{},"MethodNotAllowed":{},"FHIROutcome":{}}}`
	for name, text := range map[string]string{
		"no JSON":                `{`,
		"no fallback answers":    `{"paths":{}}`,
		"a reference to nothing": `{"paths":{"/a":{"get":{"responses":{"200":{"$ref":"#/components/responses/Gone"}}}}},` + others + `}`,
		"a schema that is none":  `{"paths":{"/a":{"get":{"responses":{"200":{"content":{"application/json":{"schema":{"type":1}}}}}}}},` + others + `}`,
	} {
		if _, err := compile([]byte(text)); err == nil {
			t.Errorf("%s: compiled", name)
		}
	}
}
