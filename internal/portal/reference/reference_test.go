package reference_test

import (
	"html/template"
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/api/openapi"
	"anodyne.example/anodyne/internal/portal/reference"
)

func asText(s string) template.HTML { return template.HTML(template.HTMLEscapeString(s)) }

func TestEveryOperationIsRead(t *testing.T) {
	d, err := reference.Read(openapi.JSON(), asText)
	if err != nil {
		t.Fatal(err)
	}
	var got []openapi.Route
	for _, tag := range d.Tags {
		if len(tag.Operations) == 0 {
			t.Errorf("%s has no operation", tag.Name)
		}
		for _, op := range tag.Operations {
			if found, of := d.Operation(op.ID); found != op || of != tag {
				t.Errorf("%s is not found by its name", op.ID)
			}
			if len(op.Answers) == 0 || op.Summary == "" || op.Description == "" {
				t.Errorf("%s lacks an answer, a summary or a description", op.ID)
			}
			if !op.Sent {
				got = append(got, openapi.Route{Method: op.Method, Path: op.Path})
			}
		}
	}
	for _, want := range openapi.Routes() {
		if !slices.Contains(got, want) {
			t.Errorf("%s %s is missing", want.Method, want.Path)
		}
	}
	if want := len(openapi.Routes()); len(got) != want || want == 0 {
		t.Errorf("%d operations, want %d", len(got), want)
	}
}

func TestOperationSaysWhatTheDocumentSays(t *testing.T) {
	d, err := reference.Read(openapi.JSON(), asText)
	if err != nil {
		t.Fatal(err)
	}
	op, _ := d.Operation("createPatient")
	if op.Auth != "bearer" || !slices.Equal(op.Scopes, []string{"patients:write"}) {
		t.Errorf("auth %s, scopes %v", op.Auth, op.Scopes)
	}
	if len(op.Parameters) != 1 || op.Parameters[0].Name != "Idempotency-Key" || op.Parameters[0].In != "header" {
		t.Errorf("parameters %+v", op.Parameters)
	}
	schema := op.Body.Media[0].Schema
	if schema.Name != "PatientCreate" || schema.Members[0].Name != "name" || !schema.Members[0].Required {
		t.Errorf("the body is %s, its first member %+v", schema.Name, schema.Members[0])
	}
	if len(op.Body.Media[0].Examples) != 2 || !strings.Contains(op.Body.Media[0].Examples[0].Text, `"name": "Tomasz Okafor"`) {
		t.Errorf("examples %+v", op.Body.Media[0].Examples)
	}
	if refused := op.Errors[0]; refused.Status != "400" || !slices.Equal(refused.Codes, []string{"INVALID_PARAMETER", "INVALID_BODY"}) {
		t.Errorf("the first error is %s %v", refused.Status, refused.Codes)
	}
	token, _ := d.Operation("createToken")
	if token.Auth != "basic" || !strings.HasPrefix(token.Body.Media[0].Examples[0].Text, "grant_type=client_credentials&client_id=cli_") {
		t.Errorf("a token is asked for by %s with %+v", token.Auth, token.Body.Media[0].Examples)
	}
}

// of parses a schema in a small document.
func of(t *testing.T, schema string) (*reference.Schema, error) {
	t.Helper()
	d, err := reference.Read([]byte(`{"info":{},"paths":{},"components":{"schemas":{"Thing":`+schema+`,
		"Name":{"type":"string","maxLength":20},"Tree":{"type":"object","properties":{"left":{"$ref":"#/components/schemas/Tree"}}}}}}`), asText)
	if err != nil {
		return nil, err
	}
	return d.Schemas[0], nil
}

