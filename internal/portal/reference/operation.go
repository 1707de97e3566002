package reference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Operation is an operation of the API, or an event sent to webhooks.
type Operation struct {
	ID, Method, Path, Summary string
	Description               template.HTML
	// Auth is the authentication scheme: "bearer", "basic" or "".
	Auth   string
	Scopes []string
	// Sent is set for events, which the service sends.
	Sent       bool
	Parameters []Parameter
	Body       *Body
	// Answers are the successful responses, Errors the others.
	Answers, Errors []Answer

	tag string
}

// Parameter is a path, query or header parameter.
type Parameter struct {
	Name, In    string
	Required    bool
	Description template.HTML
	Schema      *Schema
	Examples    []Example
}

// Example is an example value.
type Example struct{ Summary, Text string }

// Body is a request body.
type Body struct {
	Required    bool
	Description template.HTML
	Media       []Media
}

// Media is a body in one format, or in several equivalent ones.
type Media struct {
	Types    []string
	Schema   *Schema
	Examples []Example
}

// Answer is a possible response.
type Answer struct {
	Status      string
	Description template.HTML
	Headers     []Parameter
	Media       []Media
	// Codes are the possible error codes.
	Codes []string
}

// Word returns the name of the status.
func (a Answer) Word() string {
	n, err := strconv.Atoi(a.Status)
	if err != nil {
		return ""
	}
	return http.StatusText(n)
}

// operation parses an operation. shared are the parameters of its path.
func (r *reader) operation(method, path string, raw json.RawMessage, shared []json.RawMessage) (*Operation, error) {
	var o struct {
		OperationID, Summary, Description string
		Tags                              []string
		Security                          []map[string][]string
		Parameters                        []json.RawMessage
		RequestBody, Responses            json.RawMessage
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, err
	}
	if o.OperationID == "" || len(o.Tags) != 1 {
		return nil, fmt.Errorf("want an operationId and one tag")
	}
	op := &Operation{ID: o.OperationID, Method: strings.ToUpper(method), Path: path, Summary: o.Summary, Description: r.markdown(o.Description), tag: o.Tags[0]}
	for _, way := range o.Security {
		if scopes, is := way["oauth2"]; is {
			op.Auth, op.Scopes = "bearer", scopes
		} else if _, is := way["clientBasic"]; is {
			op.Auth = "basic"
		}
	}
	for _, raw := range append(slices.Clone(shared), o.Parameters...) {
		p, err := r.parameter(raw)
		if err != nil {
			return nil, err
		}
		op.Parameters = append(op.Parameters, p)
	}
	if len(o.RequestBody) > 0 {
		if err := r.body(op, o.RequestBody); err != nil {
			return nil, err
		}
	}
	answers, err := members(o.Responses)
	if err != nil {
		return nil, err
	}
	for _, m := range answers {
		a, err := r.answer(m.name, m.value)
		if err != nil {
			return nil, fmt.Errorf("answer %s: %w", m.name, err)
		}
		if m.name < "4" {
			op.Answers = append(op.Answers, a)
		} else {
			op.Errors = append(op.Errors, a)
		}
	}
	return op, nil
}

func (r *reader) parameter(raw json.RawMessage) (p Parameter, err error) {
	raw, err = r.resolve(raw)
	if err != nil {
		return p, err
	}
	var o struct {
		Name, In, Description     string
		Required                  bool
		Schema, Example, Examples json.RawMessage
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return p, err
	}
	p = Parameter{Name: o.Name, In: o.In, Required: o.Required, Description: r.markdown(o.Description)}
	if p.Schema, err = r.schema(o.Schema, false); err != nil {
		return p, fmt.Errorf("parameter %s: %w", o.Name, err)
	}
	p.Examples, err = r.examples(o.Example, o.Examples, plain)
	return p, err
}

