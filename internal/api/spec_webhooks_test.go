package api

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/webhook"
)

// The sentences of the specification about webhooks, and those of section 9
// of the contract that are about their endpoints.
//
//	1     registering webhook endpoints                               TestSpec4_11_Registers
//	2     url: HTTPS address; events: array of names                  TestSpec2_WebhookRegistration
//	4.11  registers a webhook endpoint, Content-Type JSON             TestSpec4_11_Registers
//	4.11  request body: url and events                                TestSpec4_11_Body
//	6     notifications are sent in real time                         TestWebhookFlow
//	6     a webhook lists the event names it subscribes to            TestSpec6_SubscribesByName
//	6     patient.created, clinical_data.updated, report.completed    TestSpec6_EventNames
//	9.1   201 with id, url, events, description, status, ..., secret  TestContract9_Created
//	9.1   the secret only here and on rotation                        TestContract9_SecretIsShownOnce
//	9.1   https, 1..2,000 characters, no credentials or fragment      TestContract9_URL
//	9.1   at least one event from the list, or *; duplicates folded   TestContract9_Events
//	9.1   in development mode http to loopback                        TestContract9_DevelopmentMode
//	9.1   enabled, or disabled with disabled_reason                   TestContract9_Status
//	9.2   GET list and one                                            TestContract9_ListAndOne
//	9.2   PATCH                                                       TestContract9_Patch
//	9.2   DELETE (204)                                                TestContract9_Delete
//	9.2   rotate-secret                                               TestContract9_Rotate
//	9.2   test                                                        TestContract9_Test
//	9.2   deliveries, redeliver, recover                              TestContract9_Deliveries, _Redeliver, _Recover
//	9.3   body: ids only, no name, no measured value                  TestContract9_IdentifiersOnly

var (
	hookForm   = regexp.MustCompile(`^whk_[0-9a-hjkmnp-tv-z]{26}$`)
	secretForm = regexp.MustCompile(`^whsec_[0-9A-Za-z+/]{32,}={0,2}$`)
)

func TestSpec2_WebhookRegistration(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		got := c.post("/v1/webhooks", hookBody).is(http.StatusCreated).json()
		if got["url"] != "https://hooks.example.com/anodyne" || quoteAny(got["events"]) != `["patient.created","clinical_data.updated"]` {
			t.Errorf("%v", got)
		}
		c.post("/v1/webhooks", `{"url":"http://hooks.example.com/anodyne","events":["patient.created"]}`).wrong("url", "http://hooks.example.com/anodyne")
		c.post("/v1/webhooks", `{"url":"https://hooks.example.com","events":"patient.created"}`).wrong("events", "patient.created")
	})
}

func TestSpec4_11_Registers(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.post("/v1/webhooks", hookBody, "Content-Type", "application/json").is(http.StatusCreated).json()["id"].(string)
		if list := c.get("/v1/webhooks").ids(); !slices.Equal(list, []string{id}) {
			t.Errorf("registered %s, listed %v", id, list)
		}
		c.post("/v1/webhooks", hookBody, "Content-Type", "").is(http.StatusCreated)
		c.post("/v1/webhooks", hookBody, "Content-Type", "text/plain").is(http.StatusUnsupportedMediaType)
	})
}

func TestSpec4_11_Body(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		c.post("/v1/webhooks", `{"url":"https://hooks.example.com","events":["patient.created"]}`).is(http.StatusCreated)
		c.post("/v1/webhooks", `{"events":["patient.created"]}`).wrong("url", nil)
		c.post("/v1/webhooks", `{"url":"https://hooks.example.com"}`).wrong("events", nil)
		c.post("/v1/webhooks", "").fault(http.StatusBadRequest, fault.InvalidBody)
	})
}

func TestSpec6_SubscribesByName(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		r := c.post("/v1/webhooks", `{"url":"https://hooks.example.com","events":["patient.create"]}`)
		r.wrong("events[0]", "patient.create")
		if !strings.Contains(r.message(), `Did you mean "patient.created"?`) {
			t.Errorf("%s", r.message())
		}
	})
}

func TestSpec6_EventNames(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		names := []string{"patient.created", "clinical_data.updated", "report.completed"} // the specification's
		for _, name := range event.Types() {
			names = append(names, string(name))
		}
		for _, name := range names {
			c.post("/v1/webhooks", `{"url":"https://hooks.example.com","events":[`+quote(name)+`]}`).is(http.StatusCreated)
		}
	})
}

func TestContract9_Created(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		before := time.Now().UTC().Truncate(time.Second)
		r := c.post("/v1/webhooks", hookBody).is(http.StatusCreated)
		got := r.json()
		wantMembers(t, got, "id", "url", "events", "description", "status", "created_at", "secret")
		at, err := time.Parse("2006-01-02T15:04:05Z", got["created_at"].(string))
		if err != nil || at.Before(before) || at.After(n.clock.now()) {
			t.Errorf("created_at %v, %v", got["created_at"], err)
		}
		if !hookForm.MatchString(got["id"].(string)) || !secretForm.MatchString(got["secret"].(string)) || got["status"] != "enabled" || got["description"] != "Record system" {
			t.Errorf("%v", got)
		}
		if location := r.header.Get("Location"); location != "/v1/webhooks/"+got["id"].(string) {
			t.Errorf("Location %q", location)
		}
		plain := c.post("/v1/webhooks", `{"url":"https://hooks.example.com","events":["*"]}`).is(http.StatusCreated).json()
		if plain["description"] != "" || plain["secret"] == got["secret"] {
			t.Errorf("%v", plain)
		}
	})
}

