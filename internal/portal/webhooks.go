package portal

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/webhooks"
)

type webhookRow struct {
	webhooks.Webhook
	Stats  webhookHealth
	Reason string
}

type webhooksPage struct {
	Rows []webhookRow
	Most int
}

// webhooks lists the webhooks with their statistics.
func (p *Portal) webhooks(v *visit) error {
	hooks, stats, err := v.org.WatchWebhooks(v.r.Context(), v.now)
	if err != nil {
		return err
	}
	page := webhooksPage{Most: webhooks.MaxWebhooks}
	for i, w := range hooks {
		page.Rows = append(page.Rows, rowOfWebhook(w, stats[i]))
	}
	return v.show("webhooks", "Webhooks", page)
}

func rowOfWebhook(w webhooks.Webhook, stats webhooks.Stats) webhookRow {
	return webhookRow{w, healthOf(&w, stats), disabledReasons[w.DisabledReason]}
}

// disabledReasons explains why a webhook is disabled.
var disabledReasons = map[string]string{
	webhooks.DisabledByRequest: "A member disabled it.",
	webhooks.DisabledGone:      "The receiver responded with 410 Gone.",
	webhooks.DisabledFailing:   "Every delivery failed for five days.",
}

// webhookHealth is a summary of a webhook's statistics.
type webhookHealth struct {
	webhooks.Stats
	// Word and Class are the label and style of the overall state.
	Word, Class string
	Percent     string
}

// Attempts24 returns the number of attempts that the percentage refers to.
func (h webhookHealth) Attempts24() int64 { return h.Succeeded + h.Failed }

func healthOf(w *webhooks.Webhook, s webhooks.Stats) webhookHealth {
	h := webhookHealth{Stats: s, Word: "healthy", Class: "good", Percent: "–"}
	all := s.Succeeded + s.Failed
	if all > 0 {
		h.Percent = percent(s.Succeeded, all)
	}
	switch {
	case !w.Enabled:
		h.Word, h.Class = "disabled", "off"
	case all == 0:
		h.Word, h.Class = "quiet", "off"
	case s.Succeeded == 0:
		h.Word, h.Class = "failing", "bad"
	case s.Failed*20 > all:
		h.Word, h.Class = "unsteady", "warn"
	}
	return h
}

type webhookForm struct {
	ID               *id.Webhook
	URL, Description string
	Events           []event.Type
	Wrong            []string
}

// Choices lists the events that can be subscribed to.
func (webhookForm) Choices() []event.Type { return append([]event.Type{event.All}, event.Types()...) }

// Has reports whether an event is selected.
func (f webhookForm) Has(t event.Type) bool { return slices.Contains(f.Events, t) }

func (p *Portal) newWebhook(v *visit) error {
	return v.show("webhook-form", "New webhook", webhookForm{Events: []event.Type{event.All}})
}

// readWebhook reads the form into a webhook.
func (v *visit) readWebhook(w *webhooks.Webhook) (form webhookForm, err error) {
	if err := v.r.ParseForm(); err != nil {
		return form, fault.New(fault.InvalidBody, "The form could not be read.")
	}
	w.URL, w.Description, w.Events = v.form("url"), v.form("description"), nil
	for _, name := range v.r.PostForm["event"] {
		if t := event.Type(name); !slices.Contains(w.Events, t) && slices.Contains(form.Choices(), t) {
			w.Events = append(w.Events, t)
		}
	}
	if slices.Contains(w.Events, event.All) {
		w.Events = []event.Type{event.All}
	}
	form = webhookForm{URL: w.URL, Description: w.Description, Events: w.Events}
	if f, wrong := errors.AsType[*fault.Error](v.CheckWebhookURL(w.URL)); wrong {
		form.Wrong = append(form.Wrong, "The address "+strings.TrimPrefix(f.Message, "url "))
	}
	if len(w.Events) == 0 {
		form.Wrong = append(form.Wrong, "Choose at least one event.")
	}
	if problem := pain.LineProblem(w.Description, 500); problem != "" {
		form.Wrong = append(form.Wrong, "The description "+problem)
	}
	return form, nil
}

// webhookSecret is the page that shows a signing secret, once.
type webhookSecret struct {
	ID      id.Webhook
	Secret  string
	OldEnds time.Time
}

func (p *Portal) createWebhook(v *visit) error {
	w := webhooks.Webhook{ID: id.New[id.WebhookKind](v.now), Enabled: true, CreatedAt: v.now.UTC().Truncate(time.Second), Version: 1}
	form, err := v.readWebhook(&w)
	if err != nil {
		return err
	}
	if len(form.Wrong) > 0 {
		v.status = http.StatusUnprocessableEntity
		return v.show("webhook-form", "New webhook", form)
	}
	secret := p.NewWebhookSecret()
	change := v.change(audit.WebhookCreate, w.ID.String())
	change.Audit.Details = audit.Changes((&webhooks.Webhook{Enabled: true}).Changes(&w))
	if _, err := v.org.CreateWebhook(v.r.Context(), &w, secret, change, nil, idempotency.Outcome{}); err != nil {
		return err
	}
	v.status = http.StatusCreated
	return v.show("webhook-secret", "Webhook created", webhookSecret{ID: w.ID, Secret: secret})
}

func (p *Portal) editWebhook(v *visit) error {
	w, err := v.webhook()
	if err != nil {
		return err
	}
	if !w.ChangedBy(v.member.Role) {
		return fault.New(fault.Forbidden, "This webhook was not created by a developer, so only an administrator can change it.")
	}
	return v.show("webhook-form", "Edit webhook", webhookForm{ID: &w.ID, URL: w.URL, Description: w.Description, Events: w.Events})
}

func (p *Portal) saveWebhook(v *visit) error {
	w, err := v.webhook()
	if err != nil {
		return err
	}
	var form webhookForm
	if form, err = v.readWebhook(&w); err != nil {
		return err
	}
	if form.ID = &w.ID; len(form.Wrong) > 0 {
		v.status = http.StatusUnprocessableEntity
		return v.show("webhook-form", "Edit webhook", form)
	}
	return v.updateWebhook(w.ID, func(updated *webhooks.Webhook) {
		updated.URL, updated.Description, updated.Events = w.URL, w.Description, w.Events
	})
}

// updateWebhook changes a webhook and redirects to its page.
func (v *visit) updateWebhook(webhookID id.Webhook, edit func(*webhooks.Webhook)) error {
	_, err := v.org.UpdateWebhook(v.r.Context(), webhookID, func(old webhooks.Webhook) (webhooks.Webhook, *journal.Change, error) {
		updated := old
		edit(&updated)
		changes := old.Changes(&updated)
		if len(changes) == 0 {
			return old, nil, nil
		}
		updated.Version++
		change := v.change(audit.WebhookUpdate, webhookID.String())
		change.Audit.Details = audit.Changes(changes)
		return updated, &change, nil
	})
	if err != nil {
		return err
	}
	v.redirect("/portal/webhooks/" + webhookID.String())
	return nil
}

// webhook returns the webhook named in the path.
func (v *visit) webhook() (webhooks.Webhook, error) { return readItem(v, "webhook", v.org.Webhook) }

// change returns the metadata of a write, such as its audit entry.
func (v *visit) change(action audit.Action, resource string) journal.Change {
	line := v.line()
	line.Action, line.Resource = action, resource
	return journal.Change{Audit: line}
}
