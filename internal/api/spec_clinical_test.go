package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/fault"
)

func TestSpec2_ClinicalDataIsFilterableByDataType(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch")
		score := c.score(id, 4)
		medicine := c.add(id, `{"data_type":"medications","value":{"name":"ibuprofen"}}`).is(http.StatusCreated).json()["id"].(string)
		for filter, want := range map[string][]string{
			"pain_scores": {score}, "medications": {medicine}, "labs": nil,
			"pain_scores,medications": {score, medicine}, "medications, pain_scores": {score, medicine}, "labs,medications": {medicine},
		} {
			r := c.get(dataOf(id) + "?data_type=" + escaped(filter))
			if got := r.ids(); !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) || r.pagination()[2] != len(want) {
				t.Errorf("%s: %v of %d, want %v", filter, got, r.pagination()[2], want)
			}
		}
		for _, wrong := range []string{"pain_score", "", "Pain_Scores", "pain_scores,", "pain_scores,x"} {
			c.get(dataOf(id)+"?data_type="+wrong).wrong("data_type", wrong)
		}
		if r := c.get(dataOf(id) + "?data_type=pain_score"); !strings.Contains(r.message(), `"pain_scores"`) {
			t.Errorf("what was meant is not said: %s", r.message())
		}
	})
}

func TestSpec4_4_ReturnsTheDataOfOnePatient(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		mine, other := c.create("Arlo Finch"), c.create("Berta Finch")
		record := c.score(mine, 4)
		c.score(other, 9)
		r := c.get(dataOf(mine))
		if got := r.ids(); !slices.Equal(got, []string{record}) || r.pagination() != [3]int{1, 50, 1} {
			t.Errorf("%v %v", got, r.pagination())
		}
		wantMembers(t, r.json(), "data", "pagination")
		wantMembers(t, r.data()[0], "id", "patient_id", "data_type", "recorded_at", "value", "notes", "source", "author", "encounter_id", "status", "corrects", "created_at")
		c.get(dataOf("pat_01kf0k8y20a14c3emmv2g2jemj")).details(http.StatusNotFound, fault.NotFound,
			map[string]any{"resource": "patient", "id": "pat_01kf0k8y20a14c3emmv2g2jemj"})
		c.get(dataOf("nobody")).details(http.StatusNotFound, fault.NotFound, map[string]any{"resource": "patient", "id": "nobody"})
	})
}

func TestSpec4_4_ParametersAreOptional(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch")
		record := c.scoreAt(id, "2024-03-10")
		for _, query := range []string{"", "?start_date=2024-03-10", "?end_date=2024-03-10", "?data_type=pain_scores",
			"?start_date=2024-03-01&end_date=2024-03-31&data_type=pain_scores&page=1&limit=5&order=desc&include_inactive=true"} {
			if got := c.get(dataOf(id) + query).ids(); !slices.Equal(got, []string{record}) {
				t.Errorf("%q: %v", query, got)
			}
		}
	})
}

// Both ends of the range are whole days, in UTC.
func TestSpec4_4_DateRange(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch")
		for _, at := range []string{"2024-02-28T23:59:59.999Z", "2024-02-29", "2024-02-29T23:59:59.999Z", "2024-03-01T00:30:00+01:00", "2024-03-01", "2024-03-02T00:00:00Z"} {
			c.scoreAt(id, at)
		}
		for query, want := range map[string]string{
			"start_date=2024-02-29&end_date=2024-02-29": "[2024-02-29T00:00:00Z 2024-02-29T23:30:00Z 2024-02-29T23:59:59.999Z]",
			"start_date=2024-03-01":                     "[2024-03-01T00:00:00Z 2024-03-02T00:00:00Z]",
			"end_date=2024-02-28":                       "[2024-02-28T23:59:59.999Z]",
			"start_date=2024-03-03":                     "[]",
			"start_date=0001-01-01&end_date=0001-01-01": "[]",
			"end_date=9999-12-31&start_date=2024-03-02": "[2024-03-02T00:00:00Z]",
		} {
			r := c.get(dataOf(id) + "?" + query)
			if got := fmt.Sprint(r.times()); got != want || r.pagination()[2] != len(r.data()) {
				t.Errorf("%s: %s of %d, want %s", query, got, r.pagination()[2], want)
			}
		}
		c.get(dataOf(id)+"?start_date=2024-03-02&end_date=2024-03-01").wrong("start_date", "2024-03-02")
	})
}