func TestSchemaInWords(t *testing.T) {
	for _, c := range []struct{ schema, kind, rules string }{
		{`{"type":"string","format":"date"}`, "string (date)", ""},
		{`{"type":["string","null"],"maxLength":20000}`, "string or null", "at most 20,000 characters"},
		{`{"type":"integer","minimum":1,"maximum":100,"default":50}`, "integer", "by default 50; 1 to 100"},
		{`{"type":"integer","minimum":0}`, "integer", "at least 0"},
		{`{"type":"array","minItems":1,"items":{"type":"string"}}`, "array of string", "at least 1 items"},
		{`{"type":"array","items":{"$ref":"#/components/schemas/Tree"}}`, "array of Tree", ""},
		{`{"oneOf":[{"$ref":"#/components/schemas/Tree"},{"type":"null"}]}`, "Tree or null", ""},
		{`{"oneOf":[{"type":"string"},{"type":"integer"}]}`, "one of 2 forms", ""},
		{`{"enum":["a",""]}`, "string", ""},
		{`{}`, "anything", ""},
	} {
		s, err := of(t, c.schema)
		if err != nil {
			t.Errorf("%s: %v", c.schema, err)
		} else if rules := strings.Join(s.Rules, "; "); s.Type != c.kind || rules != c.rules {
			t.Errorf("%s is %q, %q; want %q, %q", c.schema, s.Type, rules, c.kind, c.rules)
		}
	}
}

func TestSchemasAreMerged(t *testing.T) {
	s, err := of(t, `{"allOf":[{"type":"object","required":["a"],"properties":{"a":{"$ref":"#/components/schemas/Name"},"b":{"type":"integer"}}},
		{"properties":{"a":{"const":"x"},"c":{"$ref":"#/components/schemas/Tree"}}}]}`)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Members) != 3 || !s.Members[0].Required || s.Members[0].Type != "string" || !slices.Equal(s.Members[0].Values, []string{"x"}) {
		t.Errorf("members %+v", s.Members)
	}
	if tree := s.Members[2]; tree.Name != "c" || !tree.Again || tree.Schema.Name != "Tree" {
		t.Errorf("a component inside another is %+v", tree)
	}
}

func TestWhatIsNotKnownIsAnError(t *testing.T) {
	for _, schema := range []string{
		`{"type":"string","where that is known":null}`,
		`{"$ref":"#/components/schemas/Nothing"}`,
		`{"$ref":"https://example.org/schema.json"}`,
		`{"properties":{"a":{"properties":{"b":{"misspelt":1}}}}}`,
		`[]`,
	} {
		if _, err := of(t, schema); err == nil {
			t.Errorf("%s was read", schema)
		}
	}
	for what, document := range map[string]string{
		"an undeclared tag": `{"tags":[],"paths":{"/a":{"get":{"operationId":"a","tags":["A"],"responses":{}}}},"components":{"schemas":{}}}`,
		"a name twice": `{"tags":[{"name":"A"}],"paths":{"/a":{"get":{"operationId":"a","tags":["A"],"responses":{}},"put":{"operationId":"a","tags":["A"],"responses":{}}}},
			"components":{"schemas":{}}}`,
	} {
		if _, err := reference.Read([]byte(document), asText); err == nil {
			t.Errorf("%s was read", what)
		}
	}
}

func TestExamplesFitTheLine(t *testing.T) {
	d, err := reference.Read(openapi.JSON(), asText)
	if err != nil {
		t.Fatal(err)
	}
	op, _ := d.Operation("listPatients")
	const want = `{
  "data": [
    {
      "id": "pat_01kf0k8y20a14c3emmv2g2jemj",
      "name": "María Lindqvist",
      "date_of_birth": "1968-04-02",
      "created_at": "2026-01-15T10:30:00Z"
    },`
	if got := op.Answers[0].Media[0].Examples[0].Text; !strings.HasPrefix(got, want) {
		t.Errorf("the example begins\n%s", got)
	}
	if got := op.Answers[0].Media[0].Examples[1].Text; got != `{"data": [], "pagination": {"page": 9, "limit": 50, "total": 2}}` {
		t.Errorf("a short example is\n%s", got)
	}
}

func BenchmarkRead(b *testing.B) {
	document := openapi.JSON()
	for b.Loop() {
		if _, err := reference.Read(document, asText); err != nil {
			b.Fatal(err)
		}
	}
}
