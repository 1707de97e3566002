// Package openapitest validates responses of the service against its OpenAPI
// document, for tests of any package that uses HTTP. It does not validate
// requests: tests send invalid ones on purpose.
//
// The schemas are compiled once per process, so that checking a response takes
// microseconds.
package openapitest

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"anodyne.example/anodyne/internal/api/openapi"
)

// documentURL identifies the document in the schema compiler. It is never
// fetched.
const documentURL = "anodyne:openapi"

// object is a JSON object.
type object = map[string]any

// document is the compiled form of the OpenAPI document. It is immutable once
// compiled.
type document struct {
	root     object
	compiler *jsonschema.Compiler
	paths    []path
	// delivered has the schemas of webhook bodies by event type.
	delivered map[string]*jsonschema.Schema
	// Responses to requests that match no operation of the document. anyError
	// is for requests rejected before the path was examined.
	unknownPath, wrongMethod, anyError, fhirError *response
}

// path is a path of the document and its operations by upper-case method.
type path struct {
	template   string
	segments   []string // segments of the template
	operations map[string]operation
}

// operation holds the responses of an operation by status.
type operation map[string]*response

// compiled returns the service's document, compiled on first use.
var compiled = sync.OnceValue(func() *document {
	d, err := compile(openapi.JSON())
	if err != nil {
		panic(fmt.Sprintf("the OpenAPI document: %v", err))
	}
	return d
})

func compile(text []byte) (*document, error) {
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	resolveDiscriminators(root)
	d := &document{root: root.(object), compiler: jsonschema.NewCompiler()}
	d.compiler.AssertFormat()
	if err := d.compiler.AddResource(documentURL, root); err != nil {
		return nil, err
	}
	paths, _ := d.root["paths"].(object)
	for template := range paths {
		p, err := d.compilePath(template)
		if err != nil {
			return nil, err
		}
		d.paths = append(d.paths, p)
	}
	if err := d.compileDelivered(); err != nil {
		return nil, err
	}
	return d, d.compileOthers()
}

func (d *document) compileOthers() (err error) {
	if d.unknownPath, err = d.compileResponse("#/components/responses/UnknownPath"); err != nil {
		return err
	}
	if d.wrongMethod, err = d.compileResponse("#/components/responses/MethodNotAllowed"); err != nil {
		return err
	}
	if d.fhirError, err = d.compileResponse("#/components/responses/FHIROutcome"); err != nil {
		return err
	}
	schema, err := d.schema("#/components/schemas/Error")
	d.anyError = &response{d.unknownPath.headers, map[string]*jsonschema.Schema{"application/json": schema}}
	return err
}

func (d *document) compilePath(template string) (path, error) {
	p := path{template, strings.Split(template, "/"), make(map[string]operation)}
	item, at, err := d.resolve(pointer("#/paths", template))
	if err != nil {
		return p, err
	}
	for method, raw := range item {
		if !openapi.IsMethod(method) {
			continue
		}
		answers := make(operation)
		responses, _ := raw.(object)["responses"].(object)
		for status := range responses {
			if answers[status], err = d.compileResponse(pointer(at, method, "responses", status)); err != nil {
				return p, err
			}
		}
		p.operations[strings.ToUpper(method)] = answers
	}
	return p, nil
}

// schema compiles the schema at a JSON pointer, following a reference.
func (d *document) schema(at string) (*jsonschema.Schema, error) {
	return d.compiler.Compile(documentURL + at)
}

// resolve returns the object at a JSON pointer, following a reference, and its
// location.
func (d *document) resolve(at string) (object, string, error) {
	var value any = d.root
	for step := range strings.SplitSeq(strings.TrimPrefix(at, "#/"), "/") {
		members, ok := value.(object)
		if !ok {
			return nil, "", fmt.Errorf("there is nothing at %s", at)
		}
		value = members[unescape.Replace(step)]
	}
	found, ok := value.(object)
	if !ok {
		return nil, "", fmt.Errorf("there is no object at %s", at)
	}
	if ref, ok := found["$ref"].(string); ok {
		return d.resolve(ref)
	}
	return found, at, nil
}

// JSON pointers escape "~" and "/" as "~0" and "~1".
var (
	escape   = strings.NewReplacer("~", "~0", "/", "~1")
	unescape = strings.NewReplacer("~1", "/", "~0", "~")
)

// pointer appends names to a JSON pointer.
func pointer(base string, names ...string) string {
	for _, name := range names {
		base += "/" + escape.Replace(name)
	}
	return base
}