func TestSpec4_4_DateNotInForm(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		for _, id := range []string{c.create("Arlo Finch"), "pat_01kf0k8y20a14c3emmv2g2jemj", "nobody"} { // also of a patient who is not there
			for _, parameter := range []string{"start_date", "end_date"} {
				for _, value := range []string{"01/02/2026", "2026-1-5", "2025-02-30", "20260105", "", "2026-01-05T00:00:00Z", "yesterday", "0000-01-01", "２０２６-01-05"} {
					r := c.get(dataOf(id) + "?" + parameter + "=" + escaped(value))
					r.wrong(parameter, value)
					if !strings.Contains(r.message(), "YYYY-MM-DD") {
						t.Errorf("%s: %s", r.what, r.message())
					}
				}
			}
		}
	})
}

func TestSpec4_5_AddsClinicalData(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch")
		r := c.add(id, `{"data_type":"pain_scores","recorded_at":"2024-05-06T07:08:09.123+02:00","value":{"scale":"vas","score":45,"aspect":"worst"},
			"notes":"after a walk","source":"patient","author":"diary","encounter_id":"e-7"}`).is(http.StatusCreated)
		record := r.json()
		want := map[string]any{"patient_id": id, "data_type": "pain_scores", "recorded_at": "2024-05-06T05:08:09.123Z", "notes": "after a walk",
			"source": "patient", "author": "diary", "encounter_id": "e-7", "status": "final", "corrects": ""}
		for name, value := range want {
			if record[name] != value {
				t.Errorf("%s is %v, want %v", name, record[name], value)
			}
		}
		if got := quoteAny(record["value"].(map[string]any)["derived"]); got != `{"normalized":4.5,"scheme":"default","severity":"moderate"}` {
			t.Errorf("derived %s", got)
		}
		if got := r.header.Get("Location"); got != dataOf(id)+"/"+record["id"].(string) {
			t.Errorf("Location %q", got)
		}
		if read := c.get(r.header.Get("Location")).is(http.StatusOK); string(read.body) != string(r.body) {
			t.Errorf("added %s, read %s", r.body, read.body)
		}
		c.add("pat_01kf0k8y20a14c3emmv2g2jemj", `{"data_type":"pain_scores","value":5}`).fault(http.StatusNotFound, fault.NotFound)
	})
}

func TestSpec6_ClinicalDataUpdated(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch")
		cursor := c.get("/v1/events?wait=20").cursor()
		next := func() map[string]any {
			r := c.get("/v1/events?wait=20&after=" + cursor)
			cursor = r.cursor()
			if events := r.data(); len(events) != 1 || events[0]["type"] != "clinical_data.updated" {
				t.Fatalf("events %v", events)
			}
			return r.data()[0]["data"].(map[string]any)
		}
		expect := func(data map[string]any, records []string, types ...string) {
			t.Helper()
			wantMembers(t, data, "patient_id", "record_ids", "data_types")
			if data["patient_id"] != id || fmt.Sprint(data["record_ids"]) != fmt.Sprint(records) || fmt.Sprint(data["data_types"]) != fmt.Sprint(types) {
				t.Errorf("%v, want %v and %v", data, records, types)
			}
		}
		// A request makes one event, however many records it has.
		var added []string
		for _, record := range c.add(id, batchOf(`{"data_type":"notes","value":{"text":"well"}}`, `{"data_type":"pain_scores","value":7}`, `{"data_type":"notes","value":{"text":"better"}}`)).
			is(http.StatusCreated).json()["data"].([]any) {
			added = append(added, record.(map[string]any)["id"].(string))
		}
		expect(next(), added, "pain_scores", "notes")
		amended := c.post(correctionsOf(id, added[1]), `{"value":3}`).is(http.StatusCreated).json()["id"].(string)
		expect(next(), []string{added[1], amended}, "pain_scores")
		c.post(correctionsOf(id, amended), `{"entered_in_error":true,"reason":"another patient"}`).is(http.StatusCreated)
		expect(next(), []string{amended}, "pain_scores")
		// What was refused makes none.
		c.add(id, `{"data_type":"pain_scores","value":11}`).is(http.StatusBadRequest)
		c.post(correctionsOf(id, amended), `{"value":3}`).is(http.StatusConflict)
		if events := c.get("/v1/events?after=" + cursor).data(); len(events) != 0 {
			t.Errorf("events %v", events)
		}
	})
}
