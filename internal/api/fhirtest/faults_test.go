package fhirtest

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// bad is a request that must be refused.
type bad struct {
	method, path, body string
	header             []string
	// at is the expression that an issue must have.
	at string
}

// elementOf is an element in the table of internal/fhir.
type elementOf struct {
	name     string
	types    []string
	required bool
	list     bool
	coded    bool
}

// inJSON returns the names that the element has in JSON, with their types.
func (e *elementOf) inJSON() map[string]string {
	stem, choice := strings.CutSuffix(e.name, "[x]")
	if !choice {
		return map[string]string{e.name: e.types[0]}
	}
	names := map[string]string{}
	for _, of := range e.types {
		names[stem+string(unicode.ToUpper(rune(of[0])))+of[1:]] = of
	}
	return names
}

// elementTable reads the table of elements, by type.
func elementTable(t *testing.T) map[string][]elementOf {
	t.Helper()
	text, err := os.ReadFile("../../fhir/elements.txt")
	if err != nil {
		t.Fatal(err)
	}
	table, current := map[string][]elementOf{}, ""
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		switch line[0] {
		case '#', '=':
		case ' ':
			table[current] = append(table[current], elementOf{words[0], strings.Split(words[1], "|"), words[2][0] != '0', strings.HasSuffix(words[2], "*"), len(words) > 3})
		default:
			current = words[0]
		}
	}
	return table
}

// primitiveValues has a good value and bad ones of each primitive type, in JSON.
// The first bad one has the wrong JSON type.
var primitiveValues = map[string][]string{
	"boolean":      {`true`, `"true"`, `1`},
	"decimal":      {`1.5`, `"1.5"`, "1" + strings.Repeat("0", 70), `1e999`},
	"integer":      {`2`, `"2"`, `1.5`, `1e3`, `3000000000`},
	"positiveInt":  {`2`, `"2"`, `0`, `-1`},
	"unsignedInt":  {`2`, `"2"`, `-1`, `2.5`},
	"string":       {`"x"`, `7`, `""`, `" "`, `"\u0000"`},
	"markdown":     {`"x"`, `7`, `""`},
	"xhtml":        {`"<div xmlns=\"http://www.w3.org/1999/xhtml\">x</div>"`, `7`, `"<p>x</p>"`, `"<div><script>x</script></div>"`},
	"code":         {`"x"`, `7`, `""`, `" x"`},
	"id":           {`"x"`, `7`, `"a b"`, `"` + strings.Repeat("x", 65) + `"`},
	"uri":          {`"urn:x"`, `7`, `"a b"`, `""`},
	"url":          {`"urn:x"`, `7`, `"a b"`},
	"canonical":    {`"urn:x"`, `7`, `"a b"`},
	"oid":          {`"urn:oid:1.2"`, `7`, `"urn:oid:9"`},
	"uuid":         {`"urn:uuid:01234567-89ab-cdef-0123-456789abcdef"`, `7`, `"urn:uuid:x"`},
	"base64Binary": {`"eA=="`, `7`, `"%"`, `"e"`},
	"date":         {`"2024-05-01"`, `7`, `"2024-02-30"`, `"24-1-1"`, `"2024-05-01T10:00:00Z"`},
	"dateTime":     {`"2024-05-01"`, `7`, `"2024-02-30"`, `"2024-05-01T10:00:00"`, `"yesterday"`, `"2024-05-01T25:00:00Z"`},
	"instant":      {`"2024-05-01T10:00:00Z"`, `7`, `"2024-05-01"`, `"2024-05-01T10:00:60Z"`},
	"time":         {`"10:00:00"`, `7`, `"25:00:00"`},
}

// faultMaker makes bad resources of one type from a good one.
type faultMaker struct {
	table map[string][]elementOf
	add   func(body, at string)
}

type fields map[string]json.RawMessage

func (f fields) text() json.RawMessage {
	text, err := json.Marshal(f)
	if err != nil {
		panic(err) // all values are JSON
	}
	return text
}