func TestContract9_SecretIsShownOnce(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		created := c.post("/v1/webhooks", hookBody).is(http.StatusCreated).json()
		id, secret := created["id"].(string), created["secret"].(string)
		rotated := c.post("/v1/webhooks/"+id+"/rotate-secret", "").is(http.StatusOK).json()["secret"].(string)
		shown := []*reply{c.get("/v1/webhooks"), c.post("/v1/webhooks/"+id+"/recover", `{"since":"2026-01-01"}`)}
		for route, body := range webhookRoutes(id, c.tried(id)) {
			if method, path, _ := strings.Cut(route, " "); !strings.HasSuffix(path, "rotate-secret") {
				shown = append(shown, c.send(method, path, body))
			}
		}
		shown = append(shown, n.auditor(access.AuditRead).get("/v1/audit?limit=100"))
		for _, r := range shown {
			if r.status/100 != 2 || strings.Contains(string(r.body), secret) || strings.Contains(string(r.body), rotated) || strings.Contains(string(r.body), "whsec_") {
				t.Errorf("%s: %d %s", r.what, r.status, r.body)
			}
		}
	})
}

func TestContract9_URL(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		register := func(address string) *reply {
			return c.post("/v1/webhooks", `{"events":["*"],"url":`+quote(address)+`}`)
		}
		longest := "https://hooks.example.com/" + strings.Repeat("x", 2000-len("https://hooks.example.com/"))
		for _, address := range []string{"https://hooks.example.com", "https://hooks.example.com:8443/a?b=c", longest} {
			if got := register(address).is(http.StatusCreated).json()["url"]; got != address {
				t.Errorf("url %v", got)
			}
		}
		register(longest+"x").wrong("url", longest[:200]+"…")
		for _, address := range []string{"http://hooks.example.com", "ftp://hooks.example.com", "hooks.example.com", "https://", "https://user:pw@hooks.example.com",
			"https://hooks.example.com/#part", "https://10.0.0.1/", "https://[::1]/", "https://localhost/", "http://127.0.0.1:9000/", "https://169.254.169.254/latest"} {
			register(address).wrong("url", address)
		}
		register("").wrong("url", "")
	})
}

func TestContract9_Events(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		register := func(events string) *reply {
			return c.post("/v1/webhooks", `{"url":"https://hooks.example.com","events":`+events+`}`)
		}
		for sent, kept := range map[string]string{
			`["system.alert"]`: `["system.alert"]`,
			`["report.failed","patient.updated","report.failed"]`: `["report.failed","patient.updated"]`,
			`["*"]`: `["*"]`, `["patient.created","*","*"]`: `["*"]`,
		} {
			if got := quoteAny(register(sent).is(http.StatusCreated).json()["events"]); got != kept {
				t.Errorf("%s is kept as %s", sent, got)
			}
		}
		register(`[]`).wrong("events", []any{})
		register(`null`).wrong("events", nil)
		register(`{}`).wrong("events", map[string]any{})
		register(`["patient.created",7]`).wrong("events[1]", float64(7))
		register(`[""]`).wrong("events[0]", "")
		register(`["webhook.test"]`).wrong("events[0]", "webhook.test")
		register(`["Patient.Created"]`).wrong("events[0]", "Patient.Created")
	})
}

func TestContract9_DevelopmentMode(t *testing.T) {
	eachWith(t, func(cfg *Config) {
		cfg.CheckWebhookURL = func(address string) error { return webhook.CheckURL(address, true) }
	}, func(t *testing.T, n *node) {
		c := n.caller("north")
		for _, address := range []string{"http://127.0.0.1:9000/in", "http://localhost:9000", "http://[::1]:9000", "https://hooks.example.com"} {
			c.post("/v1/webhooks", `{"events":["*"],"url":`+quote(address)+`}`).is(http.StatusCreated)
		}
		for _, address := range []string{"http://hooks.example.com", "http://10.0.0.1/"} {
			c.post("/v1/webhooks", `{"events":["*"],"url":`+quote(address)+`}`).wrong("url", address)
		}
	})
}

func TestContract9_Status(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.hook()
		disabled := c.switched(id, "disabled").json()
		wantMembers(t, disabled, "id", "url", "events", "description", "status", "disabled_reason", "created_at")
		if disabled["status"] != "disabled" || disabled["disabled_reason"] != "requested" {
			t.Errorf("%v", disabled)
		}
		if got := c.get("/v1/webhooks/" + id).is(http.StatusOK).json(); quoteAny(got) != quoteAny(disabled) {
			t.Errorf("%v", got)
		}
		enabled := c.switched(id, "enabled").json()
		wantMembers(t, enabled, "id", "url", "events", "description", "status", "created_at")
		c.send("PATCH", "/v1/webhooks/"+id, `{"status":"paused"}`).wrong("status", "paused")
		c.send("PATCH", "/v1/webhooks/"+id, `{"status":null}`).wrong("status", nil)
		c.send("PATCH", "/v1/webhooks/"+id, `{"status":true}`).wrong("status", true)
	})
}
