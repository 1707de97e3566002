package fhir

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/strictjson"
)

// Keep returns what a stored record or patient lacks of a received resource:
// every top-level element in which received differs from generated, which is
// what was stored, mapped out again. It is nil if nothing differs, except for a
// MedicationStatement: that there is an entry says how the medication was
// received. The form is {"element":{"was":GENERATED,"now":RECEIVED}}, null for
// an absent element; an interpretation also has "of", which is a hash of the
// value.
//
// What the server sets is never kept: id, meta.versionId, meta.lastUpdated,
// status, our own identifiers and extensions, the reference to the patient, and
// a score that it computed from answers.
func Keep(received, generated []byte) []byte {
	now, okNow := elementsOf(received)
	was, okWas := elementsOf(generated)
	if !okNow || !okWas {
		return nil
	}
	now.prepare(&was)
	was.prepare(&was)
	var kept object
	note := func(name string) {
		if kept.has(name) {
			return
		}
		c := change{was: was.original(name), now: now.original(name)}
		switch name {
		case "text":
			c.was = was.fingerprint(describedByNarrative)
		case interpretation:
			c.of = was.fingerprint(interpreted)
		}
		kept.set(name, c.append(nil))
	}
	otherScore := computedOtherwise(&was, &now)
	for _, name := range append(now.names(), was.names()...) {
		if serverSet(name, &was, &now) || sameElement(now.original(name), was.original(name)) || otherScore && ofScore(name) {
			continue
		}
		if note(name); name == "text" {
			continue
		}
		// A value and its extensions are only valid together.
		other, extended := strings.CutPrefix(name, "_")
		if !extended {
			other = "_" + name
		}
		if !serverSet(other, &was, &now) && (was.get(other) != nil || now.get(other) != nil) {
			note(other)
		}
	}
	if len(kept.fields) == 0 && now.resourceType != medicationStatement {
		return nil
	}
	return kept.append(nil)
}

// serverSet reports whether the server sets an element. The status corrected
// is the exception: we know it as amended.
func serverSet(name string, was, now *elements) bool {
	switch name {
	case "resourceType", "id":
		return true
	case "status":
		return string(was.canonical(name)) != `"amended"` || string(now.canonical(name)) != `"corrected"`
	}
	return false
}

func orNull(json []byte) []byte {
	if json == nil {
		return []byte("null")
	}
	return json
}

// Restore returns a generated resource with the kept elements. An element is
// only restored while the generated one is still that for which it was kept,
// so that a change through /v1 wins; a narrative only while the whole resource
// is, and an interpretation only while the value is. If nothing is kept, Restore returns generated itself.
func Restore(generated, kept []byte) []byte {
	if len(kept) == 0 {
		return generated
	}
	was, okWas := elementsOf(generated)
	changes, okKept := elementsOf(kept)
	if !okWas || !okKept {
		return generated
	}
	server := was
	server.fields = slices.Clone(was.fields)
	was.prepare(&was)
	valid := was.validStems(&changes)
	out := make([]byte, 0, len(generated)+len(kept))
	out = append(out, '{')
	write := func(name string, json []byte) {
		if json == nil || string(json) == "null" {
			return
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(strictjson.AppendString(out, name), ':')
		out = append(out, json...)
	}
	for _, name := range server.names() {
		if change := changes.change(name); change != nil && valid[stem(was.resourceType, name)] {
			write(name, server.complete(name, change.now))
		} else {
			write(name, server.original(name))
		}
	}
	for _, name := range changes.names() {
		if server.get(name) == nil && valid[stem(was.resourceType, name)] {
			write(name, server.complete(name, changes.change(name).now))
		}
	}
	return append(out, '}')
}

// elements are the top-level elements of a resource in order.
type elements struct {
	resourceType string
	fields       []elementText
}

type elementText struct {
	name string
	json []byte // as it is in the resource, or prepared for a comparison
}

func elementsOf(resource []byte) (e elements, ok bool) {
	root, err := strictjson.Parse(resource)
	if err != nil {
		return e, false
	}
	for name, v := range root.All() {
		e.fields = append(e.fields, elementText{name, v.Raw()})
	}
	if v, found := root.Get("resourceType"); found {
		e.resourceType, _ = v.AsString()
	}
	return e, true
}

func (e *elements) names() []string {
	list := make([]string, len(e.fields))
	for i := range e.fields {
		list[i] = e.fields[i].name
	}
	return list
}

func (e *elements) get(name string) *elementText {
	for i := range e.fields {
		if e.fields[i].name == name {
			return &e.fields[i]
		}
	}
	return nil
}

// original returns the JSON of an element, or nil.
func (e *elements) original(name string) []byte {
	if f := e.get(name); f != nil {
		return f.json
	}
	return nil
}

// canonical returns an element in a form in which equal values are equal, or
// nil.
func (e *elements) canonical(name string) []byte { return canonical(e.original(name)) }

// sameElement reports whether two values are equal. Most are equal as text, or
// obviously not, and need not be parsed.
func sameElement(a, b []byte) bool {
	switch {
	case bytes.Equal(a, b):
		return true
	case len(a) == 0 || len(b) == 0 || a[0] != b[0]:
		return false
	case a[0] == '"' && bytes.IndexByte(a, '\\') < 0 && bytes.IndexByte(b, '\\') < 0:
		return false
	}
	return bytes.Equal(canonical(a), canonical(b))
}

// fingerprint returns a hash, in JSON, of some elements.
func (e *elements) fingerprint(of func(name string) bool) []byte {
	hash := sha256.New()
	names := slices.DeleteFunc(e.names(), func(name string) bool { return !of(name) })
	slices.Sort(names)
	for _, name := range names {
		hash.Write(append([]byte(name), ':'))
		hash.Write(e.canonical(name))
	}
	return strictjson.AppendString(nil, hex.EncodeToString(hash.Sum(nil)[:16]))
}

// describedByNarrative reports whether a narrative may describe an element: all
// but those that the server sets and the narrative.
func describedByNarrative(name string) bool {
	switch name {
	case "id", "meta", "text", "identifier":
		return false
	}
	return true
}

// change is an entry of the kept elements.
type change struct{ was, now, of []byte }

func (c *change) append(b []byte) []byte {
	b = append(b, `{"was":`...)
	b = append(b, orNull(c.was)...)
	b = append(b, `,"now":`...)
	b = append(b, orNull(c.now)...)
	if c.of != nil {
		b = append(b, `,"of":`...)
		b = append(b, c.of...)
	}
	return append(b, '}')
}

func (e *elements) change(name string) *change {
	text := e.original(name)
	if text == nil {
		return nil
	}
	entry, ok := elementsOf(text)
	if !ok {
		return nil
	}
	return &change{entry.original("was"), entry.original("now"), entry.original("of")}
}

// validStems returns for which stems the kept elements still apply: all of the
// stem are as they were, and no other was added.
func (e *elements) validStems(changes *elements) map[string]bool {
	valid := map[string]bool{}
	for _, name := range changes.names() {
		c := changes.change(name)
		is := e.original(name)
		if name == "text" {
			is = e.fingerprint(describedByNarrative)
		}
		as := stem(e.resourceType, name)
		same := c != nil && bytes.Equal(canonical(orNull(is)), canonical(orNull(c.was))) &&
			(c.of == nil || bytes.Equal(c.of, e.fingerprint(interpreted)))
		if before, known := valid[as]; same && known {
			same = before
		}
		valid[as] = same
	}
	for _, name := range e.names() {
		if as := stem(e.resourceType, name); changes.get(name) == nil && valid[as] {
			valid[as] = false
		}
	}
	return valid
}
