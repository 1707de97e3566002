package openapitest

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Delivered reports a body that was sent to a webhook and is not as the
// document has the event of its type. The schemas name every member, so what
// they let through is identifiers and words of closed lists.
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

// compileDelivered compiles the bodies of the webhooks.
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
