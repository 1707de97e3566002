package webhooks

import (
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
)

// Status returns the state of the endpoint as published.
func (w *Webhook) Status() string {
	if w.Enabled {
		return "enabled"
	}
	return "disabled"
}

// Changes lists the differences of an updated endpoint, for the audit log.
func (w *Webhook) Changes(updated *Webhook) (changes []audit.Change) {
	note := func(field, before, after string) {
		if before != after {
			changes = append(changes, audit.Change{Field: field, Before: before, After: after})
		}
	}
	note("url", w.URL, updated.URL)
	note("events", eventNames(w.Events), eventNames(updated.Events))
	note("description", w.Description, updated.Description)
	note("status", w.Status(), updated.Status())
	return changes
}

func eventNames(events []event.Type) string {
	var b []byte
	for i, t := range events {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, t...)
	}
	return string(b)
}
