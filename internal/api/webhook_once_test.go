package api

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
)

// A repeated POST returns the first outcome again, including the secret, and
// has no further effect.
func TestWebhookPostsHappenOnce(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		other := c.at(n.another())
		id := c.hook()
		sent := c.tried(id)
		one := "/v1/webhooks/" + id
		for path, body := range map[string]string{
			"/v1/webhooks": hookBody, one + "/rotate-secret": "", one + "/test": "{}",
			one + "/recover": `{"since":"2026-01-01"}`, one + "/deliveries/" + sent + "/redeliver": "",
		} {
			first := c.post(path, body, "Idempotency-Key", "k")
			if first.status/100 != 2 || first.header.Get("Idempotency-Replayed") != "" {
				t.Fatalf("%s: %d %s", path, first.status, first.body)
			}
			for _, c := range []*caller{c, other} {
				again := c.post(path, body, "Idempotency-Key", "k").is(first.status)
				if again.header.Get("Idempotency-Replayed") != "true" || string(again.body) != string(first.body) || again.header.Get("Location") != first.header.Get("Location") {
					t.Errorf("%s: replayed %s, first %s", path, again.body, first.body)
				}
			}
			if body != "" {
				c.post(path, body+" ", "Idempotency-Key", "k").fault(http.StatusUnprocessableEntity, fault.IdempotencyKeyReused)
			}
			// Without the key it happens again.
			if fresh := c.post(path, body).is(first.status); (path == "/v1/webhooks" || path == one+"/rotate-secret") && string(fresh.body) == string(first.body) {
				t.Errorf("%s without the key: %s", path, fresh.body)
			}
		}
		if got := c.get("/v1/webhooks").pagination()[2]; got != 3 {
			t.Errorf("%d webhooks", got)
		}
	})
}

// The stored outcome does not expose the secret, and replaying it is audited.
func TestReplayedSecretIsKeptSealed(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		created := c.post("/v1/webhooks", hookBody, "Idempotency-Key", "k").is(http.StatusCreated).json()
		one := "/v1/webhooks/" + created["id"].(string)
		rotated := c.post(one+"/rotate-secret", "", "Idempotency-Key", "k").is(http.StatusOK).json()
		stored := n.dump()
		for _, secret := range []any{created["secret"], rotated["secret"]} {
			if key := strings.TrimPrefix(secret.(string), "whsec_"); bytes.Contains(stored, []byte(key)) {
				t.Error("the database holds a signing secret in the clear")
			}
		}
		if !bytes.Contains(stored, []byte("hooks.example.com")) {
			t.Error("the search would not have found it")
		}
		c.post("/v1/webhooks", hookBody, "Idempotency-Key", "k", "X-Request-Id", "made-again").is(http.StatusCreated)
		c.post(one+"/rotate-secret", "", "Idempotency-Key", "k", "X-Request-Id", "rotated-again").is(http.StatusOK)
		lines := n.auditor(access.AllScopes).audit("&action=webhook.reveal", 2)
		for _, request := range []string{"made-again", "rotated-again"} {
			if got := line(t, lines, request); got["resource"] != created["id"] {
				t.Errorf("%v", got)
			}
		}
	})
}

func TestWebhookKeyBelongsToItsPath(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		a, b := c.hook(), c.hook()
		first := c.post("/v1/webhooks/"+a+"/rotate-secret", "", "Idempotency-Key", "k").is(http.StatusOK)
		second := c.post("/v1/webhooks/"+b+"/rotate-secret", "", "Idempotency-Key", "k").is(http.StatusOK)
		if second.header.Get("Idempotency-Replayed") != "" || second.json()["secret"] == first.json()["secret"] {
			t.Errorf("%s", second.body)
		}
		// A refused one is not kept.
		c.switched(a, "disabled")
		c.post("/v1/webhooks/"+a+"/test", "", "Idempotency-Key", "t").fault(http.StatusConflict, fault.Conflict)
		c.switched(a, "enabled")
		if r := c.post("/v1/webhooks/"+a+"/test", "", "Idempotency-Key", "t").is(http.StatusAccepted); r.header.Get("Idempotency-Replayed") != "" {
			t.Error("a refused test was kept")
		}
	})
}