func (r *reader) body(op *Operation, raw json.RawMessage) error {
	raw, err := r.resolve(raw)
	if err != nil {
		return err
	}
	var o struct {
		Required    bool
		Description string
		Content     json.RawMessage
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return err
	}
	op.Body = &Body{Required: o.Required, Description: r.markdown(o.Description)}
	op.Body.Media, err = r.media(o.Content)
	return err
}

func (r *reader) media(raw json.RawMessage) (list []Media, err error) {
	if len(raw) == 0 {
		return nil, nil
	}
	object, err := members(raw)
	if err != nil {
		return nil, err
	}
	var last json.RawMessage
	for _, m := range object {
		var o struct{ Schema, Example, Examples json.RawMessage }
		if err := json.Unmarshal(m.value, &o); err != nil {
			return nil, err
		}
		examples, err := r.examples(o.Example, o.Examples, printer(m.name))
		if err != nil {
			return nil, err
		}
		if len(list) > 0 && bytes.Equal(o.Schema, last) {
			same := &list[len(list)-1]
			same.Types, same.Examples = append(same.Types, m.name), append(same.Examples, examples...)
			continue
		}
		last = o.Schema
		one := Media{Types: []string{m.name}, Examples: examples}
		if len(o.Schema) > 0 {
			if one.Schema, err = r.schema(o.Schema, false); err != nil {
				return nil, err
			}
		}
		list = append(list, one)
	}
	return list, nil
}

// printer returns the formatter for examples of a media type.
func printer(mediaType string) func(json.RawMessage) string {
	switch {
	case mediaType == "application/x-www-form-urlencoded":
		return asForm
	case strings.HasSuffix(mediaType, "json"):
		return pretty
	}
	return plain
}

func (r *reader) examples(one, several json.RawMessage, print func(json.RawMessage) string) (list []Example, err error) {
	if len(one) > 0 {
		list = append(list, Example{Text: print(one)})
	}
	if len(several) == 0 {
		return list, nil
	}
	object, err := members(several)
	if err != nil {
		return nil, err
	}
	for _, m := range object {
		raw, err := r.resolve(m.value)
		if err != nil {
			return nil, err
		}
		var o struct {
			Summary string
			Value   json.RawMessage
		}
		if err := json.Unmarshal(raw, &o); err != nil {
			return nil, err
		}
		list = append(list, Example{o.Summary, print(o.Value)})
	}
	return list, nil
}

// answer parses a response. Responses shared by several operations are parsed
// once.
func (r *reader) answer(status string, raw json.RawMessage) (a Answer, err error) {
	shared := string(raw)
	if known, is := r.answers[shared]; is {
		known.Status = status
		return known, nil
	}
	defer func() {
		if err == nil && len(shared) < 100 {
			r.answers[shared] = a
		}
	}()
	if raw, err = r.resolve(raw); err != nil {
		return a, err
	}
	var o struct {
		Description      string
		Headers, Content json.RawMessage
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return a, err
	}
	a = Answer{Status: status, Description: r.markdown(o.Description)}
	if a.Media, err = r.media(o.Content); err != nil {
		return a, err
	}
	for _, m := range a.Media {
		a.Codes = codes(m.Schema, a.Codes)
	}
	if len(o.Headers) == 0 {
		return a, nil
	}
	headers, err := members(o.Headers)
	if err != nil {
		return a, err
	}
	for _, m := range headers {
		p, err := r.parameter(m.value)
		if err != nil {
			return a, err
		}
		p.Name, p.In = m.name, "header"
		a.Headers = append(a.Headers, p)
	}
	return a, nil
}

// codes collects the possible values of error.code, in all variants.
func codes(s *Schema, list []string) []string {
	if s == nil {
		return list
	}
	before := len(list)
	for _, choice := range s.Choices {
		list = codes(choice, list)
	}
	if len(list) > before {
		return list // the variants are more specific
	}
	for _, m := range s.Members {
		if m.Name != "error" {
			continue
		}
		for _, of := range m.Members {
			if of.Name == "code" {
				list = append(list, of.Values...)
			}
		}
	}
	return list
}
