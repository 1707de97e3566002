package api

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store/webhooks"
)

func TestContract9_ListAndOne(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		var made []string
		for range 5 {
			made = append(made, c.hook())
		}
		r := c.get("/v1/webhooks?page=2&limit=2")
		if got := r.pagination(); got != [3]int{2, 2, 5} || !slices.Equal(r.ids(), made[2:4]) {
			t.Errorf("page %v: %v of %v", got, r.ids(), made)
		}
		if link := r.header.Get("Link"); !strings.Contains(link, `</v1/webhooks?page=3&limit=2>; rel="next"`) {
			t.Errorf("Link %s", link)
		}
		if past := c.get("/v1/webhooks?page=9"); past.pagination() != [3]int{9, 50, 5} || len(past.data()) != 0 {
			t.Errorf("past the end: %s", past.body)
		}
		one := c.get("/v1/webhooks/" + made[2]).is(http.StatusOK).json()
		if listed := r.data()[0]; !reflect.DeepEqual(one, listed) {
			t.Errorf("one %v, listed %v", one, listed)
		}
		c.get("/v1/webhooks?limit=101").wrong("limit", "101")
		c.get("/v1/webhooks?status=enabled").wrong("status", "enabled")
		c.get("/v1/webhooks/"+made[0]+"?x=1").wrong("x", "1")
		for _, unknown := range []string{"whk_01kf0k8y20h9gkqy2t4w1x7m3c", "x", "pat_01kf0k8y20a14c3emmv2g2jemj"} {
			c.get("/v1/webhooks/"+unknown).details(http.StatusNotFound, fault.NotFound, map[string]any{"resource": "webhook", "id": unknown})
		}
	})
}

func TestContract9_Patch(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.hook()
		path := "/v1/webhooks/" + id
		want := c.get(path).is(http.StatusOK).json()
		for _, patch := range []struct {
			body  string
			apply func()
		}{
			{`{}`, func() {}},
			{`{"url":"https://other.example.com/in"}`, func() { want["url"] = "https://other.example.com/in" }},
			{`{"events":["*"],"description":"new"}`, func() { want["events"], want["description"] = []any{"*"}, "new" }},
			{`{"description":null}`, func() { want["description"] = "" }},
			{`{"status":"disabled"}`, func() { want["status"], want["disabled_reason"] = "disabled", "requested" }},
			{`{"status":"disabled","description":"d"}`, func() { want["description"] = "d" }},
			{`{"status":"enabled"}`, func() { want["status"] = "enabled"; delete(want, "disabled_reason") }},
		} {
			patch.apply()
			for _, media := range []string{"application/merge-patch+json", "application/json"} {
				if got := c.send("PATCH", path, patch.body, "Content-Type", media).is(http.StatusOK).json(); !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %v, want %v", patch.body, got, want)
				}
			}
			if got := c.get(path).json(); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: read %v, want %v", patch.body, got, want)
			}
		}
		for body, wrong := range map[string]string{
			`{"url":null}`: "url", `{"url":"http://x.example.com"}`: "url", `{"events":null}`: "events", `{"events":[]}`: "events",
			`{"description":"a\nb"}`: "description", `{"description":` + quote(strings.Repeat("x", 201)) + `}`: "description",
			`{"id":"whk_1"}`: "id", `{"secret":"whsec_x"}`: "secret", `{"disabled_reason":"x"}`: "disabled_reason", `{"created_at":""}`: "created_at",
			`{"ulr":"x"}`: "ulr",
		} {
			if got := c.send("PATCH", path, body).fault(http.StatusBadRequest, fault.InvalidParameter); got["parameter"] != wrong || len(got) != 2 {
				t.Errorf("%.80s: %v", body, got)
			}
		}
		if got := c.get(path).json(); !reflect.DeepEqual(got, want) {
			t.Errorf("refused patches made it %v", got)
		}
		if r := c.send("PATCH", path, `{"ulr":"x"}`); !strings.Contains(r.message(), `Did you mean "url"?`) {
			t.Errorf("%s", r.message())
		}
	})
}

