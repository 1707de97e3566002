package openapitest

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Delivered fails the test if a body sent to a webhook does not match the
// schema of its event type. The schemas are closed and allow only identifiers
// and enumerated values.
func Delivered(tb testing.TB, body []byte) {
	tb.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		tb.Errorf("openapi: a delivered body is not JSON: %v", err)
		return
	}
	members, _ := value.(object)
	name, _ := members["type"].(string)
	schema, ok := compiled().delivered[name]
	if !ok {
		tb.Errorf("openapi: the event %q is not documented", name)
		return
	}
	if err := schema.Validate(value); err != nil {
		tb.Errorf("openapi: event %s: %s", name, brief(err))
	}
}

// compileDelivered compiles the schemas of webhook bodies.
func (d *document) compileDelivered() (err error) {
	d.delivered = make(map[string]*jsonschema.Schema)
	webhooks, _ := d.root["webhooks"].(object)
	for name := range webhooks {
		if d.delivered[name], err = d.schema(pointer("#/webhooks", name, "post", "requestBody", "content", "application/json", "schema")); err != nil {
			return err
		}
	}
	return nil
}
