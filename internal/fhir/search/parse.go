package search

import (
	"slices"
	"strings"
	"time"
)

// Query is the conditions of a search. A resource must meet all of them.
type Query struct {
	Type       string
	Conditions []Condition
	// OfPatient are conditions on the patient of a resource: chained ones.
	OfPatient []Condition
}

// Condition is a parameter with a list of values, one of which must match.
type Condition struct {
	Parameter
	Modifier string
	values   []value
}

// value is one value of a condition, by the kind of its parameter.
type value struct {
	text    string // String, Reference; the code of a Token
	system  string // Token
	any     bool   // Token: any system
	prefix  string // Date
	low, up int64  // Date: the range of the value
	missing bool   // of the modifier missing
}

// Error is a parameter that cannot be used.
type Error struct {
	Parameter string
	Text      string
	// Unknown is set if the type has no such parameter. Servers may ignore it.
	Unknown bool
}

// Error returns the text, which contains no value.
func (e *Error) Error() string { return e.Parameter + ": " + e.Text }

// Add adds a parameter of a request to the query. base is the address of the
// service, for references that are absolute.
func (q *Query) Add(name, text, base string) *Error {
	if head, rest, chained := strings.Cut(name, "."); chained {
		return q.chain(name, head, rest, text, base)
	}
	c, err := parse(q.Type, name, text, base)
	if err == nil {
		q.Conditions = append(q.Conditions, c)
	}
	return err
}

// chain adds a condition on the patient, such as patient.identifier or
// subject:Patient.name.
func (q *Query) chain(name, head, rest, text, base string) *Error {
	link, kind, _ := strings.Cut(head, ":")
	p := find(q.Type, link)
	if p == nil || p.Kind != Reference {
		return &Error{Parameter: name, Text: "is not a parameter of " + q.Type + ".", Unknown: true}
	}
	if kind != "" && kind != "Patient" {
		return &Error{Parameter: name, Text: "must refer to a Patient."}
	}
	if strings.Contains(rest, ".") {
		return &Error{Parameter: name, Text: "must have one chained parameter, such as patient.identifier."}
	}
	c, err := parse("Patient", rest, text, base)
	if err != nil {
		return &Error{Parameter: name, Text: err.Text, Unknown: err.Unknown}
	}
	q.OfPatient = append(q.OfPatient, c)
	return nil
}

// parse parses a parameter of a resource type.
func parse(resourceType, name, text, base string) (c Condition, _ *Error) {
	bare, modifier, modified := strings.Cut(name, ":")
	p := find(resourceType, bare)
	if p == nil {
		return c, &Error{Parameter: name, Text: "is not a parameter of " + resourceType + ".", Unknown: true}
	}
	c = Condition{Parameter: *p, Modifier: modifier}
	if modified && !slices.Contains(modifiers[p.Kind], modifier) {
		return c, &Error{Parameter: name, Text: "has no such modifier; " + bare + " may have :" + strings.Join(modifiers[p.Kind], ", :") + "."}
	}
	if modifier == "missing" {
		if text != "true" && text != "false" {
			return c, &Error{Parameter: name, Text: "must be true or false."}
		}
		c.values = []value{{missing: text == "true"}}
		return c, nil
	}
	for _, one := range split(text, ',') {
		v, problem := parseValue(p.Kind, one, base)
		if problem != "" {
			return c, &Error{Parameter: name, Text: problem}
		}
		c.values = append(c.values, v)
	}
	return c, nil
}

func parseValue(kind Kind, text, base string) (value, string) {
	switch kind {
	case Token:
		return parseToken(text)
	case Date:
		return parseDate(text)
	case Reference:
		return parseReference(unescape(text), base)
	}
	if text == "" {
		return value{}, "must have a value."
	}
	return value{text: unescape(text)}, ""
}

func parseToken(text string) (value, string) {
	parts := split(text, '|')
	switch {
	case len(parts) == 1 && text != "":
		return value{text: unescape(text), any: true}, ""
	case len(parts) == 2 && (parts[0] != "" || parts[1] != ""):
		return value{system: unescape(parts[0]), text: unescape(parts[1])}, ""
	}
	return value{}, "must be CODE, SYSTEM|CODE, |CODE or SYSTEM|."
}

func parseReference(text, base string) (value, string) {
	reference := strings.TrimPrefix(text, base+"/")
	if id, ok := strings.CutPrefix(reference, "Patient/"); ok {
		reference = id
	}
	if reference == "" || strings.ContainsAny(reference, "/?#|") {
		return value{}, "must be the id of a Patient of this service, such as Patient/ID."
	}
	return value{text: "Patient/" + strings.ToLower(reference)}, ""
}

// split splits a text at a separator that no backslash precedes.
func split(text string, separator byte) (parts []string) {
	from := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case separator:
			parts = append(parts, text[from:i])
			from = i + 1
		}
	}
	return append(parts, text[from:])
}

// unescape removes the backslashes before separators.
func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	b := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && strings.IndexByte(`,|$\`, text[i+1]) >= 0 {
			i++
		}
		b = append(b, text[i])
	}
	return string(b)
}

// Exact returns the values of a parameter that a resource must have, if the
// query has a condition without a modifier on it: a resource that matches has
// one of them. Systems are "" if any will do.
func (q *Query) Exact(name string) (list []Exact, given bool) { return exact(q.Conditions, name) }

// ExactOfPatient is [Query.Exact] for the patient of a resource.
func (q *Query) ExactOfPatient(name string) (list []Exact, given bool) {
	return exact(q.OfPatient, name)
}

// Exact is a value that is compared by equality.
type Exact struct{ System, Value string }

func exact(conditions []Condition, name string) (list []Exact, given bool) {
	for _, c := range conditions {
		if c.Name != name || c.Modifier != "" && c.Modifier != "Patient" {
			continue
		}
		for _, v := range c.values {
			if v.text == "" {
				return nil, false // any value of a system
			}
			list = append(list, Exact{v.system, v.text})
		}
		return list, true
	}
	return nil, false
}

// Has reports whether the query has a condition on a parameter.
func (q *Query) Has(names ...string) bool {
	return slices.ContainsFunc(q.Conditions, func(c Condition) bool { return slices.Contains(names, c.Name) })
}

// Texts returns the values of the first of some string parameters that the query
// has a condition on: a resource that matches has a text that contains one of
// them, as they are compared.
func (q *Query) Texts(names ...string) []string { return texts(q.Conditions, names) }

// TextsOfPatient is [Query.Texts] for the patient of a resource.
func (q *Query) TextsOfPatient(names ...string) []string { return texts(q.OfPatient, names) }

func texts(conditions []Condition, names []string) (list []string) {
	for _, c := range conditions {
		if c.Kind != String || c.Modifier == "missing" || !slices.Contains(names, c.Name) {
			continue
		}
		for _, v := range c.values {
			list = append(list, v.text)
		}
		return list
	}
	return nil
}

// Day returns the day that a date parameter must be equal to, as YYYY-MM-DD, or
// "" if the query has no such condition.
func (q *Query) Day(name string) string { return day(q.Conditions, name) }

// DayOfPatient is [Query.Day] for the patient of a resource.
func (q *Query) DayOfPatient(name string) string { return day(q.OfPatient, name) }

func day(conditions []Condition, name string) string {
	for _, c := range conditions {
		if c.Name != name || c.Modifier != "" || len(c.values) != 1 || c.values[0].prefix != "eq" {
			continue
		}
		if v := c.values[0]; v.up-v.low == (24 * time.Hour).Milliseconds() {
			return time.UnixMilli(v.low).UTC().Format(time.DateOnly)
		}
	}
	return ""
}
