package api

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var identifiers = regexp.MustCompile(`(evt|pat|rec)_[0-9a-z]{26}`)

// The body is {"id","type","timestamp","data"} with identifiers only: nothing
// of what was written about a patient leaves.
func TestContract9_IdentifiersOnly(t *testing.T) {
	eachDelivering(t, func(t *testing.T, c *caller) {
		r := newReceiver(t)
		_, secret := c.subscribe(r, "*")
		patient := c.post("/v1/patients", fullPatient).is(http.StatusCreated).json()["id"].(string)
		c.send("PATCH", "/v1/patients/"+patient, `{"name":"Ingrid Lindgren","gender":"nonbinary"}`).is(http.StatusOK)
		record := c.add(patient, `{"data_type":"pain_scores","value":{"score":9,"body_site":"lower back"},"notes":"worse at night","author":"Dr Ferreira","encounter_id":"enc-4711"}`).is(http.StatusCreated).json()["id"].(string)
		c.post(correctionsOf(patient, record), `{"value":8,"reason":"misheard"}`).is(http.StatusCreated)
		c.add(patient, batchOf(`{"data_type":"medications","value":{"name":"Morphine","dose":10,"dose_unit":"mg"}}`, `{"data_type":"notes","value":{"text":"sleeps badly"}}`)).is(http.StatusCreated)
		types := map[string]int{}
		for range 5 {
			got := r.next()
			types[string(got.event.Type)]++
			got.signed(t, secret)
			wantMembers(t, unmarshalled(t, got.body), "id", "type", "timestamp", "data")
			if !strings.Contains(string(got.body), patient) {
				t.Errorf("%s", got.body)
			}
			said := identifiers.ReplaceAllString(string(got.body), "") // which may hold any letters
			for _, private := range []string{"Ingrid", "Vasarely", "Lindgren", "1961", "woman", "nonbinary", "example.org", "+46", "back", "Migraine", "M54", "score\"", ":9", ":8",
				"night", "Ferreira", "4711", "misheard", "Morphine", "mg", "sleeps", "north", "cli_"} {
				if strings.Contains(said, private) {
					t.Errorf("%q is in %s", private, got.body)
				}
			}
		}
		if fmt.Sprint(types) != "map[clinical_data.updated:3 patient.created:1 patient.updated:1]" {
			t.Errorf("%v", types)
		}
	})
}

// A webhook's life: subscribed, delivered to, logged, redelivered, rotated,
// gone, enabled again, recovered.
func TestWebhookFlow(t *testing.T) {
	eachDelivering(t, func(t *testing.T, c *caller) {
		r := newReceiver(t)
		id, secret := c.subscribe(r, "patient.created")
		one := "/v1/webhooks/" + id
		began := c.clock.now().UTC()

		patient := c.create("Arlo Finch")
		c.send("PATCH", "/v1/patients/"+patient, `{"gender":"x"}`).is(http.StatusOK) // which it does not subscribe to
		first := r.next()
		first.signed(t, secret)
		sent := c.deliveryOf(id, first.event.ID)
		logged := c.settled(id, sent, "delivered", 1)
		attempt := logged["attempts"].([]any)[0].(map[string]any)
		if attempt["http_status"] != float64(200) || attempt["response_body"] != "thank you" || attempt["error"] != "" || logged["next_attempt_at"] != nil || logged["last_attempt_at"] != attempt["at"] {
			t.Errorf("%v", logged)
		}
		if want := quoteAny(unmarshalled(t, first.body)); quoteAny(logged["payload"]) != want {
			t.Errorf("logged %v, sent %s", logged["payload"], first.body)
		}

		c.post(one+"/deliveries/"+sent+"/redeliver", "").is(http.StatusAccepted)
		again := r.next()
		if string(again.body) != string(first.body) || again.header.Get("webhook-id") != first.header.Get("webhook-id") {
			t.Errorf("redelivered %s, first %s", again.body, first.body)
		}
		c.settled(id, sent, "delivered", 2)

		fresh := c.post(one+"/rotate-secret", "").is(http.StatusOK).json()["secret"].(string)
		c.tried(id)
		r.next().signed(t, fresh, secret)

		r.says(http.StatusGone, "")
		c.create("Berta Wren")
		missed := r.next()
		eventually(t, "a webhook that is disabled", func() bool { return c.get(one).json()["status"] == "disabled" })
		if got := c.get(one).json(); got["disabled_reason"] != "gone" {
			t.Errorf("%v", got)
		}
		if got := c.send("PATCH", one, `{"status":"disabled","description":"x"}`).is(http.StatusOK).json(); got["disabled_reason"] != "gone" {
			t.Errorf("disabled once more: %v", got)
		}
		c.create("Cleo Finch")
		r.says(http.StatusNoContent, "")
		c.switched(id, "enabled")
		c.post(one+"/recover", `{"since":`+quote(began.Format(time.RFC3339))+`}`).is(http.StatusAccepted)
		var recovered []string
		for range 2 {
			recovered = append(recovered, subjectOf(t, r.next()))
		}
		slices.Sort(recovered)
		if want := c.get("/v1/patients?limit=100").ids()[1:]; !slices.Equal(recovered, want) {
			t.Errorf("recovered %v, want %v after %s", recovered, want, missed.event.ID)
		}
		// What was delivered before is not sent again.
		c.tried(id)
		if last := r.next(); last.event.Type != "webhook.test" {
			t.Errorf("%s", last.body)
		}
		r.none()
	})
}

