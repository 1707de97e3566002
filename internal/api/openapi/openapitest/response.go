package openapitest

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// response is the specification of one response.
type response struct {
	headers []header
	// content has the schemas of the body by media type. It is empty if there
	// is no body.
	content map[string]*jsonschema.Schema
}

type header struct {
	name     string
	required bool
	schema   *jsonschema.Schema
}

func (d *document) compileResponse(at string) (*response, error) {
	raw, at, err := d.resolve(at)
	if err != nil {
		return nil, err
	}
	r := &response{content: make(map[string]*jsonschema.Schema)}
	headers, _ := raw["headers"].(object)
	for name := range headers {
		definition, where, err := d.resolve(pointer(at, "headers", name))
		if err != nil {
			return nil, err
		}
		schema, err := d.schema(pointer(where, "schema"))
		if err != nil {
			return nil, err
		}
		required, _ := definition["required"].(bool)
		r.headers = append(r.headers, header{name, required, schema})
	}
	slices.SortFunc(r.headers, func(a, b header) int { return strings.Compare(a.name, b.name) })
	content, _ := raw["content"].(object)
	for mediaType := range content {
		if r.content[mediaType], err = d.schema(pointer(at, "content", mediaType, "schema")); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// checkHeaders lists headers that are missing or invalid.
func (r *response) checkHeaders(got http.Header) (faults []string) {
	for _, h := range r.headers {
		value, present := lookup(got, h.name)
		if !present {
			if h.required {
				faults = append(faults, "header "+h.name+" is missing")
			}
			continue
		}
		if err := h.check(value); err != nil {
			faults = append(faults, fmt.Sprintf("header %s: %s", h.name, brief(err)))
		}
	}
	return faults
}

// check validates a value as a string and as a number. It tries a number first
// if the value looks like one, because producing the error for a failed string
// check is expensive.
func (h *header) check(value string) error {
	if value != "" && '0' <= value[0] && value[0] <= '9' {
		if number, notJSON := jsonschema.UnmarshalJSON(strings.NewReader(value)); notJSON == nil && h.schema.Validate(number) == nil {
			return nil
		}
	}
	err := h.schema.Validate(value)
	if err == nil {
		return nil
	}
	if number, notJSON := jsonschema.UnmarshalJSON(strings.NewReader(value)); notJSON == nil {
		return h.schema.Validate(number)
	}
	return err
}

// lookup finds a header regardless of case: unlike a connection, a recorder
// does not canonicalise names.
func lookup(headers http.Header, name string) (string, bool) {
	if values := headers.Values(name); len(values) > 0 {
		return strings.Join(values, ", "), true
	}
	for key, values := range headers {
		if strings.EqualFold(key, name) && len(values) > 0 {
			return strings.Join(values, ", "), true
		}
	}
	return "", false
}

// checkBody lists the errors in a body or its media type.
func (r *response) checkBody(contentType string, body []byte) (faults []string) {
	if len(r.content) == 0 {
		if len(body) > 0 {
			return []string{"there is a body, and none is documented"}
		}
		return nil
	}
	mediaType, _, err := mime.ParseMediaType(contentType)
	if len(body) == 0 && mediaType != "application/x-ndjson" { // which has a line for each row
		return []string{"the body is empty"}
	}
	if err != nil {
		return []string{fmt.Sprintf("Content-Type %q: %v", contentType, err)}
	}
	schema, ok := r.content[mediaType]
	if !ok {
		return []string{"media type " + mediaType + " is not documented"}
	}
	if mediaType != "application/json" {
		return nil
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return []string{"the body is not JSON: " + err.Error()}
	}
	if err := schema.Validate(value); err != nil {
		return []string{"body: " + brief(err)}
	}
	return nil
}

// brief returns the message of a failed validation on one line.
func brief(err error) string {
	const most = 400
	// The first line only names the schema.
	if _, rest, found := strings.Cut(err.Error(), "\n"); found {
		text := strings.Join(strings.Fields(rest), " ")
		if len(text) > most {
			text = strings.ToValidUTF8(text[:most], "") + "..."
		}
		return text
	}
	return err.Error()
}
