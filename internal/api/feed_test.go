package api

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
)

const feedPath = "/v1/clinical-data"

// feed reads the feed after a cursor to its end, once it has at least so many
// items. It returns them as they are in the response.
func (c *caller) feed(query, cursor string, least int) (items []json.RawMessage, next string) {
	c.tb.Helper()
	next = cursor
	eventually(c.tb, "the feed has "+strconv.Itoa(least)+" items", func() bool {
		for {
			path := feedPath + "?" + query
			if next != "" {
				path += "&after=" + next
			}
			var page struct {
				Data []json.RawMessage
				More bool   `json:"has_more"`
				Next string `json:"next_cursor"`
			}
			r := c.get(path).is(http.StatusOK)
			if err := json.Unmarshal(r.body, &page); err != nil {
				c.tb.Fatal(err)
			}
			items, next = append(items, page.Data...), page.Next
			if !page.More {
				return len(items) >= least
			}
		}
	})
	return items, next
}

// The items of the feed are those of the patients' lists.
func TestFeedOfClinicalData(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		arlo, berta := c.create("Arlo Finch"), c.create("Berta Finch")
		empty := c.get(feedPath).is(http.StatusOK).json()
		if quoteAny(empty["data"]) != "[]" || quoteAny(empty["removed_patients"]) != "[]" || empty["has_more"] != false || empty["next_cursor"] == "" {
			t.Errorf("an empty feed: %v", empty)
		}
		c.add(arlo, batchOf(`{"data_type":"pain_scores","value":5}`, `{"data_type":"notes","value":{"text":"slept badly"},"author":"Dr. Quill"}`)).is(http.StatusCreated)
		score := c.score(berta, 7)
		items, cursor := c.feed("limit=1", empty["next_cursor"].(string), 3)
		if len(items) != 3 {
			t.Fatalf("%d items: %s", len(items), items)
		}
		replaced := c.post(correctionsOf(berta, score), `{"value":6}`).is(http.StatusCreated).json()["id"].(string)
		changed, cursor := c.feed("limit=1000", cursor, 2)
		if len(changed) != 2 || !strings.Contains(string(changed[0]), score) || !strings.Contains(string(changed[1]), replaced) {
			t.Fatalf("a correction is listed as %s", changed)
		}
		copied := map[string]string{}
		for _, item := range append(items, changed...) {
			var rec struct{ ID string }
			if err := json.Unmarshal(item, &rec); err != nil {
				t.Fatal(err)
			}
			copied[rec.ID] = string(item)
		}
		listed := map[string]string{}
		for _, patient := range []string{arlo, berta} {
			var list struct{ Data []json.RawMessage }
			r := c.get(dataOf(patient) + "?include_inactive=true").is(http.StatusOK)
			if err := json.Unmarshal(r.body, &list); err != nil {
				t.Fatal(err)
			}
			for i, id := range r.ids() {
				listed[id] = string(list.Data[i])
			}
		}
		if len(listed) != 4 || !maps.Equal(copied, listed) {
			t.Errorf("the copy has %v, want %v", copied, listed)
		}
		if notes, _ := c.feed("data_type=notes,labs", "", 1); len(notes) != 1 || !strings.Contains(string(notes[0]), "slept badly") {
			t.Errorf("the notes are %s", notes)
		}
		// At the end, the cursor stays usable.
		end := c.get(feedPath + "?after=" + cursor).is(http.StatusOK).json()
		if end["has_more"] != false || len(end["data"].([]any)) != 0 {
			t.Errorf("after the end: %v", end)
		}
		later := c.score(arlo, 1)
		if items, _ := c.feed("limit=10", end["next_cursor"].(string), 1); len(items) != 1 || !strings.Contains(string(items[0]), later) {
			t.Errorf("after the end came %s", items)
		}
	})
}

func TestFeedRefusesWrongParameters(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		for _, limit := range []string{"0", "1001", "-1", "x", ""} {
			c.get(feedPath+"?limit="+limit).wrong("limit", limit)
		}
		c.get(feedPath + "?limit=1000").is(http.StatusOK)
		c.get(feedPath+"?data_type=pain").wrong("data_type", "pain")
		c.get(feedPath+"?page=1").wrong("page", "1")
		for _, cursor := range []string{"", "x", "!", makeCursor(feedCursor), makeCursor(feedCursor, 1), makeCursor(feedCursor, 1, 2, 3), makeCursor(eventCursor, 1), makeCursor(auditCursor, 1, 0),
			makeCursor(feedCursor, 1, 0) + "A", makeCursor(feedCursor, 1_000_000, 0), makeCursor(feedCursor, 1<<62-1, 1<<62-1)} {
			c.get(feedPath+"?after="+cursor).wrong("after", cursor)
		}
		// A cursor into the middle of nothing is harmless.
		c.get(feedPath + "?after=" + makeCursor(feedCursor, 1, 1<<62-1)).is(http.StatusOK)
	})
}

// The feed needs clinical_data:read and nothing else, and every page is in the
// audit log.
func TestFeedAccessAndAudit(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch")
		c.score(id, 5)
		c.feed("", "", 1)
		n.caller("north", access.AllScopes&^access.ClinicalDataRead).get(feedPath).fault(http.StatusForbidden, fault.Forbidden)
		reader := n.caller("north", access.ClinicalDataRead)
		body := reader.get(feedPath+"?data_type=pain_scores", "X-Request-Id", "fed").is(http.StatusOK).body
		if !strings.Contains(string(body), id) {
			t.Errorf("the feed is %s", body)
		}
		auditor := n.auditor(access.AllScopes)
		lines := auditor.audit("&action=clinical_data.list", 2)
		got := line(t, lines, "fed")
		details, _ := got["details"].(map[string]any)
		if got["client_id"] != reader.client.ID.String() || got["resource"] != nil || details["count"] != 1.0 || quoteAny(details["data_types"]) != `["pain_scores"]` {
			t.Errorf("audited as %v", got)
		}
	})
}

// A reader without the scope, with a cursor of the other organisation, or of
// another organisation gets nothing of it.
func init() {
	strangers["GET "+feedPath] = func(t *testing.T, south *caller, id string) {
		north := south.caller("north of GET " + feedPath)
		record := prey(south, "GET "+feedPath, id)
		_, cursor := north.feed("", "", 1)
		own := south.score(south.create("Cleo Wren"), 3)
		for _, after := range []string{"", makeCursor(feedCursor, 1, 0), cursor} {
			r := south.get(feedPath + "?limit=1000&after=" + after)
			if strings.Contains(string(r.body), record) || strings.Contains(string(r.body), id) {
				t.Errorf("%s: %s", r.what, r.body)
			}
		}
		if items, _ := south.feed("", "", 1); len(items) != 1 || !slices.ContainsFunc(items, func(i json.RawMessage) bool { return strings.Contains(string(i), own) }) {
			t.Errorf("south sees %s", items)
		}
	}
}
