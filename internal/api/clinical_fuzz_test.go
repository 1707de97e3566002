package api

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// records reads the records of an answer to added data.
func (t *target) records(tb testing.TB, answer *http.Response) (records []json.RawMessage) {
	tb.Helper()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		tb.Fatal(err)
	}
	var batch struct{ Data []json.RawMessage }
	if err := json.Unmarshal(body, &batch); err != nil {
		tb.Fatal(err)
	}
	if batch.Data != nil {
		return batch.Data
	}
	return []json.RawMessage{body}
}

// What is taken can be read, and is what was answered.
func FuzzClinicalData(f *testing.F) {
	for name, seed := range values {
		f.Add(`{"data_type":"` + name + `","value":` + seed.value + `}`)
		f.Add(batchOf(`{"data_type":"`+name+`","value":`+seed.value+`,"notes":"a\nb","recorded_at":"2024-02-29T23:59:60.5+14:00"}`, `{"data_type":"pain_scores","value":5}`))
	}
	for _, body := range []string{`{"records":[]}`, `{"records":[null,1,{}]}`, `{"records":{}}`, `{"data_type":"notes","value":"x"}`, `{"data_type":"mood","value":{"score":1e400}}`} {
		f.Add(body)
	}
	t := newTarget(f)
	f.Fuzz(func(tb *testing.T, body string) {
		answer := t.answer(tb, "POST", dataOf(t.patient), "", body, http.Header{})
		if answer.StatusCode != http.StatusCreated {
			return
		}
		for _, added := range t.records(tb, answer) {
			var record struct{ ID string }
			if err := json.Unmarshal(added, &record); err != nil {
				tb.Fatal(err)
			}
			read, err := io.ReadAll(t.answer(tb, "GET", dataOf(t.patient)+"/"+record.ID, "", "", http.Header{}).Body)
			if err != nil || string(read) != string(added) {
				tb.Fatalf("added %s, read %s, %v", added, read, err)
			}
		}
	})
}

func FuzzCorrection(f *testing.F) {
	for _, body := range []string{`{"value":3}`, `{"value":{"score":3},"recorded_at":"2024-01-01","notes":"","reason":"x"}`, `{"entered_in_error":true,"reason":"x"}`,
		`{"entered_in_error":null,"value":3}`, `{"entered_in_error":"true"}`, `{}`, `null`, `{"reason":"\"reason\":"}`} {
		f.Add(body)
	}
	t := newTarget(f)
	f.Fuzz(func(tb *testing.T, body string) {
		added := t.answer(tb, "POST", dataOf(t.patient), "", `{"data_type":"pain_scores","value":5}`, http.Header{})
		path := added.Header.Get("Location") + "/corrections"
		answer := t.answer(tb, "POST", path, "", body, http.Header{})
		switch again := t.answer(tb, "POST", path, "", body, http.Header{}); {
		case answer.StatusCode == http.StatusCreated && again.StatusCode != http.StatusConflict,
			answer.StatusCode != http.StatusCreated && again.StatusCode != answer.StatusCode:
			tb.Fatalf("%q: %d, then %d", body, answer.StatusCode, again.StatusCode)
		}
	})
}

func FuzzClinicalQuery(f *testing.F) {
	for _, query := range []string{"", "start_date=2024-01-01&end_date=2023-01-01", "start_date=0001-01-01", "end_date=9999-12-31", "data_type=,", "data_type=sleep,mood",
		"order=desc&include_inactive=true&page=2147483647&limit=100", "order=", "start_date=%ff"} {
		f.Add(query)
	}
	t := newTarget(f)
	f.Fuzz(func(tb *testing.T, query string) {
		answer := t.answer(tb, "GET", dataOf(t.patient), query, "", http.Header{})
		if link := answer.Header.Get("Link"); (answer.StatusCode == http.StatusOK) != strings.Contains(link, `rel="first"`) {
			tb.Fatalf("%q: %d with the links %s", query, answer.StatusCode, link)
		}
	})
}
