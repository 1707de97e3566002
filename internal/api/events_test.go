package api

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
)

// subject is the patient that an event is about.
func subject(event map[string]any) string {
	return fmt.Sprint(event["data"].(map[string]any)["patient_id"])
}

func TestEventsByCursor(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		var want []string
		for i := range 7 {
			want = append(want, "patient.created "+c.create(fmt.Sprintf("Wren Number %d", i)))
		}
		c.send("PATCH", "/v1/patients/"+want[0][len("patient.created "):], `{"gender":"x"}`).is(http.StatusOK)
		want = append(want, "patient.updated "+want[0][len("patient.created "):])
		c.send("PATCH", "/v1/patients/"+want[0][len("patient.created "):], `{"gender":"x"}`).is(http.StatusOK) // changes nothing
		var got []string
		cursor := ""
		seen := map[any]bool{}
		for len(got) < len(want) {
			r := c.get("/v1/events?limit=3&wait=20" + cursor)
			events := r.data()
			if len(events) == 0 || len(events) > 3 {
				t.Fatalf("%d events after %v", len(events), got)
			}
			for _, e := range events {
				got = append(got, fmt.Sprint(e["type"], " ", subject(e)))
				if seen[e["id"]] {
					t.Errorf("%v came twice", e["id"])
				}
				seen[e["id"]] = true
			}
			cursor = "&after=" + r.cursor()
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("events %v, want %v", got, want)
		}
		end := c.get("/v1/events?limit=3" + cursor)
		if len(end.data()) != 0 || end.data() == nil {
			t.Errorf("after the end: %v", end.data())
		}
		// The cursor of an empty page goes on all the same.
		id := c.create("Heron")
		if events := c.get("/v1/events?wait=20&after=" + end.cursor()).data(); len(events) != 1 || subject(events[0]) != id {
			t.Errorf("after the end came %v", events)
		}
	})
}

// waiting is one request that waits for an event.
func (c *caller) waiting(cursor string) <-chan *reply {
	answer := make(chan *reply, 1)
	go func() { answer <- c.get("/v1/events?wait=30&after=" + cursor) }()
	return answer
}

func TestWaitWakesOnAWrite(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		cursor := c.get("/v1/events").cursor()
		for range 3 {
			answer := c.waiting(cursor)
			id := c.create("Arlo Finch")
			r := <-answer
			if events := r.data(); len(events) != 1 || subject(events[0]) != id {
				t.Fatalf("woken by %v, created %s", events, id)
			}
			cursor = r.cursor()
		}
	})
}

func TestWaitWakesOnAnotherNodesWrite(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		other := c.at(n.another())
		cursor := c.get("/v1/events").cursor()
		for range 3 {
			answer := c.waiting(cursor)
			id := other.create("Arlo Finch")
			r := <-answer
			if events := r.data(); len(events) != 1 || subject(events[0]) != id {
				t.Fatalf("woken by %v, created %s", events, id)
			}
			cursor = r.cursor()
		}
	})
}

// What another organisation does wakes nobody.
func TestWaitEnds(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c, south := n.caller("north"), n.caller("south")
		answer := make(chan *reply, 1)
		go func() { answer <- c.get("/v1/events?wait=1") }()
		south.create("Arlo Finch")
		if events := (<-answer).data(); len(events) != 0 {
			t.Errorf("%v", events)
		}
		if events := c.get("/v1/events?wait=0").data(); len(events) != 0 {
			t.Errorf("%v", events)
		}
	})
}

// A server that is about to stop does not wait for those who wait.
func TestDrainingEndsAWait(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		n.send("GET", "/readyz", "").is(http.StatusOK)
		answer := c.waiting(c.get("/v1/events").cursor())
		n.drain()
		if events := (<-answer).data(); len(events) != 0 {
			t.Errorf("%v", events)
		}
		n.send("GET", "/readyz", "").is(http.StatusServiceUnavailable)
		n.send("GET", "/healthz", "").is(http.StatusOK)
	})
}

func TestCursorsAreNotInterchangeable(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		c.create("Arlo Finch")
		events, lines := c.get("/v1/events?wait=20").cursor(), c.get("/v1/audit").cursor()
		for _, cursor := range []string{"x", "", "!", lines, events + "A", events[:len(events)-1], "ZQ", makeCursor('x', 1), "%00"} {
			c.get("/v1/events?after="+cursor).wrong("after", unescaped(cursor))
		}
		for _, cursor := range []string{"x", events, lines + "A", "YQ"} {
			c.get("/v1/audit?after="+cursor).wrong("after", cursor)
		}
		c.get("/v1/events?after=" + events).is(http.StatusOK)
		c.get("/v1/audit?after=" + lines).is(http.StatusOK)
		c.get("/v1/events?after=" + makeCursor(eventCursor, 1<<61)).is(http.StatusOK)
		c.get("/v1/audit?after=" + makeCursor(auditCursor, 1<<61, 1<<61)).is(http.StatusOK)
	})
}

func TestEventsCarryNoPatientData(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		c.post("/v1/patients", fullPatient).is(http.StatusCreated)
		for _, e := range c.get("/v1/events?wait=20").data() {
			wantMembers(t, e, "id", "type", "timestamp", "data")
			wantMembers(t, e["data"].(map[string]any), "patient_id")
		}
		n.caller("north", access.AllScopes&^access.EventsRead).get("/v1/events").is(http.StatusForbidden)
	})
}

// A client that hangs up is not counted as a failure of the service.
func TestClientHangsUp(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for _, path := range []string{"/v1/patients?search=a", "/fhir/R4/Patient"} {
			request := httptest.NewRequestWithContext(ctx, "GET", path, nil)
			request.Header.Set("Authorization", "Bearer "+c.token)
			n.api.ServeHTTP(httptest.NewRecorder(), request)
		}
		for name, times := range n.counted() {
			if strings.HasSuffix(name, " 503") {
				t.Errorf("%s: %v times", name, times)
			}
		}
		if got := n.counted()["GET /v1/patients 499"]; got != 1 {
			t.Errorf("%v requests of clients that left", got)
		}
	})
}

// A caller who hangs up while waiting leaves nothing behind.
func TestWaiterHangsUp(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		ctx, cancel := context.WithCancel(context.Background())
		request := httptest.NewRequestWithContext(ctx, "GET", "/v1/events?wait=30", nil)
		request.Header.Set("Authorization", "Bearer "+c.token)
		done := make(chan struct{})
		go func() {
			defer close(done)
			n.api.ServeHTTP(httptest.NewRecorder(), request)
		}()
		cancel()
		<-done
		c.get("/v1/events").is(http.StatusOK)
	})
}
