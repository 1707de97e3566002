package client_test

import (
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
)

func TestRecordFeed(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if want := "/v1/clinical-data?after=c%3D1&data_type=notes%2Clabs&limit=5"; r.RequestURI != want {
			t.Errorf("asked for %s, want %s", r.RequestURI, want)
		}
		_, _ = io.WriteString(w, `{"data":[{"id":"rec_1","patient_id":"pat_1","data_type":"notes","recorded_at":"2026-01-15T10:30:00Z","value":{"text":"x"},
			"notes":"","source":"","author":"","encounter_id":"","status":"final","corrects":"","created_at":"2026-01-15T10:30:00Z"}],
			"removed_patients":["pat_2"],"has_more":true,"next_cursor":"c2"}`)
	})
	got, err := c.RecordFeed(t.Context(), client.FeedQuery{After: "c=1", Limit: 5, DataTypes: []string{"notes", "labs"}})
	at := time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)
	want := &client.FeedPage{
		Data:            []client.Record{{ID: "rec_1", PatientID: "pat_1", DataType: "notes", RecordedAt: at, Value: []byte(`{"text":"x"}`), Status: "final", CreatedAt: at}},
		RemovedPatients: []string{"pat_2"}, HasMore: true, NextCursor: "c2",
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// feedOf plays a feed with a page for each number up to the last; odd ones are
// empty.
func feedOf(last int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		after, _ := strconv.Atoi(r.FormValue("after"))
		page := client.FeedPage{Data: []client.Record{}, HasMore: after+1 < last, NextCursor: strconv.Itoa(min(after+1, last))}
		if after < last && after%2 == 0 {
			page.Data = append(page.Data, client.Record{ID: fmt.Sprint("rec_", after), Value: []byte(`{}`)})
		}
		if r.FormValue("limit") != "1000" {
			page.NextCursor = "wrong limit"
		}
		answer(w, http.StatusOK, page)
	}
}

// Pages without records do not end the walk, and the last page is yielded even
// if it is empty, because its cursor is where a reader continues.
func TestAllRecordChangesEndsWithTheFeed(t *testing.T) {
	c := serve(t, feedOf(4))
	var got, cursors []string
	for page, err := range c.AllRecordChanges(t.Context(), client.FeedQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, record := range page.Data {
			got = append(got, record.ID)
		}
		cursors = append(cursors, page.NextCursor)
	}
	if !slices.Equal(got, []string{"rec_0", "rec_2"}) || !slices.Equal(cursors, []string{"1", "2", "3", "4"}) {
		t.Errorf("got %v with the cursors %v", got, cursors)
	}
	pages := 0
	for page, err := range c.AllRecordChanges(t.Context(), client.FeedQuery{After: "4"}) {
		if pages++; err != nil || len(page.Data) != 0 || page.NextCursor != "4" {
			t.Errorf("at the end: %+v, %v", page, err)
		}
	}
	if pages != 1 {
		t.Errorf("%d pages at the end, want 1", pages)
	}
	for range c.AllRecordChanges(t.Context(), client.FeedQuery{}) {
		break // must not yield again
	}
}

func TestFeedCursorThatDoesNotMove(t *testing.T) {
	for _, next := range []string{"", "7"} {
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			answer(w, http.StatusOK, client.FeedPage{HasMore: true, NextCursor: next})
		})
		for _, err := range c.AllRecordChanges(t.Context(), client.FeedQuery{After: "7"}) {
			if err == nil {
				t.Fatalf("next cursor %q: a page was yielded", next)
			}
		}
	}
}
