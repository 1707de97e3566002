package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"anodyne.example/anodyne/client"
)

// eventLog plays GET /v1/events with a log that grows by one event every minute
// up to its size; a page has two events at most, and a cursor is a number.
func eventLog(size int) http.HandlerFunc {
	start := time.Now()
	return func(w http.ResponseWriter, r *http.Request) {
		after, _ := strconv.Atoi(r.FormValue("after"))
		wait, _ := strconv.Atoi(r.FormValue("wait"))
		grown := func() int { return min(size, 3+int(time.Since(start)/time.Minute)) }
		for range wait {
			if grown() > after || r.Context().Err() != nil {
				break
			}
			time.Sleep(time.Second)
		}
		next := min(after+2, grown())
		data := []client.Event{}
		for n := after + 1; n <= next; n++ {
			data = append(data, client.Event{ID: fmt.Sprintf("evt_%d", n), Data: []byte(`{}`)})
		}
		answer(w, http.StatusOK, client.EventPage{Data: data, NextCursor: strconv.Itoa(next)})
	}
}

func TestEvents(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if want := "/v1/events?after=c%3D1&limit=5&wait=2"; r.RequestURI != want {
			t.Errorf("asked for %s, want %s", r.RequestURI, want)
		}
		_, _ = io.WriteString(w, `{"data":[{"id":"evt_1","type":"patient.created","timestamp":"2026-01-15T10:30:00Z","data":{"patient_id":"pat_1"}}],"next_cursor":"c2"}`)
	})
	got, err := c.Events(t.Context(), "c=1", 5, 1500*time.Millisecond)
	want := &client.EventPage{
		Data: []client.Event{{
			ID: "evt_1", Type: client.EventPatientCreated, Timestamp: time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC),
			Data: []byte(`{"patient_id":"pat_1"}`),
		}},
		NextCursor: "c2",
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestAllEventsEndsWithTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{api: eventLog(10)}
		var got []string
		for event, err := range p.offline().AllEvents(t.Context(), "") {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, event.ID)
		}
		if want := []string{"evt_1", "evt_2", "evt_3"}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		for range p.offline().AllEvents(t.Context(), "") {
			break // must not yield again
		}
	})
}

func TestFollowEventsWaitsForMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		p := &peer{api: eventLog(5)}
		var got, cursors []string
		var last error
		for page, err := range p.offline().FollowEvents(ctx, "1") {
			if last = err; err != nil {
				continue
			}
			for _, event := range page.Data {
				got = append(got, event.ID)
			}
			if cursors = append(cursors, page.NextCursor); page.NextCursor == "5" {
				time.AfterFunc(40*time.Second, cancel)
			}
		}
		if want := []string{"evt_2", "evt_3", "evt_4", "evt_5"}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		if want := []string{"3", "4", "5"}; !slices.Equal(cursors, want) {
			t.Errorf("cursors %v, want %v", cursors, want)
		}
		if !errors.Is(last, context.Canceled) {
			t.Errorf("ended with %v, want canceled", last)
		}
	})
}

func TestFollowEventsCanBeLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{api: eventLog(3)}
		for range p.offline().FollowEvents(t.Context(), "") {
			break // must not yield again
		}
	})
}

func TestFollowEventsDoesNotHammer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10500*time.Millisecond)
		defer cancel()
		asked := 0
		p := &peer{api: func(w http.ResponseWriter, _ *http.Request) {
			asked++
			answer(w, http.StatusOK, client.EventPage{Data: []client.Event{}})
		}}
		for _, err := range p.offline().FollowEvents(ctx, "") {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("ended with %v", err)
			}
		}
		if asked != 11 {
			t.Errorf("asked %d times in 10 seconds, want 11", asked)
		}
	})
}

func TestCursorThatDoesNotMove(t *testing.T) {
	for _, next := range []string{"", "7"} {
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			answer(w, http.StatusOK, client.EventPage{Data: []client.Event{{ID: "evt_1", Data: []byte(`{}`)}}, NextCursor: next})
		})
		for _, err := range c.AllEvents(t.Context(), "7") {
			if err == nil {
				t.Fatalf("next cursor %q: an event was yielded", next)
			}
		}
	}
}

func TestAudit(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if want := "/v1/audit?after=c1"; r.RequestURI != want {
			t.Errorf("asked for %s, want %s", r.RequestURI, want)
		}
		_, _ = io.WriteString(w, `{"data":[{"timestamp":"2026-01-15T10:30:00Z","action":"patient.read","client_id":"cli_1","resource":"pat_1",
			"request_id":"req_1","source":"192.0.2.1","details":{"fields":["name"]},"seal":"added later"}],"next_cursor":"c2"}`)
	})
	got, err := c.Audit(t.Context(), client.AuditQuery{After: "c1"})
	want := &client.AuditPage{
		Data: []client.AuditEntry{{
			Timestamp: time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC), RequestID: "req_1", ClientID: "cli_1",
			Action: "patient.read", Resource: "pat_1", Source: "192.0.2.1", Details: map[string]any{"fields": []any{"name"}},
		}},
		NextCursor: "c2",
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}