func TestContract9_Delete(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id, stays := c.hook(), c.hook()
		r := c.send("DELETE", "/v1/webhooks/"+id, "").is(http.StatusNoContent)
		if len(r.body) != 0 {
			t.Errorf("%s", r.body)
		}
		r.limits()
		for route, body := range webhookRoutes(id, "dlv_01kf0t4na0c8r5w2y6h3k9q1zx") {
			method, path, _ := strings.Cut(route, " ")
			c.send(method, path, body).details(http.StatusNotFound, fault.NotFound, map[string]any{"resource": "webhook", "id": id})
		}
		c.send("DELETE", "/v1/webhooks/"+id, "").is(http.StatusNotFound)
		if got := c.get("/v1/webhooks"); got.pagination()[2] != 1 || !slices.Equal(got.ids(), []string{stays}) {
			t.Errorf("%s", got.body)
		}
	})
}

func TestContract9_Rotate(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		created := c.post("/v1/webhooks", hookBody).is(http.StatusCreated).json()
		path := "/v1/webhooks/" + created["id"].(string) + "/rotate-secret"
		seen := map[any]bool{created["secret"]: true}
		for _, body := range []string{"", "{}"} {
			before := n.clock.now()
			got := c.post(path, body).is(http.StatusOK).json()
			wantMembers(t, got, "id", "url", "events", "description", "status", "created_at", "secret", "previous_secret_expires_at")
			ends, err := time.Parse("2006-01-02T15:04:05Z", got["previous_secret_expires_at"].(string))
			if low, high := before.Add(24*time.Hour-time.Second), n.clock.now().Add(24*time.Hour); err != nil || ends.Before(low) || ends.After(high) {
				t.Errorf("both sign until %v, %v", ends, err)
			}
			if !secretForm.MatchString(got["secret"].(string)) || seen[got["secret"]] {
				t.Errorf("%v", got)
			}
			seen[got["secret"]] = true
		}
		c.post(path, `{"secret":"whsec_mine"}`).wrong("secret", "whsec_mine")
		c.post(path, `[]`).fault(http.StatusBadRequest, fault.InvalidBody)
		c.post(path+"?x=1", "").wrong("x", "1")
	})
}

func TestWebhooksAreLimited(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		var last string
		for range webhooks.MaxWebhooks {
			last = c.hook()
		}
		c.post("/v1/webhooks", hookBody).details(http.StatusConflict, fault.Conflict, map[string]any{"limit": float64(webhooks.MaxWebhooks)})
		n.caller("south").hook()
		c.send("DELETE", "/v1/webhooks/"+last, "").is(http.StatusNoContent)
		c.hook()
	})
}

// Everything that is wrong is told at once.
func TestWebhookFaultsAreAllNamed(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		got := c.post("/v1/webhooks", `{"url":"x","events":["patient.made","*"],"description":7,"status":"disabled","colour":"red"}`).fault(http.StatusBadRequest, fault.InvalidParameter)
		var named []string
		for _, e := range got["errors"].([]any) {
			named = append(named, fmt.Sprint(e.(map[string]any)["parameter"]))
		}
		if want := []string{"url", "events[0]", "description", "status", "colour"}; !slices.Equal(named, want) || got["parameter"] != "url" {
			t.Errorf("%v", named)
		}
	})
}

// An address that could not be judged is not taken.
func TestUnjudgedAddressIsNotTaken(t *testing.T) {
	eachWith(t, func(cfg *Config) {
		cfg.CheckWebhookURL = func(string) error { return errors.New("the networks cannot be read") }
	}, func(t *testing.T, n *node) {
		c := n.caller("north")
		c.post("/v1/webhooks", hookBody).fault(http.StatusInternalServerError, fault.Internal)
		if got := c.get("/v1/webhooks").pagination()[2]; got != 0 {
			t.Errorf("%d webhooks", got)
		}
	})
}
