package api

import (
	"errors"
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/webhooks"
	"anodyne.example/anodyne/internal/strictjson"
)

// maxDescription is the maximum length of a webhook's description, in
// characters.
const maxDescription = 200

// mergeWebhook sets the fields of a webhook that are present in a body. When
// creating, the required fields must be present.
func (a *API) mergeWebhook(w *webhooks.Webhook, body *strictjson.Object, creating bool) error {
	var fields fault.Fields
	r := strictjson.Read(body, &fields)
	if present, _ := r.Has("url"); present || creating {
		var err error
		if w.URL, err = a.readWebhookURL(&r); err != nil {
			return err
		}
	}
	if present, _ := r.Has("events"); present || creating {
		w.Events = readSubscriptions(&r, &fields)
	}
	if present, _ := r.Has("description"); present {
		w.Description, _ = r.String("description")
		if problem := pain.LineProblem(w.Description, maxDescription); problem != "" {
			r.Fault("description", problem)
		}
	}
	if creating {
		r.Refuse("status", "is read-only here: new webhooks are enabled.")
	} else if present, _ := r.Has("status"); present {
		readWebhookStatus(&r, w)
	}
	for _, name := range []string{"id", "created_at", "disabled_reason", "secret"} {
		r.Refuse(name, "is read-only: the service sets it.")
	}
	r.Done()
	return fields.Err()
}

// readWebhookURL returns an error if the address could not be checked. A
// rejected address is reported as a fault of the body.
func (a *API) readWebhookURL(r *strictjson.Reader) (string, error) {
	address, ok := r.Required("url")
	if !ok {
		return "", nil
	}
	err := a.CheckWebhookURL(address)
	if wrong, judged := errors.AsType[*fault.Error](err); judged {
		r.Fault("url", strings.TrimPrefix(wrong.Message, "url "))
		return "", nil
	}
	return address, err
}

// readSubscriptions parses a list of event names and removes duplicates. The
// wildcard replaces all others.
func readSubscriptions(r *strictjson.Reader, fields *fault.Fields) (events []event.Type) {
	list, ok := r.Array("events")
	if !ok {
		if _, there := r.Value("events"); !there {
			r.Fault("events", "is required.")
		}
		return nil
	}
	if list.Len() == 0 {
		r.Fault("events", "must have at least one event, or \"*\" for all.")
	}
	names := subscribable()
	for _, element := range list.All() {
		name, isText := element.AsString()
		switch {
		case !isText:
			element.Fault(fields, "must be a string.")
		case !slices.Contains(names, name):
			element.Fault(fields, pain.WordProblem(name, names))
		case !slices.Contains(events, event.Type(name)):
			events = append(events, event.Type(name))
		}
	}
	if slices.Contains(events, event.All) {
		return []event.Type{event.All}
	}
	return events
}

// subscribable lists the event names a webhook may subscribe to.
func subscribable() []string {
	names := []string{string(event.All)}
	for _, t := range event.Types() {
		names = append(names, string(t))
	}
	return names
}

// readWebhookStatus parses the new status of a webhook. A webhook that is
// already disabled keeps its reason.
func readWebhookStatus(r *strictjson.Reader, w *webhooks.Webhook) {
	var status string
	if v, ok := r.Value("status"); ok {
		status, _ = v.AsString() // a value of another type is rejected below
	}
	switch {
	case status == "enabled":
		w.Enabled, w.DisabledReason = true, ""
	case status != "disabled":
		r.Fault("status", "must be enabled or disabled.")
	case w.Enabled:
		w.Enabled, w.DisabledReason = false, webhooks.DisabledByRequest
	}
}
