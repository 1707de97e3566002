package api

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
)

func TestWebhookScopes(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		reader, writer := n.caller("north", access.WebhooksRead), n.caller("north", access.WebhooksWrite)
		neither := n.caller("north", access.AllScopes&^webhookScopes)
		id := c.hook()
		routes := webhookRoutes(id, c.tried(id))
		routes["GET /v1/webhooks"] = ""
		routes["POST /v1/webhooks"] = hookBody
		for route, body := range routes {
			method, path, _ := strings.Cut(route, " ")
			may, mayNot, scope := reader, writer, "webhooks:read"
			if method != "GET" {
				may, mayNot, scope = writer, reader, "webhooks:write"
			}
			for _, c := range []*caller{mayNot, neither} {
				if got := c.send(method, path, body).fault(http.StatusForbidden, fault.Forbidden)["required_scope"]; got != scope {
					t.Errorf("%s: required %v", route, got)
				}
			}
			if r := may.send(method, path, body); r.status/100 != 2 {
				t.Errorf("%s with %s: %d %s", route, scope, r.status, r.body)
			}
		}
		reader.send("DELETE", "/v1/webhooks/"+id, "").fault(http.StatusForbidden, fault.Forbidden)
		writer.send("DELETE", "/v1/webhooks/"+id, "").is(http.StatusNoContent)
	})
}

// Errors in a request are reported before the webhook or delivery is looked
// up, and a missing one before the webhook's state.
func TestWebhookOrderOfJudgement(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.hook()
		sent := c.tried(id)
		c.switched(id, "disabled")
		for _, webhook := range []string{id, "whk_01kf0k8y20h9gkqy2t4w1x7m3c", "x"} {
			for route, body := range webhookRoutes(webhook, sent) {
				method, path, _ := strings.Cut(route, " ")
				c.send(method, path+"?colour=red", body).wrong("colour", "red")
				if method == "GET" {
					continue
				}
				c.send(method, path, "{", "Content-Type", "text/plain").is(http.StatusUnsupportedMediaType)
				c.send(method, path, strings.Repeat(" ", bodyLimit+1)).is(http.StatusRequestEntityTooLarge)
				c.send(method, path, "{").fault(http.StatusBadRequest, fault.InvalidBody)
				got := c.send(method, path, `{"colour":"red"}`).fault(http.StatusBadRequest, fault.InvalidParameter)
				if !strings.Contains(quoteAny(got), "colour") {
					t.Errorf("%s: %v", route, got)
				}
				if method == "POST" {
					c.send(method, path, body, "Idempotency-Key", "").wrong("Idempotency-Key", "")
				}
			}
		}
		conflict := map[string]any{"status": "disabled", "disabled_reason": "requested"}
		for path, body := range map[string]string{"/test": "", "/recover": `{"since":"2026-01-01"}`, "/deliveries/" + sent + "/redeliver": ""} {
			c.post("/v1/webhooks/"+id+path, body).details(http.StatusConflict, fault.Conflict, conflict)
		}
		unknown := "dlv_01kf0t4na0c8r5w2y6h3k9q1zx"
		for _, delivery := range []string{unknown, "x"} {
			missing := map[string]any{"resource": "delivery", "id": delivery}
			c.get("/v1/webhooks/"+id+"/deliveries/"+delivery).details(http.StatusNotFound, fault.NotFound, missing)
			c.post("/v1/webhooks/"+id+"/deliveries/"+delivery+"/redeliver", "").details(http.StatusNotFound, fault.NotFound, missing)
		}
		// Another webhook's delivery is not found either.
		other := c.hook()
		c.get("/v1/webhooks/"+other+"/deliveries/"+sent).details(http.StatusNotFound, fault.NotFound, map[string]any{"resource": "delivery", "id": sent})
	})
}

// hookOf registers a webhook of the north that a route has, with a delivery.
func hookOf(south *caller, route string) (webhook, delivery string) {
	south.tb.Helper()
	north := south.caller("north of " + route)
	webhook = north.post("/v1/webhooks", hookBody, "Idempotency-Key", "the-key").is(http.StatusCreated).json()["id"].(string)
	return webhook, north.tried(webhook)
}

func init() {
	const all, one = "/v1/webhooks", "/v1/webhooks/{id}"
	const sent = one + "/deliveries/{delivery_id}"
	maps.Copy(strangers, map[string]func(t *testing.T, south *caller, id string){
		"GET " + all: func(t *testing.T, south *caller, _ string) {
			hookOf(south, "GET "+all)
			for _, query := range []string{"", "?page=1&limit=100"} {
				if r := south.get(all + query); len(r.data()) != 0 || r.pagination()[2] != 0 {
					t.Errorf("%s: %s", r.what, r.body)
				}
			}
		},
		"POST " + all: func(t *testing.T, south *caller, _ string) {
			theirs, _ := hookOf(south, "POST "+all)
			r := south.post(all, hookBody, "Idempotency-Key", "the-key").is(http.StatusCreated)
			if r.header.Get("Idempotency-Replayed") != "" || r.json()["id"] == theirs {
				t.Errorf("%s", r.body)
			}
		},
	})
	// Every route of one webhook returns 404 for a missing one.
	for route, body := range map[string]string{
		"GET " + one: "", "PATCH " + one: `{"url":"https://taken.example.com"}`, "DELETE " + one: "", "POST " + one + "/rotate-secret": "", "POST " + one + "/test": "",
		"POST " + one + "/recover": `{"since":"2026-01-01"}`, "GET " + one + "/stats": "", "GET " + one + "/deliveries": "", "GET " + sent: "", "POST " + sent + "/redeliver": "",
	} {
		strangers[route] = func(t *testing.T, south *caller, _ string) {
			webhook, delivery := hookOf(south, route)
			north := south.caller("north of " + route)
			before := north.get("/v1/webhooks/" + webhook).is(http.StatusOK)
			method, pattern, _ := strings.Cut(route, " ")
			path := strings.NewReplacer("{id}", webhook, "{delivery_id}", delivery).Replace(pattern)
			for _, header := range [][]string{nil, {"Idempotency-Key", "the-key"}} {
				south.send(method, path, body, header...).details(http.StatusNotFound, fault.NotFound, map[string]any{"resource": "webhook", "id": webhook})
			}
			// Nor is their delivery found through a webhook of one's own.
			if own := south.hook(); pattern == sent {
				south.get("/v1/webhooks/"+own+"/deliveries/"+delivery).details(http.StatusNotFound, fault.NotFound, map[string]any{"resource": "delivery", "id": delivery})
			}
			if after := north.get("/v1/webhooks/" + webhook).is(http.StatusOK); string(after.body) != string(before.body) {
				t.Errorf("%s: the webhook became %s", route, after.body)
			}
		}
	}
}
