package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/api/openapi/openapitest"
	"anodyne.example/anodyne/internal/fault"
)

var deliveryMembers = []string{"id", "event_id", "event_type", "status", "attempt_count", "created_at", "last_attempt_at", "next_attempt_at"}

// triedOften sends several test events, each a moment after the other, and
// returns the deliveries, newest first.
func (c *caller) triedOften(webhook string, count int) (deliveries []string) {
	c.tb.Helper()
	for range count {
		c.clock.forward(2 * time.Millisecond)
		deliveries = append([]string{c.tried(webhook)}, deliveries...)
	}
	return deliveries
}

func TestContract9_Test(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id, other := c.hook(), c.hook()
		got := c.post("/v1/webhooks/"+id+"/test", "").is(http.StatusAccepted).json()
		wantMembers(t, got, deliveryMembers...)
		if got["event_type"] != "webhook.test" || got["status"] != "pending" || got["attempt_count"] != float64(0) || got["last_attempt_at"] != nil || got["next_attempt_at"] != got["created_at"] {
			t.Errorf("%v", got)
		}
		// It goes to this webhook only, and is in no log of the organisation.
		if list := c.get("/v1/webhooks/" + id + "/deliveries").ids(); !slices.Equal(list, []string{got["id"].(string)}) {
			t.Errorf("%v", list)
		}
		if list := c.get("/v1/webhooks/" + other + "/deliveries").ids(); len(list) != 0 {
			t.Errorf("the other webhook has %v", list)
		}
		patient := c.create("Arlo Finch")
		if events := c.get("/v1/events?wait=20").data(); len(events) != 1 || subject(events[0]) != patient {
			t.Errorf("%v", events)
		}
		c.post("/v1/webhooks/"+id+"/test", `{"type":"patient.created"}`).wrong("type", "patient.created")
	})
}

func TestContract9_Deliveries(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.hook()
		path := "/v1/webhooks/" + id + "/deliveries"
		if r := c.get(path); len(r.data()) != 0 || r.cursor() != "" {
			t.Errorf("a new webhook: %s", r.body)
		}
		sent := c.triedOften(id, 5)
		var walked []string
		for query := "?limit=2"; ; {
			r := c.get(path + query)
			walked = append(walked, r.ids()...)
			if len(r.data()) > 2 || len(walked) > 5 {
				t.Fatalf("walked %v", walked)
			}
			if r.cursor() == "" {
				break
			}
			query = "?limit=2&after=" + r.cursor()
		}
		if !slices.Equal(walked, sent) {
			t.Errorf("walked %v, want %v", walked, sent)
		}
		for query, count := range map[string]int{"": 5, "?status=pending": 5, "?status=delivered": 0, "?status=failed": 0, "?event_type=webhook.test": 5,
			"?event_type=patient.created": 0, "?status=pending&event_type=webhook.test&limit=5": 5} {
			if r := c.get(path + query); len(r.data()) != count || r.cursor() != "" {
				t.Errorf("%s: %s", r.what, r.body)
			}
		}
		c.get(path+"?status=open").wrong("status", "open")
		c.get(path+"?after=x").wrong("after", "x")
		c.get(path+"?after=").wrong("after", "")
		c.get(path+"?page=1").wrong("page", "1")
		r := c.get(path + "?event_type=patient.create")
		r.wrong("event_type", "patient.create")
		if !strings.Contains(r.message(), `Did you mean "patient.created"?`) {
			t.Errorf("%s", r.message())
		}
	})
}

func TestContract9_OneDelivery(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.hook()
		sent := c.tried(id)
		r := c.get("/v1/webhooks/" + id + "/deliveries/" + sent).is(http.StatusOK)
		got := r.json()
		wantMembers(t, got, append(slices.Clone(deliveryMembers), "attempts", "payload")...)
		payload := got["payload"].(map[string]any)
		if payload["id"] != got["event_id"] || payload["type"] != "webhook.test" || payload["timestamp"] != got["created_at"] || quoteAny(payload["data"]) != `{"webhook_id":"`+id+`"}` {
			t.Errorf("%s", r.body)
		}
		_, body, _ := strings.Cut(string(r.body), `"payload":`)
		openapitest.Delivered(t, []byte(strings.TrimSuffix(body, "}")))
	})
}