// good returns a value of a type with what it requires.
func (m *faultMaker) good(typeName string) json.RawMessage {
	if values, ok := primitiveValues[typeName]; ok {
		return json.RawMessage(values[0])
	}
	switch typeName {
	case "Resource":
		return json.RawMessage(`{"resourceType":"Basic"}`)
	case "Narrative":
		return json.RawMessage(`{"status":"generated","div":` + primitiveValues["xhtml"][0] + `}`)
	}
	if o := m.minimal(typeName); len(o) > 0 {
		return o.text()
	}
	return json.RawMessage(`{"id":"x"}`)
}

// minimal returns the elements that an object of a type requires.
func (m *faultMaker) minimal(typeName string) fields {
	o := fields{}
	for _, e := range m.table[typeName] {
		if names := e.inJSON(); e.required {
			name := slices.Sorted(maps.Keys(names))[0]
			o[name] = listed(&e, m.good(names[name]))
		}
	}
	if typeName == "Extension" {
		o["valueString"] = json.RawMessage(`"x"`)
	}
	return o
}

func listed(e *elementOf, v json.RawMessage) json.RawMessage {
	if e.list {
		return json.RawMessage("[" + string(v) + "]")
	}
	return v
}

// object makes the faults of an object of a type at a path. of is the object
// without a fault, and wrap puts it into its resource.
func (m *faultMaker) object(typeName, path string, of fields, depth int, wrap func(json.RawMessage) string) {
	for _, e := range m.table[typeName] {
		names := e.inJSON()
		without := maps.Clone(of)
		for name := range names {
			delete(without, name)
			delete(without, "_"+name)
		}
		stem := strings.TrimSuffix(e.name, "[x]")
		if e.required {
			m.add(wrap(without.text()), path+"."+stem)
		}
		sorted := slices.Sorted(maps.Keys(names))
		if n := len(sorted); n > 1 {
			two := maps.Clone(without)
			two[sorted[n-2]], two[sorted[n-1]] = m.good(names[sorted[n-2]]), m.good(names[sorted[n-1]])
			m.add(wrap(two.text()), path+"."+sorted[n-1])
		}
		for _, name := range sorted {
			put := func(v json.RawMessage) string {
				o := maps.Clone(without)
				o[name] = v
				return wrap(o.text())
			}
			m.element(&e, names[name], path+"."+name, depth, put)
		}
	}
	if m.table[typeName] != nil {
		unknown := maps.Clone(of)
		unknown["colour"] = json.RawMessage(`"red"`)
		m.add(wrap(unknown.text()), path+".colour")
	}
}

// element makes the faults of an element; put puts a value there.
func (m *faultMaker) element(e *elementOf, typeName, path string, depth int, put func(json.RawMessage) string) {
	if e.name == "modifierExtension" || e.name == "implicitRules" { // refused whatever they are
		m.add(put(listed(e, m.good(typeName))), path)
		return
	}
	good := m.good(typeName)
	m.add(put(json.RawMessage(`null`)), path)
	m.add(put(json.RawMessage(`[]`)), path)
	at := path
	if e.list {
		m.add(put(good), path)
		m.add(put(json.RawMessage(`[`+string(good)+`,null]`)), path+"[1]")
		at += "[0]"
	} else {
		m.add(put(json.RawMessage(`[`+string(good)+`,`+string(good)+`]`)), path)
	}
	if values, ok := primitiveValues[typeName]; ok {
		for _, wrong := range values[1:] {
			m.add(put(listed(e, json.RawMessage(wrong))), at)
		}
		if e.coded {
			m.add(put(listed(e, json.RawMessage(`"no-such-code"`))), at)
		}
		m.add(put(listed(e, json.RawMessage(`{"id":"x"}`))), at)
		return
	}
	m.add(put(listed(e, json.RawMessage(`"x"`))), at)
	if typeName == "Resource" {
		m.add(put(listed(e, json.RawMessage(`{"id":"x"}`))), at+".resourceType")
		return
	}
	m.add(put(listed(e, json.RawMessage(`{}`))), at)
	if depth > 0 {
		m.object(typeName, at, m.minimal(typeName), depth-1, func(o json.RawMessage) string { return put(listed(e, o)) })
	}
}
