package reference

import (
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"
)

// Schema describes the possible values of a field or body.
type Schema struct {
	// Name is the name of the component, if it is one.
	Name, Title string
	// Type is a description such as "string (date) or null" or "array of
	// Patient".
	Type        string
	Description template.HTML
	// Rules are constraints in plain English; Pattern is a regular expression.
	Rules    []string
	Pattern  string
	Values   []string
	Examples []string
	Members  []Member
	// Items describes the items of an array, if there is more to show than
	// their type.
	Items *Schema
	// Choices are the alternatives of a value.
	Choices []*Schema
	// Again is set for a component nested in itself, or one that is only named.
	Again bool

	types, required []string
	format          string
}

// Member is a property of an object. A property of any name is called "*".
type Member struct {
	Name     string
	Required bool
	*Schema
}

// Deep reports whether there is something to expand.
func (s *Schema) Deep() bool {
	return len(s.Members) > 0 || len(s.Choices) > 0 || s.Items != nil
}

// Inside describes what can be expanded.
func (s *Schema) Inside() string {
	switch {
	case s.Items != nil && s.Items.Name != "":
		return "each " + s.Items.Name
	case s.Items != nil:
		return "each item"
	case s.Name != "":
		return s.Name
	case len(s.Choices) > 0:
		return "its forms"
	}
	return "its members"
}

// schema parses a schema. within lists the enclosing components. If shallow is
// set, nested components are named and not expanded.
func (r *reader) schema(raw json.RawMessage, shallow bool, within ...string) (*Schema, error) {
	s := &Schema{}
	if string(raw) == "true" || string(raw) == "false" {
		s.Type = map[string]string{"true": "anything", "false": "absent"}[string(raw)]
		return s, nil
	}
	object, err := members(raw)
	if err != nil {
		return nil, err
	}
	var least, most [4]string // of numbers, characters, items, properties
	for _, m := range object {
		if err := r.keyword(s, m, &least, &most, shallow, within); err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
	}
	for i, unit := range []string{"", " characters", " items", " members"} {
		if rule := bounds(least[i], most[i], unit); rule != "" {
			s.Rules = append(s.Rules, rule)
		}
	}
	for i := range s.Members {
		s.Members[i].Required = s.Members[i].Required || slices.Contains(s.required, s.Members[i].Name)
	}
	s.dropNull()
	s.Type = s.inWords()
	return s, nil
}

// keyword processes one keyword of a schema. Unknown keywords are errors, so
// that nothing is omitted by accident.
func (r *reader) keyword(s *Schema, m member, least, most *[4]string, shallow bool, within []string) (err error) {
	switch m.name {
	case "$ref":
		return r.component(s, m.value, shallow, within)
	case "allOf":
		return r.all(s, m.value, shallow, within)
	case "oneOf", "anyOf":
		list, err := items(m.value)
		if err != nil {
			return err
		}
		for _, raw := range list {
			choice, err := r.schema(raw, shallow, within...)
			if err != nil {
				return err
			}
			s.Choices = append(s.Choices, choice)
		}
	case "type":
		if json.Unmarshal(m.value, &s.types) != nil {
			s.types = []string{plain(m.value)}
		}
	case "format":
		s.format = plain(m.value)
	case "title":
		s.Title = plain(m.value)
	case "description":
		s.Description = r.markdown(plain(m.value))
	case "properties":
		return r.properties(s, m.value, shallow, within)
	case "additionalProperties":
		if string(m.value) == "true" || string(m.value) == "false" {
			return nil // stated once for the whole API
		}
		any, err := r.schema(m.value, shallow, within...)
		if err != nil {
			return err
		}
		s.add(Member{"*", false, any})
	case "required":
		return json.Unmarshal(m.value, &s.required)
	case "items":
		s.Items, err = r.schema(m.value, shallow, within...)
		return err
	case "enum":
		list, err := items(m.value)
		for _, v := range list {
			s.Values = append(s.Values, shownValue(v))
		}
		return err
	case "const":
		s.Values = []string{shownValue(m.value)}
	case "examples":
		list, err := items(m.value)
		for _, v := range list {
			s.Examples = append(s.Examples, shownValue(v))
		}
		return err
	case "pattern":
		s.Pattern = plain(m.value)
	case "default":
		s.Rules = append(s.Rules, "by default "+shownValue(m.value))
	case "uniqueItems":
		s.Rules = append(s.Rules, "nothing twice")
	case "exclusiveMinimum":
		s.Rules = append(s.Rules, "above "+plain(m.value))
	case "minimum", "minLength", "minItems", "minProperties":
		least[place(m.name)] = plain(m.value)
	case "maximum", "maxLength", "maxItems", "maxProperties":
		most[place(m.name)] = plain(m.value)
	case "unevaluatedProperties", "propertyNames", "if", "then", "else", "dependentSchemas", "dependentRequired",
		"discriminator", "contentMediaType": // more detail than the reference shows
	default:
		return fmt.Errorf("the keyword is not known")
	}
	return nil
}

