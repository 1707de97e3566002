package internal

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
)

// The client's types and the document are both written by hand. This test
// compares them: names, types, nullable and optional fields, and enumerations.
func TestClientTypesAreThoseOfTheDocument(t *testing.T) {
	t.Parallel()
	d := differ{t: t, document: readDocument(t), fields: map[string][]string{}, properties: map[string][]string{}, words: map[string][]string{}}
	methods := reflect.TypeFor[*client.Client]()
	for name, operation := range operations {
		method, _ := methods.MethodByName(name)
		request, answer := d.document.bodies(operation)
		for in := range method.Type.Ins() {
			of := in
			if of.Kind() == reflect.Slice {
				of = of.Elem()
			}
			if of.Kind() == reflect.Struct && of != reflect.TypeFor[time.Time]() && !strings.HasSuffix(of.Name(), "Query") && of != reflect.TypeFor[client.Identifier]() {
				d.body(name, in, request, true)
			}
		}
		if result := method.Type.Out(0); result.Kind() == reflect.Pointer || result.Kind() == reflect.Slice {
			d.body(name, result, answer, false)
		}
	}
	for of := range d.fields {
		same(t, "fields of client."+of, d.fields[of], d.properties[of])
	}
	same(t, "types of the client", slices.Collect(maps.Keys(d.fields)), jsonTypes(t))

	d.words["Code"] = d.document.schema("ErrorCode").words
	for of, words := range d.words {
		same(t, "constants of client."+of, constants(t, filepath.Join("..", "client"), of), words)
	}
	statuses := d.document.shape(d.document.schema("WebhookMembers").properties["status"]).words
	same(t, "states of a webhook", []string{client.WebhookEnabled, client.WebhookDisabled}, statuses)
}

// Fields that are not null where the document has null; their comments say what
// they are then.
var zeroForNull = []string{"Attempt.http_status"}

// differ compares types with schemas, and collects what it has seen of each type
// of the client, since several schemas may share one.
type differ struct {
	t                  *testing.T
	document           apiDocument
	fields, properties map[string][]string // by type: names in JSON
	words              map[string][]string // by type: what the document lists
}

// body compares a parameter or a result. A list is the only field of an
// object.
func (d *differ) body(at string, typ reflect.Type, schema any, sent bool) {
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if typ.Kind() == reflect.Slice {
		for _, alternative := range d.document.shape(schema).objects {
			for _, property := range alternative.properties {
				if len(alternative.properties) == 1 {
					d.compare(at, typ, property, sent)
					return
				}
			}
		}
		d.t.Errorf("%s: no list in an object", at)
		return
	}
	d.compare(at, typ, schema, sent)
}

func (d *differ) compare(at string, typ reflect.Type, schema any, sent bool) {
	s := d.document.shape(schema)
	pointer := typ.Kind() == reflect.Pointer
	if pointer {
		typ = typ.Elem()
	}
	if strings.HasPrefix(typ.Name(), "Optional[") {
		value, _ := typ.FieldByName("value")
		d.compare(at, value.Type, schema, sent)
		return
	}
	want, keepsNull := "", pointer
	switch {
	case typ == reflect.TypeFor[json.RawMessage](), typ.Kind() == reflect.Interface:
		return
	case typ == reflect.TypeFor[time.Time]():
		want, keepsNull = "string", true // the zero time
		if !sent && s.format != "date-time" {
			d.t.Errorf("%s is a time, but not in the document", at)
		}
	case typ.Kind() == reflect.String:
		want, keepsNull = "string", true // the empty text
		if typ.PkgPath() != "" {
			d.words[typ.Name()] = append(d.words[typ.Name()], s.words...)
		}
	case typ.Kind() == reflect.Bool:
		want = "boolean"
	case typ.Kind() == reflect.Int, typ.Kind() == reflect.Int64:
		want = "integer"
	case typ.Kind() == reflect.Float64:
		want = "number"
	case typ.Kind() == reflect.Map:
		want, keepsNull = "object", true
	case typ.Kind() == reflect.Slice:
		want, keepsNull = "array", true
		d.compare(at+"[]", typ.Elem(), s.items, sent)
	case typ.Kind() == reflect.Struct:
		want = "object"
		d.object(typ, s, sent)
	}
	if !s.types[want] {
		d.t.Errorf("%s is %s, in the document %v", at, typ, slices.Collect(maps.Keys(s.types)))
	}
	if s.types["null"] && !sent && !keepsNull && !slices.Contains(zeroForNull, at) {
		d.t.Errorf("%s may be null, which %s cannot show", at, typ)
	}
}

func (d *differ) object(typ reflect.Type, s shape, sent bool) {
	name, _, _ := strings.Cut(typ.Name(), "[")
	names := jsonNames(typ)
	s = s.object(names)
	if name != "" { // fields that are in no schema are found at the end
		d.fields[name] = append(d.fields[name], names...)
		d.properties[name] = slices.AppendSeq(d.properties[name], maps.Keys(s.properties))
	}
	for property := range s.properties {
		if !slices.Contains(names, property) {
			d.t.Errorf("client.%s has no field for %s", name, property)
		}
	}
	for _, field := range reflect.VisibleFields(typ) {
		if field.Anonymous { // its fields are this type's as well
			d.object(field.Type, s.only(jsonNames(field.Type)), sent)
			continue
		}
		tag, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		property, known := s.properties[tag]
		if !known {
			continue
		}
		at, optional := name+"."+tag, options != ""
		d.compare(at, field.Type, property, sent)
		if sent && s.required[tag] && optional {
			d.t.Errorf("%s is left out when it is empty, but required", at)
		}
		if sent && !s.required[tag] && !optional && field.Type.Kind() != reflect.Struct {
			d.t.Errorf("%s is sent when it is empty, but not required", at)
		}
	}
}

// jsonNames are the names of a struct's fields in JSON.
func jsonNames(typ reflect.Type) (names []string) {
	for _, field := range reflect.VisibleFields(typ) {
		if tag, _, _ := strings.Cut(field.Tag.Get("json"), ","); tag != "-" && !field.Anonymous {
			names = append(names, tag)
		}
	}
	return names
}

// jsonTypes lists the client's exported structs that are read or written as JSON.
func jsonTypes(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "client", "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if structure, ok := spec.Type.(*ast.StructType); ok && spec.Name.IsExported() && slices.ContainsFunc(structure.Fields.List, func(f *ast.Field) bool {
				return f.Tag != nil && strings.Contains(f.Tag.Value, "json:")
			}) {
				names = append(names, spec.Name.Name)
			}
			return false
		})
	}
	return names
}
