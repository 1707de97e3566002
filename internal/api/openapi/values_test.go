package openapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"anodyne.example/anodyne/internal/api/openapi"
	"anodyne.example/anodyne/internal/pain"
)

var update = flag.Bool("update", false, "write the generated part of openapi.yaml")

// The generated part of the document is between these lines.
const (
	generatedFrom = "    # The schemas from here on are generated from the rules in internal/pain. Do not\n    # edit them: go generate ./internal/api/openapi\n"
	generatedTo   = "    # End of the generated schemas.\n"
)

// TestValueSchemasAreThoseOfTheRules compares the schemas of clinical records
// in the document with the rules for their values.
func TestValueSchemasAreThoseOfTheRules(t *testing.T) {
	before, rest, begun := strings.Cut(string(openapi.YAML), generatedFrom)
	have, after, ended := strings.Cut(rest, generatedTo)
	if !begun || !ended {
		t.Fatal("openapi.yaml lacks the lines that mark the generated part")
	}
	want := generate(t)
	switch {
	case have == want:
	case *update:
		if err := os.WriteFile("openapi.yaml", []byte(before+generatedFrom+want+generatedTo+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Error("openapi.yaml is out of date; run: go generate ./internal/api/openapi")
	}
}

// The schemas of records, with %T for the name of the type and %t for the type.
// Each is written out in full, which all client generators understand.
const (
	recordSchema = `
type: object
required: [id, patient_id, data_type, recorded_at, value, notes, source, author, encounter_id, status, corrects, created_at]
additionalProperties: false
properties:
  id: {$ref: '#/components/schemas/RecordID'}
  patient_id: {$ref: '#/components/schemas/PatientID'}
  data_type: {type: string, const: %t}
  recorded_at: {$ref: '#/components/schemas/ClinicalTime'}
  value: {$ref: '#/components/schemas/%TValue'}
  notes: {type: string}
  source: {$ref: '#/components/schemas/RecordSource'}
  author: {type: string}
  encounter_id: {type: string}
  status: {$ref: '#/components/schemas/RecordStatus'}
  corrects: {$ref: '#/components/schemas/CorrectedRecord'}
  created_at: {$ref: '#/components/schemas/Timestamp'}
`
	createSchema = `
type: object
required: [data_type, value]
additionalProperties: false
properties:
  data_type: {type: string, const: %t}
  recorded_at: {$ref: '#/components/schemas/ClinicalTimeInput'}
  value: {$ref: '#/components/schemas/%TValueInput'}
  notes: {$ref: '#/components/schemas/ClinicalNotesInput'}
  source: {$ref: '#/components/schemas/RecordSourceInput'}
  author: {type: [string, 'null'], maxLength: 200}
  encounter_id: {type: [string, 'null'], maxLength: 200}
`
)

// generate returns the schemas of all data types, as part of the components.
func generate(t *testing.T) string {
	t.Helper()
	var records, creates, inputs []string
	schemas := &yaml.Node{Kind: yaml.MappingNode}
	for _, info := range pain.DataTypes() {
		name := info.Schema
		fill := strings.NewReplacer("%T", name, "%t", info.Name)
		records = append(records, name+"Record")
		creates = append(creates, name+"RecordCreate")
		inputs = append(inputs, name+"ValueInput")
		for _, s := range []struct{ name, about, text string }{
			{name + "Record", "A record of the type `" + info.Name + "`. Text without a value is `\"\"`.", fill.Replace(recordSchema)},
			{name + "RecordCreate", "A new record of the type `" + info.Name + "`.", fill.Replace(createSchema)},
			{name + "Value", info.About + " The value as stored, with derived fields.", string(pain.StoredSchema(info.Type))},
			{name + "ValueInput", info.About, string(pain.Schema(info.Type))},
		} {
			add(schemas, s.name, described(t, s.about, s.text))
		}
	}
	union := &yaml.Node{Kind: yaml.MappingNode}
	add(union, "ClinicalRecord", described(t, "One clinical record of a patient. `data_type` determines the fields of `value`.", oneOf(records)))
	add(union, "ClinicalRecordCreate", described(t, "A new record. `data_type` determines the fields of `value`.", oneOf(creates)))
	add(union, "ClinicalValueInput", described(t, "A value of the record's type.", anyOf(inputs)))
	schemas.Content = append(union.Content, schemas.Content...)
	return indented(t, schemas)
}

// oneOf returns a union of the schemas of records by data type.
func oneOf(names []string) string {
	var list, mapping []string
	for i, info := range pain.DataTypes() {
		list = append(list, "{$ref: '#/components/schemas/"+names[i]+"'}")
		mapping = append(mapping, info.Name+": '#/components/schemas/"+names[i]+"'")
	}
	return "oneOf: [" + strings.Join(list, ", ") + "]\ndiscriminator: {propertyName: data_type, mapping: {" + strings.Join(mapping, ", ") + "}}"
}

func anyOf(names []string) string {
	return "anyOf: [{$ref: '#/components/schemas/" + strings.Join(names, "'}, {$ref: '#/components/schemas/") + "'}]"
}

func add(mapping *yaml.Node, name string, value *yaml.Node) {
	mapping.Content = append(mapping.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, value)
}

// described parses a schema and puts its description first.
func described(t *testing.T, about, text string) *yaml.Node {
	t.Helper()
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	schema := document.Content[0]
	schema.Content = append([]*yaml.Node{{Kind: yaml.ScalarNode, Value: "description"}, {Kind: yaml.ScalarNode, Value: about}}, schema.Content...)
	layOut(schema)
	return schema
}

// layOut writes lists of words, and everything that fits, on one line; the rest
// is written as a block.
func layOut(node *yaml.Node) {
	const line = 160
	node.Style = 0
	plain := node.Kind == yaml.SequenceNode
	for _, child := range node.Content {
		layOut(child)
		plain = plain && child.Kind == yaml.ScalarNode
	}
	if node.Kind == yaml.ScalarNode {
		return
	}
	node.Style = yaml.FlowStyle
	if text, err := yaml.Marshal(node); err == nil && len(text) > line && !plain {
		node.Style = 0
	}
}

// indented returns the schemas with the indentation of the document.
func indented(t *testing.T, schemas *yaml.Node) string {
	t.Helper()
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := encoder.Encode(schemas); err != nil {
		t.Fatal(err)
	}
	return "    " + strings.ReplaceAll(strings.TrimSuffix(text.String(), "\n"), "\n", "\n    ") + "\n"
}

// TestValueSchemasAreThoseOfTheReference compares the components with the
// schemas that /v1/reference/data-types returns.
func TestValueSchemasAreThoseOfTheReference(t *testing.T) {
	schemas := at(t, document(t), "components", "schemas")
	for _, info := range pain.DataTypes() {
		for name, want := range map[string]json.RawMessage{"Value": pain.StoredSchema(info.Type), "ValueInput": pain.Schema(info.Type)} {
			got := at(t, schemas, info.Schema+name).(map[string]any)
			delete(got, "description")
			same(t, info.Name, got, want)
		}
	}
}

func same(t *testing.T, what string, got map[string]any, want json.RawMessage) {
	t.Helper()
	var parsed map[string]any
	if err := json.Unmarshal(want, &parsed); err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(parsed)
	if !bytes.Equal(a, b) {
		t.Errorf("%s is\n%s\nin the document, and\n%s\nby the rules", what, a, b)
	}
}