// place returns the index of a limit in the list of limits.
func place(keyword string) int {
	switch {
	case strings.HasSuffix(keyword, "Length"):
		return 1
	case strings.HasSuffix(keyword, "Items"):
		return 2
	case strings.HasSuffix(keyword, "Properties"):
		return 3
	}
	return 0
}

func bounds(least, most, unit string) string {
	least, most = thousands(least), thousands(most)
	switch {
	case least == "" && most == "", least == "0" && most == "" && unit != "":
		return ""
	case least == most:
		return least + unit
	case most == "":
		return "at least " + least + unit
	case least == "", least == "0" && unit != "":
		return "at most " + most + unit
	}
	return least + " to " + most + unit
}

// thousands adds commas to a number of at least five digits.
func thousands(s string) string {
	if _, err := strconv.Atoi(s); err != nil || len(s) < 5 {
		return s
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func shownValue(raw json.RawMessage) string {
	if s := plain(raw); s != "" {
		return s
	}
	return `""`
}

// component processes the target of a reference.
func (r *reader) component(s *Schema, raw json.RawMessage, shallow bool, within []string) error {
	at, name, err := r.follow(raw)
	if err != nil {
		return err
	}
	// For a simple value, the name says less than the type.
	if slices.Contains(within, name) {
		s.Name, s.Again = name, true
		return nil
	}
	whole, err := r.schema(at, shallow, append(slices.Clone(within), name)...)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if shallow && whole.Deep() && len(within) > 0 {
		*whole = Schema{Description: whole.Description, Again: true, types: whole.types, format: whole.format}
	}
	if whole.Deep() || whole.Again {
		whole.Name = name
	}
	s.narrow(whole)
	return nil
}

func (r *reader) all(s *Schema, raw json.RawMessage, shallow bool, within []string) error {
	list, err := items(raw)
	if err != nil {
		return err
	}
	for _, part := range list {
		one, err := r.schema(part, shallow, within...)
		if err != nil {
			return err
		}
		s.narrow(one)
	}
	return nil
}

func (r *reader) properties(s *Schema, raw json.RawMessage, shallow bool, within []string) error {
	object, err := members(raw)
	if err != nil {
		return err
	}
	for _, m := range object {
		value, err := r.schema(m.value, shallow, within...)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		s.add(Member{m.name, false, value})
	}
	return nil
}

// add adds a property, or merges it with the one of the same name.
func (s *Schema) add(m Member) {
	for i := range s.Members {
		if s.Members[i].Name == m.Name {
			s.Members[i].Required = s.Members[i].Required || m.Required
			s.Members[i].narrow(m.Schema)
			return
		}
	}
	s.Members = append(s.Members, m)
}

// narrow adds the constraints of another schema for the same value, which
// takes precedence.
func (s *Schema) narrow(by *Schema) {
	for _, text := range []struct{ to, from *string }{{&s.Name, &by.Name}, {&s.Title, &by.Title}, {&s.Pattern, &by.Pattern}, {&s.format, &by.format}} {
		if *text.from != "" {
			*text.to = *text.from
		}
	}
	for _, list := range []struct{ to, from *[]string }{{&s.Values, &by.Values}, {&s.types, &by.types}, {&s.Examples, &by.Examples}} {
		if len(*list.from) > 0 {
			*list.to = *list.from
		}
	}
	if by.Description != "" && s.Description == "" {
		s.Description = by.Description
	}
	s.Rules = append(s.Rules, by.Rules...)
	s.required = append(s.required, by.required...)
	s.Choices = append(s.Choices, by.Choices...)
	s.Again = s.Again || by.Again
	if by.Items != nil {
		s.Items = by.Items
	}
	for _, m := range by.Members {
		s.add(m)
	}
	s.Type = s.inWords()
}

// dropNull turns "one of this and null" into "this or null".
func (s *Schema) dropNull() {
	rest := slices.DeleteFunc(slices.Clone(s.Choices), func(c *Schema) bool { return slices.Equal(c.types, []string{"null"}) })
	if len(rest) == len(s.Choices) || len(rest) != 1 {
		return
	}
	s.Choices = nil
	s.narrow(rest[0])
	if !slices.Contains(s.types, "null") {
		s.types = append(slices.Clone(s.types), "null")
	}
}

// inWords returns the type as shown to readers.
func (s *Schema) inWords() string {
	var words []string
	for _, t := range s.types {
		switch {
		case t == "array" && s.Items != nil && s.Items.Name != "":
			t = "array of " + s.Items.Name
		case t == "array" && s.Items != nil && s.Items.Type != "":
			t = "array of " + s.Items.Type
		case t == "object" && s.Name != "":
			t = s.Name
		case t == "string" && s.format != "":
			t += " (" + s.format + ")"
		}
		words = append(words, t)
	}
	switch {
	case len(words) > 0:
		return strings.Join(words, " or ")
	case s.Name != "":
		return s.Name
	case len(s.Members) > 0:
		return "object"
	case len(s.Choices) > 0:
		return "one of " + strconv.Itoa(len(s.Choices)) + " forms"
	case len(s.Values) > 0:
		return "string"
	}
	return "anything"
}
