package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/fault"
)

// errors are the parameters of all faults that an answer names.
func (r *reply) errors() (parameters []string) {
	r.tb.Helper()
	list, _ := r.fault(http.StatusBadRequest, fault.InvalidParameter)["errors"].([]any)
	for _, one := range list {
		parameters = append(parameters, one.(map[string]any)["parameter"].(string))
	}
	return parameters
}

func TestBareNumberIsAScore(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch")
		short := c.add(id, `{"data_type":"pain_scores","value":7}`).is(http.StatusCreated).json()["value"]
		long := c.add(id, `{"data_type":"pain_scores","value":{"score":7}}`).is(http.StatusCreated).json()["value"]
		if quoteAny(short) != quoteAny(long) {
			t.Errorf("short %v, long %v", short, long)
		}
		c.add(id, `{"data_type":"pain_scores","value":11}`).wrong("value", 11.0)
		c.add(id, `{"data_type":"pain_scores","value":6.5}`).wrong("value", 6.5)
		c.add(id, `{"data_type":"medications","value":7}`).wrong("value", 7.0)
	})
}

func TestBatchIsAllOrNothing(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch")
		good := `{"data_type":"pain_scores","value":5}`
		r := c.add(id, batchOf(good, `{"data_type":"pain_scores","value":{"score":99}}`, good, `{"data_type":"pain","value":1}`,
			`{"data_type":"sleep","value":{"hours":25,"qualitty":3}}`, `7`, `{"data_type":"pain_scores","value":1,"recorded_at":"2199-01-01"}`))
		want := "[records[1].value.score records[3].data_type records[4].value.hours records[4].value.qualitty records[5] records[6].recorded_at]"
		if got := fmt.Sprint(r.errors()); got != want {
			t.Errorf("faults %s, want %s", got, want)
		}
		if got := c.get(dataOf(id) + "?include_inactive=true").pagination()[2]; got != 0 {
			t.Errorf("%d records of a batch that was refused", got)
		}
		c.add(id, batchOf(good, `{"data_type":"pain_scores","value":11}`)).wrong("records[1].value", 11.0)
		data := c.add(id, batchOf(good, `{"data_type":"notes","value":{"text":"x"}}`)).is(http.StatusCreated)
		wantMembers(t, data.json(), "data")
		if list := data.json()["data"].([]any); len(list) != 2 || list[1].(map[string]any)["data_type"] != "notes" || data.header.Get("Location") != "" {
			t.Errorf("%s", data.body)
		}
		if got := c.get(dataOf(id)).pagination()[2]; got != 2 {
			t.Errorf("%d records", got)
		}
	})
}

func TestBatchSize(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch")
		records := make([]string, 1001)
		for i := range records {
			records[i] = fmt.Sprintf(`{"data_type":"pain_scores","value":%d,"recorded_at":"2024-01-01T%02d:%02d:00Z"}`, i%11, i/60, i%60)
		}
		for _, wrong := range []string{batchOf(), batchOf(records...), `{"records":null}`, `{"records":{}}`} {
			details := c.add(id, wrong).fault(http.StatusBadRequest, fault.InvalidParameter)
			if details["parameter"] != "records" {
				t.Errorf("%.40s: %.200v", wrong, details)
			}
		}
		c.add(id, `{"records":[{"data_type":"pain_scores","value":1}],"data_type":"notes"}`).wrong("data_type", "notes")
		if got := len(c.add(id, batchOf(records[:1000]...)).is(http.StatusCreated).json()["data"].([]any)); got != 1000 {
			t.Errorf("%d records", got)
		}
		if got := c.get(dataOf(id) + "?page=10&limit=100").pagination(); got != [3]int{10, 100, 1000} {
			t.Errorf("%v", got)
		}
	})
}

// Clinical data may have 8 MiB, everything else 1 MiB.
func TestClinicalBodyLimit(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch")
		sized := func(body string, size int) string { return body + strings.Repeat(" ", size-len(body)) }
		const score = `{"data_type":"pain_scores","value":5}`
		record := c.add(id, sized(score, batchLimit)).is(http.StatusCreated).json()["id"].(string)
		c.add(id, sized(score, batchLimit+1)).details(http.StatusRequestEntityTooLarge, fault.PayloadTooLarge, map[string]any{"max_bytes": float64(8 << 20)})
		c.post(correctionsOf(id, record), sized(`{"value":5}`, bodyLimit+1)).details(http.StatusRequestEntityTooLarge, fault.PayloadTooLarge, map[string]any{"max_bytes": float64(1 << 20)})
		c.post("/v1/patients", sized(fullPatient, bodyLimit+1)).details(http.StatusRequestEntityTooLarge, fault.PayloadTooLarge, map[string]any{"max_bytes": float64(1 << 20)})
	})
}

