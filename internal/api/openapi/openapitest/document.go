// Package openapitest holds the answers of the service against its OpenAPI
// document, in the tests of any package that talks HTTP. It checks answers
// only: tests send bad requests on purpose.
//
// The schemas are compiled once for the process, so that the check of an
// answer costs microseconds and thousands can be made.
package openapitest

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"anodyne.example/anodyne/internal/api/openapi"
)

// documentURL names the document to the schema compiler; nothing is fetched.
const documentURL = "anodyne:openapi"

// object is a JSON object.
type object = map[string]any

// document is the compiled form of the OpenAPI document. It is not changed
// once it is compiled.
type document struct {
	root     object
	compiler *jsonschema.Compiler
	paths    []path
	// delivered has the schemas of what is sent to webhooks, by event.
	delivered map[string]*jsonschema.Schema
	// What is said about the answers to requests that are no operation of the
	// document; anyError is for those judged before the path was.
	unknownPath, wrongMethod, anyError *response
}

// path is a path of the document with its operations by upper-case method.
type path struct {
	template   string
	segments   []string // of the template
	operations map[string]operation
}

// operation is the answers of an operation by status, as text.
type operation map[string]*response

// compiled gives the service's document, compiled when it is first needed.
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

// schema compiles the schema at a pointer, or the one it refers to.
func (d *document) schema(at string) (*jsonschema.Schema, error) {
	return d.compiler.Compile(documentURL + at)
}

// resolve gives the object at a pointer, or the one it refers to, and where
// that is.
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

// JSON pointers write "~" and "/" within a name as "~0" and "~1".
var (
	escape   = strings.NewReplacer("~", "~0", "/", "~1")
	unescape = strings.NewReplacer("~1", "/", "~0", "~")
)

// pointer goes on from a pointer by names.
func pointer(base string, names ...string) string {
	for _, name := range names {
		base += "/" + escape.Replace(name)
	}
	return base
}
