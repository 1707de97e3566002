// Package reference parses an OpenAPI document into the content of the API
// reference: operations by tag, parameters, bodies, responses, schemas and
// examples. internal/portal renders the pages. Unknown parts of the document
// are errors, so that the reference cannot silently omit anything.
package reference

import (
	"encoding/json"
	"fmt"
	"html/template"
	"strings"
)

// Document is the content of the reference.
type Document struct {
	Title, Version, Summary string
	// Description applies to all operations.
	Description template.HTML
	Tags        []*Tag
	// Schemas are the components. Nested components are only named.
	Schemas []*Schema

	operations map[string]*Operation
	tagOf      map[string]*Tag
}

// Tag is a group of operations.
type Tag struct {
	Name, Slug  string
	Description template.HTML
	Operations  []*Operation
}

// Operation returns the operation with this operationId and its tag, or nil
// for both.
func (d *Document) Operation(id string) (*Operation, *Tag) {
	return d.operations[id], d.tagOf[id]
}

// reader parses one document.
type reader struct {
	root     json.RawMessage
	markdown func(string) template.HTML
	// objects caches the objects reached through references, by pointer, and
	// answers the responses shared by operations.
	objects map[string]map[string]json.RawMessage
	answers map[string]Answer
}

// Read parses a document in JSON. markdown renders its descriptions.
func Read(document []byte, markdown func(string) template.HTML) (*Document, error) {
	r := &reader{document, markdown, map[string]map[string]json.RawMessage{}, map[string]Answer{}}
	var o struct {
		Info struct{ Title, Version, Summary, Description string }
		Tags []struct{ Name, Description string }

		Paths, Webhooks json.RawMessage
		Components      struct{ Schemas json.RawMessage }
	}
	if err := json.Unmarshal(document, &o); err != nil {
		return nil, err
	}
	d := &Document{
		Title: o.Info.Title, Version: o.Info.Version, Summary: o.Info.Summary, Description: markdown(o.Info.Description),
		operations: map[string]*Operation{}, tagOf: map[string]*Tag{},
	}
	for _, t := range o.Tags {
		d.Tags = append(d.Tags, &Tag{Name: t.Name, Slug: slug(t.Name), Description: markdown(t.Description)})
	}
	if err := r.paths(d, o.Paths, false); err != nil {
		return nil, err
	}
	events := &Tag{Name: "Webhook events", Slug: "webhook-events", Description: markdown("What the service sends to the endpoints that subscribed.")}
	d.Tags = append(d.Tags, events)
	if err := r.paths(d, o.Webhooks, true); err != nil {
		return nil, err
	}
	schemas, err := members(o.Components.Schemas)
	if err != nil {
		return nil, err
	}
	for _, m := range schemas {
		s, err := r.schema(m.value, true, m.name)
		if err != nil {
			return nil, fmt.Errorf("schema %s: %w", m.name, err)
		}
		s.Name = m.name
		d.Schemas = append(d.Schemas, s)
	}
	return d, nil
}

// slug returns a name in the form used in URLs.
func slug(name string) string { return strings.ReplaceAll(strings.ToLower(name), " ", "-") }

// paths parses the operations of all paths, or of all webhooks if sent is set.
func (r *reader) paths(d *Document, raw json.RawMessage, sent bool) error {
	if len(raw) == 0 {
		return nil
	}
	paths, err := members(raw)
	if err != nil {
		return err
	}
	for _, path := range paths {
		item, err := members(path.value)
		if err != nil {
			return fmt.Errorf("%s: %w", path.name, err)
		}
		var shared []json.RawMessage
		for _, m := range item {
			if m.name == "parameters" {
				if shared, err = items(m.value); err != nil {
					return fmt.Errorf("%s: %w", path.name, err)
				}
				continue
			}
			op, err := r.operation(m.name, path.name, m.value, shared)
			if err != nil {
				return fmt.Errorf("%s %s: %w", m.name, path.name, err)
			}
			if op.Sent = sent; sent {
				op.tag = "Webhook events"
			}
			if err := d.add(op); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *Document) add(op *Operation) error {
	if d.operations[op.ID] != nil {
		return fmt.Errorf("the operation %s is there twice", op.ID)
	}
	for _, t := range d.Tags {
		if t.Name == op.tag {
			t.Operations = append(t.Operations, op)
			d.operations[op.ID], d.tagOf[op.ID] = op, t
			return nil
		}
	}
	return fmt.Errorf("the tag %s of %s is not declared", op.tag, op.ID)
}

// resolve returns a value, or what it refers to.
func (r *reader) resolve(raw json.RawMessage) (json.RawMessage, error) {
	var o struct {
		Ref json.RawMessage `json:"$ref"`
	}
	if err := json.Unmarshal(raw, &o); err != nil || len(o.Ref) == 0 {
		return raw, err
	}
	found, _, err := r.follow(o.Ref)
	return found, err
}

// follow returns the target of a reference and its name.
func (r *reader) follow(ref json.RawMessage) (found json.RawMessage, name string, err error) {
	pointer, local := strings.CutPrefix(plain(ref), "#/")
	if !local {
		return nil, "", fmt.Errorf("%s leads out of the document", ref)
	}
	name = pointer[strings.LastIndex(pointer, "/")+1:]
	found, err = r.at(pointer)
	if err != nil {
		return nil, "", fmt.Errorf("%s leads nowhere", ref)
	}
	return found, name, nil
}

// at returns the value at a pointer. Objects on the way are parsed once.
func (r *reader) at(pointer string) (json.RawMessage, error) {
	if pointer == "" {
		return r.root, nil
	}
	parent, name := "", pointer
	if i := strings.LastIndex(pointer, "/"); i >= 0 {
		parent, name = pointer[:i], pointer[i+1:]
	}
	object, known := r.objects[parent]
	if !known {
		raw, err := r.at(parent)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(raw, &object); err != nil {
			return nil, err
		}
		r.objects[parent] = object
	}
	if object[name] == nil {
		return nil, fmt.Errorf("there is no %s", pointer)
	}
	return object[name], nil
}
