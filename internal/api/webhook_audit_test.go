package api

import (
	"net/http"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
)

// Each act on a webhook leaves a line that says what was changed.
func TestWebhookActsAreAudited(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c, auditor := n.caller("north"), n.auditor(access.AllScopes)
		id := c.post("/v1/webhooks", hookBody, "X-Request-Id", "create").is(http.StatusCreated).json()["id"].(string)
		path := "/v1/webhooks/" + id
		sent := c.post(path+"/test", "", "X-Request-Id", "test").is(http.StatusAccepted).json()["id"].(string)
		c.send("PATCH", path, `{"url":"https://other.example.com","events":["*"],"description":null,"status":"disabled"}`, "X-Request-Id", "update").is(http.StatusOK)
		c.send("PATCH", path, `{"status":"enabled"}`, "X-Request-Id", "enable").is(http.StatusOK)
		c.send("PATCH", path, `{"status":"enabled"}`, "X-Request-Id", "nothing").is(http.StatusOK)
		c.post(path+"/rotate-secret", "", "X-Request-Id", "rotate").is(http.StatusOK)
		c.post(path+"/deliveries/"+sent+"/redeliver", "", "X-Request-Id", "redeliver").is(http.StatusAccepted)
		since := c.post(path+"/recover", `{"since":"`+n.clock.now().UTC().Format("2006-01-02")+`"}`, "X-Request-Id", "recover").is(http.StatusAccepted).json()["since"].(string)
		c.send("DELETE", path, "", "X-Request-Id", "delete").is(http.StatusNoContent)
		count := map[string]int{"webhook.update": 2}
		for request, want := range map[string]struct{ action, details string }{
			"create": {"webhook.create", `{"changes":[{"after":"https://hooks.example.com/anodyne","before":"","field":"url"},` +
				`{"after":"patient.created,clinical_data.updated","before":"","field":"events"},{"after":"Record system","before":"","field":"description"}]}`},
			"update": {"webhook.update", `{"changes":[{"after":"https://other.example.com","before":"https://hooks.example.com/anodyne","field":"url"},` +
				`{"after":"*","before":"patient.created,clinical_data.updated","field":"events"},{"after":"","before":"Record system","field":"description"},` +
				`{"after":"disabled","before":"enabled","field":"status"}]}`},
			"enable":    {"webhook.update", `{"changes":[{"after":"enabled","before":"disabled","field":"status"}]}`},
			"test":      {"webhook.test", "null"},
			"rotate":    {"webhook.rotate", "null"},
			"redeliver": {"webhook.redeliver", `{"delivery":"` + sent + `"}`},
			"recover":   {"webhook.recover", `{"since":"` + since + `"}`},
			"delete":    {"webhook.delete", "null"},
		} {
			got := line(t, auditor.audit("&action="+want.action, max(1, count[want.action])), request)
			if got["action"] != want.action || got["resource"] != id || got["client_id"] != c.client.ID.String() || quoteAny(got["details"]) != want.details {
				t.Errorf("%s: %s, want %s", request, quoteAny(got), want.details)
			}
		}
		for _, l := range auditor.audit("", 9) {
			if l["request_id"] == "nothing" {
				t.Errorf("a patch that changes nothing left %v", l)
			}
			if strings.Contains(quoteAny(l), "whsec_") {
				t.Errorf("%v", l)
			}
		}
	})
}