// A failed delivery is retried after a while; its log has the reason, and the
// statistics count it.
func TestWebhookFailureIsLogged(t *testing.T) {
	eachDelivering(t, func(t *testing.T, c *caller) {
		c.clock.stop() // nothing is retried before its time
		r := newReceiver(t)
		id, _ := c.subscribe(r, "patient.created")
		r.says(http.StatusBadGateway, strings.Repeat("é", 2000))
		c.create("Arlo Finch")
		sent := c.deliveryOf(id, r.next().event.ID)
		pending := c.settled(id, sent, "pending", 1)
		attempt := pending["attempts"].([]any)[0].(map[string]any)
		if attempt["http_status"] != float64(502) || attempt["error"] == "" || pending["next_attempt_at"] == nil {
			t.Errorf("%v", pending)
		}
		if kept := attempt["response_body"].(string); len(kept) > 1024 || len(kept) < 1000 || strings.Trim(kept, "é") != "" {
			t.Errorf("%d bytes of the answer are kept: %q", len(kept), kept)
		}
		path := "/v1/webhooks/" + id
		if list := c.get(path + "/deliveries?status=pending&event_type=patient.created").ids(); !slices.Equal(list, []string{sent}) {
			t.Errorf("pending: %v", list)
		}
		stats := c.get(path + "/stats").is(http.StatusOK).json()
		if stats["failed"] != float64(1) || stats["success_rate"] != float64(0) || stats["backlog"] != float64(1) || stats["last_failure"].(map[string]any)["error"] != attempt["error"] {
			t.Errorf("%v", stats)
		}
		r.says(http.StatusOK, "")
		c.clock.forward(10 * time.Second) // the second try comes after five, or one more
		if second := r.next(); second.header.Get("webhook-id") != pending["event_id"] {
			t.Errorf("%s", second.body)
		}
		c.settled(id, sent, "delivered", 2)
		eventually(t, "figures of both tries", func() bool {
			stats = c.get(path + "/stats").is(http.StatusOK).json()
			return stats["succeeded"] == float64(1) && stats["backlog"] == float64(0)
		})
		latency := stats["latency_ms"].(map[string]any)
		if stats["success_rate"] != 0.5 || latency["p50"].(float64) > latency["p95"].(float64) {
			t.Errorf("%v", stats)
		}
	})
}

// A disabled webhook is not sent to, and a deleted one neither.
func TestNothingIsSentToWhoDoesNotWantIt(t *testing.T) {
	eachDelivering(t, func(t *testing.T, c *caller) {
		disabled, deleted, south, wanted := newReceiver(t), newReceiver(t), newReceiver(t), newReceiver(t)
		id, _ := c.subscribe(disabled, "*")
		c.switched(id, "disabled")
		gone, _ := c.subscribe(deleted, "*")
		c.send("DELETE", "/v1/webhooks/"+gone, "").is(http.StatusNoContent)
		c.caller("south").subscribe(south, "*")
		c.subscribe(wanted, "*")
		for i := range 5 {
			c.create(fmt.Sprintf("Wren Number %d", i))
		}
		for range 5 {
			wanted.next()
		}
		disabled.none()
		deleted.none()
		south.none()
	})
}