func TestRecordedAt(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch") // born on 1970-05-17
		at := func(text string) *reply {
			return c.add(id, `{"data_type":"pain_scores","value":5,"recorded_at":`+quote(text)+`}`)
		}
		for sent, want := range map[string]string{
			"2024-05-06":                        "2024-05-06T00:00:00Z",
			"2024-05-06T07:08:09Z":              "2024-05-06T07:08:09Z",
			"2024-05-06T07:08:09.120Z":          "2024-05-06T07:08:09.120Z",
			"2024-05-06T07:08:09.9999Z":         "2024-05-06T07:08:09.999Z",
			"2024-05-06T00:08:09+05:30":         "2024-05-05T18:38:09Z",
			"1970-05-17":                        "1970-05-17T00:00:00Z",
			"1970-05-17T00:00:00.5+13:00":       "1970-05-16T11:00:00.500Z", // on the day of birth, where it was written down
			"2024-12-31T23:59:59.999999-0":      "",
			"1970-05-16T23:59:59Z":              "",
			"1969-12-31":                        "",
			"2024-02-30":                        "",
			"06/05/2024":                        "",
			"tomorrow":                          "",
			"2024-05-06 07:08:09":               "",
			n.clock.later(6 * time.Minute):      "",
			n.clock.later(365 * 24 * time.Hour): "",
		} {
			r := at(sent)
			if want == "" {
				r.wrong("recorded_at", sent)
				if !strings.Contains(r.message(), "YYYY-MM-DD") {
					t.Errorf("%q: %s", sent, r.message())
				}
			} else if got := r.is(http.StatusCreated).json()["recorded_at"]; got != want {
				t.Errorf("%q became %v, want %s", sent, got, want)
			}
		}
		at(n.clock.later(4 * time.Minute)).is(http.StatusCreated) // clocks differ
		for _, absent := range []string{`{"data_type":"pain_scores","value":5}`, `{"data_type":"pain_scores","value":5,"recorded_at":null}`, `{"data_type":"pain_scores","value":5,"recorded_at":""}`} {
			before := n.clock.now().Add(-time.Second)
			text := c.add(id, absent).is(http.StatusCreated).json()["recorded_at"].(string)
			if got, err := time.Parse(time.RFC3339, text); err != nil || got.Before(before) || got.After(n.clock.now()) {
				t.Errorf("%s: recorded at %s, %v", absent, text, err)
			}
		}
	})
}

// later is a time from now on, as a caller would write it.
func (c *clock) later(d time.Duration) string { return c.now().Add(d).UTC().Format(time.RFC3339) }

func TestRecordMembers(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch")
		c.add(id, `{"value":5}`).wrong("data_type", nil)
		c.add(id, `{"data_type":"pain_scores"}`).wrong("value", nil)
		c.add(id, `{"data_type":"pain_scores","value":null}`).wrong("value", nil)
		c.add(id, `{"data_type":"pain","value":5}`).wrong("data_type", "pain")
		c.add(id, `{"data_type":"pain_scores","value":5,"note":"x"}`).wrong("note", "x")
		c.add(id, `{"data_type":"pain_scores","value":5,"source":"guess"}`).wrong("source", "guess")
		c.add(id, `{"data_type":"pain_scores","value":{"score":5,"derived":{}}}`).wrong("value.derived", map[string]any{})
		for _, readOnly := range []string{"id", "patient_id", "status", "corrects", "created_at"} {
			c.add(id, `{"data_type":"pain_scores","value":5,"`+readOnly+`":"x"}`).wrong(readOnly, "x")
		}
		c.add(id, `[]`).fault(http.StatusBadRequest, fault.InvalidBody)
		c.add(id, `{"data_type":"pain_scores","value":5}`, "Content-Type", "text/csv").fault(http.StatusUnsupportedMediaType, fault.UnsupportedMediaType)
		if got := c.get(dataOf(id)).pagination()[2]; got != 0 {
			t.Errorf("%d records", got)
		}
	})
}

func TestClinicalIdempotency(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id, other := c.create("Arlo Finch"), c.create("Berta Finch")
		body := batchOf(`{"data_type":"pain_scores","value":5}`, `{"data_type":"notes","value":{"text":"x"}}`)
		first := c.add(id, body, "Idempotency-Key", "k").is(http.StatusCreated)
		for _, again := range []*reply{c.add(id, body, "Idempotency-Key", "k"), c.at(n.another()).add(id, body, "Idempotency-Key", "k")} {
			if string(again.is(http.StatusCreated).body) != string(first.body) || again.header.Get("Idempotency-Replayed") != "true" {
				t.Errorf("replayed %s, first %s", again.body, first.body)
			}
		}
		c.add(id, body+" ", "Idempotency-Key", "k").fault(http.StatusUnprocessableEntity, fault.IdempotencyKeyReused)
		if r := c.add(other, body, "Idempotency-Key", "k").is(http.StatusCreated); r.header.Get("Idempotency-Replayed") != "" {
			t.Error("another patient's outcome was replayed")
		}
		// A correction is replayed even though the record was superseded.
		record := c.score(id, 5)
		corrected := c.post(correctionsOf(id, record), `{"value":3}`, "Idempotency-Key", "k").is(http.StatusCreated)
		again := c.post(correctionsOf(id, record), `{"value":3}`, "Idempotency-Key", "k").is(http.StatusCreated)
		if string(again.body) != string(corrected.body) || again.header.Get("Location") != corrected.header.Get("Location") || again.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("replayed %s, first %s", again.body, corrected.body)
		}
		if got := c.get(dataOf(id)).pagination()[2]; got != 3 {
			t.Errorf("%d records stand", got)
		}
	})
}

// Of parallel batches with one key, on any number of nodes, one is added.
func TestBatchesInParallel(t *testing.T) {
	const batches = 8
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		id := c.create("Arlo Finch")
		callers := []*caller{c, c.at(n.another())}
		body := batchOf(`{"data_type":"pain_scores","value":5}`, `{"data_type":"notes","value":{"text":"x"}}`)
		replies := parallel(batches, func(i int) *reply { return callers[i%2].add(id, body, "Idempotency-Key", "k") })
		for _, r := range replies {
			if string(r.is(http.StatusCreated).body) != string(replies[0].body) {
				t.Fatalf("two answers: %s and %s", r.body, replies[0].body)
			}
		}
		if got := c.get(dataOf(id)).pagination()[2]; got != 2 {
			t.Errorf("%d records", got)
		}
		for _, r := range parallel(batches, func(i int) *reply { return callers[i%2].add(id, body) }) {
			r.is(http.StatusCreated)
		}
		if got := c.get(dataOf(id)).pagination()[2]; got != 2+2*batches {
			t.Errorf("%d records without a key", got)
		}
	})
}
