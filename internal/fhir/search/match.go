package search

import (
	"cmp"
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/pain"
)

// Matches reports whether a resource meets the conditions on itself. The
// resource is decoded JSON.
func (q *Query) Matches(resource map[string]any) bool { return all(q.Conditions, resource) }

// MatchesPatient reports whether a Patient meets the conditions on the patient
// of a resource.
func (q *Query) MatchesPatient(patient map[string]any) bool { return all(q.OfPatient, patient) }

func all(conditions []Condition, resource map[string]any) bool {
	for i := range conditions {
		if !conditions[i].matches(resource) {
			return false
		}
	}
	return true
}

func (c *Condition) matches(resource map[string]any) bool {
	var elements []any
	for _, path := range c.Paths {
		elements = append(elements, at(resource, path)...)
	}
	switch c.Modifier {
	case "missing":
		return (len(elements) == 0) == c.values[0].missing
	case "not":
		return !slices.ContainsFunc(elements, c.matchesElement)
	}
	return slices.ContainsFunc(elements, c.matchesElement)
}

// matchesElement reports whether an element matches one of the values.
func (c *Condition) matchesElement(element any) bool {
	switch c.Kind {
	case Token:
		for _, target := range c.tokens(element) {
			if slices.ContainsFunc(c.values, func(v value) bool { return v.matchToken(target) }) {
				return true
			}
		}
		return false
	case Date:
		low, up, ok := dateOf(element)
		return ok && slices.ContainsFunc(c.values, func(v value) bool { return v.matchDate(low, up) })
	case Reference:
		object, _ := element.(map[string]any)
		target, _ := object["reference"].(string)
		return slices.ContainsFunc(c.values, func(v value) bool { return v.text == target })
	}
	text, _ := element.(string)
	return slices.ContainsFunc(c.values, func(v value) bool { return v.matchString(text, c.Modifier) })
}

func (v *value) matchString(text, modifier string) bool {
	switch modifier {
	case "exact":
		return text == v.text
	case "contains":
		return strings.Contains(pain.Fold(text), pain.Fold(v.text))
	}
	return strings.HasPrefix(pain.Fold(text), pain.Fold(v.text))
}

func (v *value) matchToken(target Exact) bool {
	return (v.any || v.system == target.System) && (v.text == target.Value || v.text == "" && target.Value != "")
}

// tokens returns the codes of an element: a CodeableConcept, Coding, Identifier
// or plain code.
func (c *Condition) tokens(element any) (list []Exact) {
	switch e := element.(type) {
	case string:
		return []Exact{{c.System, e}, {"", e}}
	case map[string]any:
		if codings, ok := e["coding"].([]any); ok {
			for _, coding := range codings {
				list = append(list, c.tokens(coding)...)
			}
			return list
		}
		system, _ := e["system"].(string)
		for _, name := range []string{"code", "value"} {
			if text, ok := e[name].(string); ok {
				list = append(list, Exact{system, text})
			}
		}
	}
	return list
}

// at returns the elements at a path.
func at(element any, path string) []any {
	if list, ok := element.([]any); ok {
		var found []any
		for _, one := range list {
			found = append(found, at(one, path)...)
		}
		return found
	}
	if path == "" {
		return []any{element}
	}
	object, ok := element.(map[string]any)
	if !ok {
		return nil
	}
	name, rest, _ := strings.Cut(path, ".")
	child, ok := object[name]
	if !ok {
		return nil
	}
	return at(child, rest)
}

// Order is one parameter by which results are sorted.
type Order struct {
	Parameter
	Descending bool
}

// ParseOrder parses the value of _sort.
func ParseOrder(resourceType, text string) (orders []Order, _ *Error) {
	for _, name := range strings.Split(text, ",") {
		bare, descending := strings.CutPrefix(name, "-")
		p := find(resourceType, bare)
		if p == nil || p.Kind == Reference {
			return nil, &Error{Parameter: "_sort", Text: "must name parameters of " + resourceType + " other than references."}
		}
		orders = append(orders, Order{*p, descending})
	}
	return orders, nil
}

// Key is where a resource is in an order: a value for each parameter.
type Key []keyValue

type keyValue struct {
	Number  int64  `json:"n,omitempty"`
	Text    string `json:"t,omitempty"`
	Missing bool   `json:"m,omitempty"`
}

func (k keyValue) compare(other keyValue) int {
	return cmp.Or(cmp.Compare(k.Number, other.Number), cmp.Compare(k.Text, other.Text))
}

// KeyOf returns where a resource is in an order.
func KeyOf(orders []Order, resource map[string]any) Key {
	key := make(Key, len(orders))
	for i := range orders {
		key[i] = orders[i].key(resource)
	}
	return key
}

// Compare compares the keys of two resources. Those without a value come last.
func Compare(orders []Order, a, b Key) int {
	for i := range orders {
		c := a[i].compare(b[i])
		switch x, y := a[i].Missing, b[i].Missing; {
		case x && y:
			c = 0
		case x:
			c = 1
		case y:
			c = -1
		case orders[i].Descending:
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// key returns the first value of a resource, or the last one in descending
// order.
func (o *Order) key(resource map[string]any) keyValue {
	key := keyValue{Missing: true}
	c := Condition{Parameter: o.Parameter}
	for _, path := range o.Paths {
		for _, element := range at(resource, path) {
			one, ok := c.sortKey(element)
			if ok && (key.Missing || (one.compare(key) < 0) != o.Descending) {
				key = one
			}
		}
	}
	return key
}

func (c *Condition) sortKey(element any) (key keyValue, ok bool) {
	switch c.Kind {
	case Date:
		key.Number, _, ok = dateOf(element)
		return key, ok
	case Token:
		list := c.tokens(element)
		if len(list) == 0 {
			return key, false
		}
		return keyValue{Text: clip(list[0].Value)}, true
	}
	text, ok := element.(string)
	return keyValue{Text: clip(pain.Fold(text))}, ok
}

// clip bounds a text by which resources are ordered, because it is part of an
// address.
func clip(text string) string {
	const most = 200
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}
