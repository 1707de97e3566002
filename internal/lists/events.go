package lists

import (
	"bytes"
	"fmt"
	"strings"

	"anodyne.example/anodyne/internal/event"
)

func eventTypes() []string { return []string{flow(anys(texts(event.Types()))...)} }

func subscriptions() []string {
	return []string{flow(anys(texts(append([]event.Type{event.All}, event.Types()...)))...)}
}

func deliveredTypes() []string {
	return []string{flow(anys(texts(append(event.Types(), event.Test)))...)}
}

// withEventTypes adds the types of every schema of events to the parts of the
// OpenAPI document.
func withEventTypes(parts map[string]map[string]func() []string) map[string]map[string]func() []string {
	for _, d := range event.Declared() {
		parts[openapi]["types of "+d.Schema] = typesOf(d.Schema)
	}
	return parts
}

// typesOf returns a function that generates the schema of the event types whose
// payload has the given schema.
func typesOf(schema string) func() []string {
	return func() []string {
		var types []any
		for _, d := range event.Declared() {
			if d.Schema == schema {
				types = append(types, string(d.Type))
			}
		}
		if len(types) == 1 {
			return []string{"{const: " + flowOne(types[0]) + "}"}
		}
		return []string{"{enum: " + flow(types...) + "}"}
	}
}

// webhooks returns the operations that a receiver implements.
func webhooks() (lines []string) {
	for _, d := range event.Declared() {
		goName := camelEvent(d.Type)
		text := string(d.Type) + `:
  post:
    operationId: ` + strings.ToLower(goName[:1]) + goName[1:] + `
    tags: [Webhooks]
    summary: ` + scalar(d.Summary) + `
    description: Sent at least once to every webhook that subscribes to the event; ` + "`webhook-id`" + ` is the same for all attempts. Contains identifiers only; use them with a token to read the data.
    security: []
    parameters:
      - $ref: '#/components/parameters/DeliveredID'
      - $ref: '#/components/parameters/DeliveredAt'
      - $ref: '#/components/parameters/DeliveredSignature'
    requestBody:
      required: true
      content:
        application/json:
          schema: {$ref: '#/components/schemas/` + d.Schema + `'}
          examples:
            event:
              summary: The event as sent
              value:
                id: evt_01kf0t4na0pgrp1yyh5hvq4yyk
                type: ` + string(d.Type) + `
                timestamp: '2026-01-15T12:30:00Z'
                data: ` + d.Data + `
    responses:
      2XX: {description: The event was delivered.}
      '410': {description: The receiver no longer wants events. The webhook is disabled.}
      default: {description: The delivery will be retried.}`
		lines = append(lines, strings.Split(text, "\n")...)
	}
	return lines
}

// camelEvent returns the Go name of an event.
func camelEvent(t event.Type) string { return camel(strings.ReplaceAll(string(t), ".", "_")) }

func eventTable() []string {
	return table("| event | sent when |", event.Declared(), func(d event.Declaration) string { return fmt.Sprintf("| `%s` | %s |", d.Type, d.SentWhen) })
}

func eventConstants(b *bytes.Buffer) {
	b.WriteString("\n// EventType is the name of an event.\ntype EventType string\n\n// The events of the service.\nconst (\n")
	for _, t := range event.Types() {
		fmt.Fprintf(b, "Event%s EventType = %q\n", camelEvent(t), t)
	}
	b.WriteString(")\n")
}