func TestContract9_Redeliver(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.hook()
		sent := c.tried(id)
		before := c.get("/v1/webhooks/" + id + "/deliveries/" + sent).json()
		n.clock.forward(time.Minute)
		got := c.post("/v1/webhooks/"+id+"/deliveries/"+sent+"/redeliver", "").is(http.StatusAccepted).json()
		wantMembers(t, got, deliveryMembers...)
		if got["id"] != sent || got["event_id"] != before["event_id"] || got["status"] != "pending" || got["next_attempt_at"] == before["next_attempt_at"] {
			t.Errorf("%v", got)
		}
		if list := c.get("/v1/webhooks/" + id + "/deliveries").ids(); !slices.Equal(list, []string{sent}) {
			t.Errorf("%v", list)
		}
	})
}

func TestContract9_Recover(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.hook()
		path := "/v1/webhooks/" + id + "/recover"
		now := n.clock.now().UTC()
		hourAgo := now.Add(-time.Hour).Truncate(time.Second)
		for sent, answered := range map[string]string{
			hourAgo.Format(time.RFC3339):                                 hourAgo.Format(time.RFC3339),
			hourAgo.In(time.FixedZone("", 5400)).Format(time.RFC3339):    hourAgo.Format(time.RFC3339),
			hourAgo.Add(250 * time.Millisecond).Format(time.RFC3339Nano): hourAgo.Add(250 * time.Millisecond).Format("2006-01-02T15:04:05.000Z"),
			now.AddDate(0, 0, -3).Format(time.DateOnly):                  now.AddDate(0, 0, -3).Format(time.DateOnly) + "T00:00:00Z",
			now.Format(time.DateOnly):                                    now.Format(time.DateOnly) + "T00:00:00Z",
		} {
			got := c.post(path, `{"since":`+quote(sent)+`}`).is(http.StatusAccepted).json()
			if want := map[string]any{"webhook_id": id, "since": answered}; quoteAny(got) != quoteAny(want) {
				t.Errorf("%s: %v, want %v", sent, got, want)
			}
		}
		// Further back than deliveries are logged, the answer says from when.
		since, err := time.Parse(time.RFC3339, c.post(path, `{"since":"2001-01-01"}`).is(http.StatusAccepted).json()["since"].(string))
		if low, high := now.AddDate(0, 0, -30), n.clock.now().UTC().AddDate(0, 0, -30); err != nil || since.Before(low.Truncate(time.Millisecond)) || since.After(high) {
			t.Errorf("since %v, %v", since, err)
		}
		c.post(path, `{}`).wrong("since", nil)
		c.post(path, `{"since":null}`).wrong("since", nil)
		c.post(path, `{"since":""}`).wrong("since", "")
		c.post(path, `{"since":7}`).wrong("since", float64(7))
		tomorrow := now.AddDate(0, 0, 1).Format(time.RFC3339)
		for _, wrong := range []string{"yesterday", "2026-02-30", "2026-01-15 10:30", tomorrow} {
			r := c.post(path, `{"since":`+quote(wrong)+`}`)
			r.wrong("since", wrong)
			if !strings.Contains(r.message(), "YYYY-MM-DD") {
				t.Errorf("%s: %s", wrong, r.message())
			}
		}
		c.post(path, "").fault(http.StatusBadRequest, fault.InvalidBody)
	})
}

func TestWebhookStats(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.auditor(access.AllScopes) // who may ask often
		id := c.hook()
		got := c.get("/v1/webhooks/" + id + "/stats").is(http.StatusOK).json()
		want := map[string]any{"webhook_id": id, "window_hours": 24, "succeeded": 0, "failed": 0, "success_rate": nil, "latency_ms": nil, "last_failure": nil, "backlog": 0}
		if quoteAny(got) != quoteAny(want) {
			t.Errorf("%v, want %v", got, want)
		}
		c.tried(id)
		c.tried(id)
		c.create("Arlo Finch") // which it subscribes to
		eventually(t, "a backlog of three", func() bool {
			return fmt.Sprint(c.get("/v1/webhooks/" + id + "/stats").is(http.StatusOK).json()["backlog"]) == "3"
		})
	})
}
