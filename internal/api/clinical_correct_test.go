package api

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"anodyne.example/anodyne/internal/fault"
)

func TestCorrectionByANewValue(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch")
		old := c.add(id, `{"data_type":"pain_scores","value":{"score":7},"recorded_at":"2024-03-01T10:00:00Z","notes":"at rest","source":"patient","author":"diary","encounter_id":"e1"}`).
			is(http.StatusCreated).json()
		oldID := old["id"].(string)
		r := c.post(correctionsOf(id, oldID), `{"value":{"score":4},"reason":"misread"}`).is(http.StatusCreated)
		stands := r.json()
		for name, want := range map[string]any{"status": "amended", "corrects": oldID, "data_type": "pain_scores", "recorded_at": "2024-03-01T10:00:00Z",
			"notes": "at rest", "source": "patient", "author": "diary", "encounter_id": "e1", "patient_id": id} {
			if stands[name] != want {
				t.Errorf("%s is %v, want %v", name, stands[name], want)
			}
		}
		if got := stands["value"].(map[string]any)["score"]; got != 4.0 || stands["id"] == oldID || r.header.Get("Location") != dataOf(id)+"/"+stands["id"].(string) {
			t.Errorf("%s at %s", r.body, r.header.Get("Location"))
		}
		before := c.get(dataOf(id) + "/" + oldID).is(http.StatusOK).json()
		if before["status"] != "superseded" || before["value"].(map[string]any)["score"] != 7.0 || before["corrects"] != "" {
			t.Errorf("the old record is %v", before)
		}
		if got := c.get(dataOf(id)).ids(); !slices.Equal(got, []string{stands["id"].(string)}) {
			t.Errorf("%v stand", got)
		}
		r = c.get(dataOf(id) + "?include_inactive=true")
		if got := r.ids(); len(got) != 2 || r.pagination()[2] != 2 {
			t.Errorf("with inactive ones: %v", got)
		}
		if got := c.get(dataOf(id) + "?include_inactive=false").pagination()[2]; got != 1 {
			t.Errorf("%d without inactive ones", got)
		}
		moved := c.post(correctionsOf(id, stands["id"].(string)), `{"value":4,"recorded_at":"2024-03-02","notes":""}`).is(http.StatusCreated).json()
		if moved["recorded_at"] != "2024-03-02T00:00:00Z" || moved["notes"] != "" || moved["author"] != "diary" {
			t.Errorf("%v", moved)
		}
	})
}

func TestEnteredInError(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch")
		record := c.score(id, 5)
		r := c.post(correctionsOf(id, record), `{"entered_in_error":true,"reason":"another patient"}`).is(http.StatusCreated)
		if got := r.json(); got["id"] != record || got["status"] != "entered-in-error" || r.header.Get("Location") != dataOf(id)+"/"+record {
			t.Errorf("%s at %s", r.body, r.header.Get("Location"))
		}
		if got := c.get(dataOf(id)).pagination()[2]; got != 0 {
			t.Errorf("%d records stand", got)
		}
		if got := c.get(dataOf(id) + "?include_inactive=true").ids(); !slices.Equal(got, []string{record}) {
			t.Errorf("%v", got)
		}
		if read := c.get(dataOf(id) + "/" + record).is(http.StatusOK); string(read.body) != string(r.body) {
			t.Errorf("answered %s, read %s", r.body, read.body)
		}
	})
}

func TestCorrectedOnce(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch")
		superseded, taken := c.score(id, 5), c.score(id, 6)
		c.post(correctionsOf(id, superseded), `{"value":4}`).is(http.StatusCreated)
		c.post(correctionsOf(id, taken), `{"entered_in_error":true,"reason":"x"}`).is(http.StatusCreated)
		for record, status := range map[string]string{superseded: "superseded", taken: "entered-in-error"} {
			for _, body := range []string{`{"value":3}`, `{"entered_in_error":true,"reason":"x"}`} {
				c.post(correctionsOf(id, record), body).details(http.StatusConflict, fault.Conflict, map[string]any{"status": status})
			}
		}
		// Of many at once, on several nodes, one wins.
		record := c.score(id, 5)
		callers := []*caller{c, c.at(n.another())}
		replies := parallel(24, func(i int) *reply {
			return callers[i%2].post(correctionsOf(id, record), fmt.Sprintf(`{"value":%d}`, i%11))
		})
		if got := statuses(replies); got[http.StatusCreated] != 1 || got[http.StatusConflict] != 23 {
			t.Errorf("%v", got)
		}
		if got := len(c.get(correctionsOf(id, record)).data()); got != 2 {
			t.Errorf("a history of %d", got)
		}
	})
}

