package api

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"testing"

	"anodyne.example/anodyne/internal/store/webhooks"
	"anodyne.example/anodyne/internal/webhook"
)

// hooked makes the fuzzed handler one that takes webhooks.
func hooked(f *testing.F) *target {
	f.Helper()
	t := newTarget(f)
	t.CheckWebhookURL = func(address string) error { return webhook.CheckURL(address, true) }
	t.NewWebhookSecret = webhook.NewSecret
	return t
}

// register registers a webhook; with too many there is none.
func (t *target) register(tb testing.TB, body string) (path string, created bool) {
	tb.Helper()
	answer := t.answer(tb, "POST", webhooksPath, "", body, http.Header{})
	return answer.Header.Get("Location"), answer.StatusCode == http.StatusCreated
}

func FuzzWebhookBody(f *testing.F) {
	for _, body := range []string{hookBody, `{"url":"http://127.0.0.1:1","events":["*"]}`, `{"url":"https://x","events":[]}`, `{"url":7,"events":{}}`, `{}`, `{"url":"https://[::1%25eth0]/","events":["patient.created","*",null]}`,
		`{"url":"https://x.example/\u0000","events":["*"]}`, `{"url":"https://x.example","events":["*"],"status":"disabled"}`, `{"description":"a\nb"}`} {
		f.Add(body)
	}
	t := hooked(f)
	keep, _ := t.register(f, hookBody)
	f.Fuzz(func(tb *testing.T, body string) {
		if path, created := t.register(tb, body); created {
			// What was taken can be read back, and sent again as it is read.
			read := t.answer(tb, "GET", path, "", "", http.Header{})
			var w struct {
				URL    string   `json:"url"`
				Events []string `json:"events"`
			}
			text, err := io.ReadAll(read.Body)
			if err != nil || json.Unmarshal(text, &w) != nil || w.URL == "" || len(w.Events) == 0 || len(w.Events) > len(subscribable()) {
				tb.Fatalf("%s, %v", text, err)
			}
			if _, again := t.register(tb, quoteAny(w)); !again {
				tb.Fatalf("%s is not taken again", quoteAny(w))
			}
			t.removeAll(tb, keep)
		}
		t.answer(tb, "PATCH", keep, "", body, http.Header{})
		t.answer(tb, "POST", keep+"/recover", "", body, http.Header{})
		t.answer(tb, "POST", keep+"/rotate-secret", "", body, http.Header{})
		t.answer(tb, "PATCH", keep, "", `{"status":"enabled"}`, http.Header{})
	})
}

// removeAll removes all webhooks but one.
func (t *target) removeAll(tb testing.TB, keep string) {
	tb.Helper()
	var list struct{ Data []struct{ ID string } }
	answer := t.answer(tb, "GET", webhooksPath, "limit=100", "", http.Header{})
	if err := json.NewDecoder(answer.Body).Decode(&list); err != nil || len(list.Data) > webhooks.MaxWebhooks {
		tb.Fatal(err, len(list.Data))
	}
	for _, w := range list.Data {
		if path := webhooksPath + "/" + w.ID; path != keep {
			t.answer(tb, "DELETE", path, "", "", http.Header{})
		}
	}
}

func FuzzDeliveriesQuery(f *testing.F) {
	t := hooked(f)
	path, _ := t.register(f, hookBody)
	t.answer(f, "POST", path+"/test", "", "", http.Header{})
	for _, cursor := range []string{"", "dlv_01kf0t4na0c8r5w2y6h3k9q1zx", "dlv_", "x", makeCursor(eventCursor, 1), "dlv_7zzzzzzzzzzzzzzzzzzzzzzzzz", "\xff"} {
		f.Add(cursor, "pending", "webhook.test")
	}
	f.Fuzz(func(tb *testing.T, cursor, status, kind string) {
		query := url.Values{"after": {cursor}, "status": {status}, "event_type": {kind}}
		t.answer(tb, "GET", path+"/deliveries", query.Encode(), "", http.Header{})
		t.answer(tb, "GET", path+"/deliveries/"+cursor, "", "", http.Header{})
	})
}
