package portal

import (
	"net/http"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
)

func TestWebhookFromFormToDeletion(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		b := h.signedIn("dev@clinic.example", "ours", access.Developer)
		if p := b.get("/portal/webhooks"); !strings.Contains(p.text, "No webhooks yet") {
			t.Error("the empty list is not friendly")
		}
		for what, form := range map[string][]string{
			"no event":    {"url", "https://clinic.example/hook"},
			"not https":   {"url", "http://clinic.example/hook", "event", "*"},
			"private":     {"url", "https://10.0.0.1/hook", "event", "*"},
			"no address":  {"event", "*"},
			"wrong event": {"url", "https://clinic.example/hook", "event", "nothing"},
		} {
			if p := b.post("/portal/webhooks", form...); p.status != http.StatusUnprocessableEntity || !strings.Contains(p.text, `role="alert"`) {
				t.Errorf("%s: %d", what, p.status)
			}
		}
		p := b.post("/portal/webhooks", "url", "https://clinic.example/hook", "event", "patient.created", "event", "system.alert", "description", "<b>EHR</b>")
		if p.status != http.StatusCreated {
			t.Fatalf("creating: %d\n%s", p.status, p.text)
		}
		secret := p.find(t, `whsec_[\w+/=&#;]+`)
		path := p.find(t, `/portal/webhooks/whk_[0-9a-z]{26}`)
		p = b.get(path)
		if strings.Contains(p.text, secret) || strings.Contains(p.text, "<b>EHR") || !strings.Contains(p.text, "patient.created") {
			t.Errorf("the endpoint's page:\n%s", p.text)
		}
		if p := b.post(path, "act", "test"); p.status != http.StatusSeeOther {
			t.Fatalf("testing: %d\n%s", p.status, p.text)
		}
		delivery := b.get(path).find(t, path+`/deliveries/dlv_[0-9a-z]{26}`)
		if p := b.get(delivery); !strings.Contains(p.text, "webhook.test") || !strings.Contains(p.text, "pending") {
			t.Errorf("the delivery: %d\n%s", p.status, p.text)
		}
		if p := b.post(delivery + "/redeliver"); p.status != http.StatusSeeOther {
			t.Errorf("sending again: %d", p.status)
		}
		if p := b.post(path+"/edit", "url", "https://clinic.example/other", "event", "*", "event", "patient.created"); p.status != http.StatusSeeOther {
			t.Errorf("editing: %d", p.status)
		}
		if p := b.get(path); !strings.Contains(p.text, "clinic.example/other") || strings.Contains(p.text, `class="chip">patient.created`) {
			t.Errorf("after editing:\n%s", p.text)
		}
		if next := b.post(path, "act", "rotate").find(t, `whsec_[\w+/=&#;]+`); next == secret {
			t.Error("the secret was not rotated")
		}
		for _, act := range [][]string{{"act", "recover", "since", "2026-01-10"}, {"act", "disable"}, {"act", "enable"}} {
			if p := b.post(path, act...); p.status != http.StatusSeeOther {
				t.Errorf("%v: %d\n%s", act, p.status, p.text)
			}
		}
		for _, bad := range [][]string{{"act", "nothing"}, {"act", "delete"}, {"act", "recover", "since", "soon"}, {"act", "recover", "since", "2999-01-01"}} {
			if p := b.post(path, bad...); p.status != http.StatusBadRequest {
				t.Errorf("%v: %d", bad, p.status)
			}
		}
		stranger := h.signedIn("dev@other.example", "theirs", access.Administrator)
		for what, p := range map[string]page{
			"page": stranger.get(path), "delivery": stranger.get(delivery), "act": stranger.post(path, "act", "disable"), "edit": stranger.get(path + "/edit"),
			"redeliver": stranger.post(delivery + "/redeliver"),
		} {
			if p.status != http.StatusNotFound {
				t.Errorf("another organisation's %s: %d", what, p.status)
			}
		}
		if p := b.post(path, "act", "delete", "sure", "yes"); p.status != http.StatusSeeOther {
			t.Errorf("deleting: %d", p.status)
		}
		if p := b.get(path); p.status != http.StatusNotFound {
			t.Errorf("deleted: %d", p.status)
		}
	})
}
