package fhir

import (
	"bytes"
	"slices"
	"strings"
	"sync"

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
// status (but its extensions are, while it does not change), our own identifiers
// and extensions, the reference to the patient, and a score that it computed
// from answers.
func Keep(received, generated []byte) []byte {
	now, ok := elementsOf(received)
	if !ok {
		return nil
	}
	return keep(now, generated, nil)
}

// Keep is [Keep] for the resource that the draft was read from. replace returns
// what a text within a field of the resource is replaced with, if it is. An
// element in stay that the received resource lacks is the generated one.
func (d *Draft) Keep(generated []byte, replace func(field []byte, text strictjson.Value) (string, bool), stay ...string) []byte {
	now := elementsIn(d.root)
	for i := range now.fields {
		now.fields[i].rewrite(replace)
	}
	return keep(now, generated, stay)
}

// keep is [Keep] for the elements of a received resource.
func keep(now elements, generated []byte, stay []string) []byte {
	was, ok := elementsOf(generated)
	if !ok {
		return nil
	}
	for _, name := range stay {
		if f := was.get(name); f != nil && now.get(name) == nil {
			now.fields = append(now.fields, *f)
		}
	}
	now.prepare(&was)
	was.prepare(&was)
	room := keptRooms.Get().(*[]byte)
	defer keptRooms.Put(room)
	k := keeping{was: &was, now: &now, kept: append((*room)[:0], '{')}
	otherScore := computedOtherwise(&was, &now)
	consider := func(name string) {
		if k.serverSet(name) || sameElement(now.get(name), was.get(name)) || otherScore && ofScore(name) {
			return
		}
		if k.note(name); name == "text" {
			return
		}
		// A value and its extensions are only valid together.
		other, extended := strings.CutPrefix(name, "_")
		if !extended {
			other = "_" + name
		}
		if was.get(other) != nil || now.get(other) != nil && !k.serverSet(other) {
			k.note(other)
		}
	}
	for i := range now.fields {
		consider(now.fields[i].name)
	}
	for i := range was.fields {
		if now.get(was.fields[i].name) == nil {
			consider(was.fields[i].name)
		}
	}
	if *room = k.kept; len(k.noted) == 0 && now.resourceType != medicationStatement {
		return nil
	}
	return append(append(make([]byte, 0, len(k.kept)+1), k.kept...), '}')
}

// keptRooms has space for what is being kept.
var keptRooms = sync.Pool{New: func() any { return new([]byte) }}

// keeping is the comparison of a received resource with the generated one.
type keeping struct {
	was, now *elements
	kept     []byte   // the object of what is kept, without its end
	noted    []string // their names
}

// note keeps an element.
func (k *keeping) note(name string) {
	if slices.Contains(k.noted, name) {
		return
	}
	c := change{was: k.was.get(name), now: k.now.get(name)}
	if k.serverSet(name) {
		c.now = c.was // it has extensions, which are only valid for this value
	}
	switch name {
	case "text":
		c.was = &elementText{json: k.was.fingerprint(describedByNarrative)}
	case interpretation:
		c.of = k.was.fingerprint(interpreted)
	}
	if k.noted = append(k.noted, name); len(k.noted) > 1 {
		k.kept = append(k.kept, ',')
	}
	k.kept = c.append(append(strictjson.AppendString(k.kept, name), ':'))
}

// serverSet reports whether the server sets an element. The status corrected
// is the exception: we know it as amended.
func (k *keeping) serverSet(name string) bool {
	switch name {
	case "resourceType", "id":
		return true
	case "status":
		return k.was.text(name) != "amended" || k.now.text(name) != "corrected"
	}
	return false
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
	for i := range server.fields {
		f := &server.fields[i]
		if change := changes.change(f.name); change != nil && valid[stem(was.resourceType, f.name)] {
			write(f.name, server.complete(f.name, change.now))
		} else {
			write(f.name, f.json)
		}
	}
	for i := range changes.fields {
		name := changes.fields[i].name
		if server.get(name) == nil && valid[stem(was.resourceType, name)] {
			write(name, server.complete(name, changes.change(name).now))
		}
	}
	return append(out, '}')
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
type change struct {
	was, now *elementText // nil if absent
	of       []byte
}

func (c *change) append(b []byte) []byte {
	b = append(b, `{"was":`...)
	b = append(b, c.was.orNull()...)
	b = append(b, `,"now":`...)
	b = append(b, c.now.orNull()...)
	if c.of != nil {
		b = append(b, `,"of":`...)
		b = append(b, c.of...)
	}
	return append(b, '}')
}

func (e *elements) change(name string) *change {
	f := e.get(name)
	if f == nil {
		return nil
	}
	v, ok := f.value()
	if !ok {
		return nil
	}
	o, ok := v.AsObject()
	if !ok {
		return nil
	}
	entry := elementsIn(o)
	c := change{was: entry.get("was"), now: entry.get("now")}
	if of := entry.get("of"); of != nil {
		c.of = of.json
	}
	return &c
}

// validStems returns for which stems the kept elements still apply: all of the
// stem are as they were, and no other was added.
func (e *elements) validStems(changes *elements) map[string]bool {
	valid := map[string]bool{}
	for i := range changes.fields {
		name := changes.fields[i].name
		c := changes.change(name)
		is := e.get(name)
		if name == "text" {
			is = &elementText{json: e.fingerprint(describedByNarrative)}
		}
		as := stem(e.resourceType, name)
		same := c != nil && sameElement(is.present(), c.was.present()) &&
			(c.of == nil || bytes.Equal(c.of, e.fingerprint(interpreted)))
		if before, known := valid[as]; same && known {
			same = before
		}
		valid[as] = same
	}
	for i := range e.fields {
		name := e.fields[i].name
		if as := stem(e.resourceType, name); changes.get(name) == nil && valid[as] {
			valid[as] = false
		}
	}
	return valid
}