func TestHistoryFromAnyMember(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch")
		c.post(correctionsOf(id, c.score(id, 1)), `{"value":2}`).is(http.StatusCreated) // another chain
		chain := []string{c.score(id, 9)}
		for i := range 4 {
			// Corrections may move a record in time; the history is in the order of corrections.
			r := c.post(correctionsOf(id, chain[i]), fmt.Sprintf(`{"value":%d,"recorded_at":"2024-03-%02d"}`, i, 20-i)).is(http.StatusCreated)
			chain = append(chain, r.json()["id"].(string))
		}
		c.post(correctionsOf(id, chain[4]), `{"entered_in_error":true,"reason":"x"}`).is(http.StatusCreated)
		for _, member := range chain {
			r := c.get(correctionsOf(id, member))
			if got := r.ids(); !slices.Equal(got, chain) {
				t.Fatalf("from %s: %v, want %v", member, got, chain)
			}
			for i, record := range r.data() {
				status, corrects := "superseded", ""
				if i == 4 {
					status = "entered-in-error"
				}
				if i > 0 {
					corrects = chain[i-1]
				}
				if record["status"] != status || record["corrects"] != corrects {
					t.Errorf("member %d: %v", i, record)
				}
			}
		}
		alone := c.score(id, 3)
		if got := c.get(correctionsOf(id, alone)).ids(); !slices.Equal(got, []string{alone}) {
			t.Errorf("of a record that was never corrected: %v", got)
		}
	})
}

func TestWrongCorrections(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch")
		record := c.add(id, `{"data_type":"sleep","value":{"hours":6}}`).is(http.StatusCreated).json()["id"].(string)
		post := func(body string) *reply { return c.post(correctionsOf(id, record), body) }
		post(`{}`).wrong("value", nil)
		post(`{"value":{"hours":25}}`).wrong("value.hours", 25.0)
		post(`{"value":5}`).wrong("value", 5.0)
		post(`{"value":{"hours":5},"recorded_at":"1969-01-01"}`).wrong("recorded_at", "1969-01-01")
		post(`{"value":{"hours":5},"data_type":"mood"}`).wrong("data_type", "mood")
		post(`{"entered_in_error":true}`).wrong("reason", nil)
		post(`{"entered_in_error":false}`).wrong("entered_in_error", false)
		post(`{"entered_in_error":true,"reason":"x","value":{"hours":5}}`).fault(http.StatusBadRequest, fault.InvalidParameter)
		post(`{"valeu":{"hours":5}}`).fault(http.StatusBadRequest, fault.InvalidParameter)
		post(`[`).fault(http.StatusBadRequest, fault.InvalidBody)
		if got := c.get(correctionsOf(id, record)).data(); len(got) != 1 || got[0]["status"] != "final" {
			t.Errorf("%v", got)
		}
		// Errors in the body are reported before the record is looked up.
		for _, path := range []string{correctionsOf(id, "rec_1"), correctionsOf("pat_01kf0k8y20a14c3emmv2g2jemj", record)} {
			c.post(path, `{"entered_in_error":true}`).wrong("reason", nil)
			c.post(path, `{}`).wrong("value", nil)
			c.post(path, `{"value":{"hours":5},"recorded_at":"soon"}`).wrong("recorded_at", "soon")
			c.post(path, `{"value":{"hours":25}}`).fault(http.StatusNotFound, fault.NotFound)
		}
	})
}
