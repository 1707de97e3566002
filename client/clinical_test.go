package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
)

const score = `{"id":"rec_1","patient_id":"pat_1","data_type":"pain_scores","recorded_at":"2026-01-14T18:00:00.250Z","value":{"score":6},"notes":"n",
	"source":"patient","author":"a","encounter_id":"e","status":"amended","corrects":"rec_0","created_at":"2026-01-15T10:30:00Z","added_later":1}`

var wantScore = client.Record{ID: "rec_1", PatientID: "pat_1", DataType: "pain_scores", RecordedAt: time.Date(2026, 1, 14, 18, 0, 0, 250e6, time.UTC),
	Value: []byte(`{"score":6}`), Notes: "n", Source: "patient", Author: "a", EncounterID: "e", Status: "amended", Corrects: "rec_0",
	CreatedAt: time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)}

func TestClinicalCalls(t *testing.T) {
	at := time.Date(2026, 1, 14, 19, 0, 0, 0, time.FixedZone("", 3600))
	one := func(r *client.Record, err error) ([]client.Record, error) {
		if err != nil {
			return nil, err
		}
		return []client.Record{*r}, nil
	}
	for _, tt := range []struct {
		name       string
		act        func(context.Context, *client.Client) ([]client.Record, error)
		line, body string
		many       bool
	}{
		{"add a bare number", func(ctx context.Context, c *client.Client) ([]client.Record, error) {
			return one(c.AddRecord(ctx, "pat_1", client.NewRecord{DataType: "pain_scores", Value: 0}))
		}, "POST /v1/patients/pat_1/clinical-data", `{"data_type":"pain_scores","value":0}`, false},
		{"add everything", func(ctx context.Context, c *client.Client) ([]client.Record, error) {
			return one(c.AddRecord(ctx, "a/b", client.NewRecord{DataType: "pain_scores", RecordedAt: at, Value: map[string]int{"score": 6}, Notes: "n", Source: "patient", Author: "a", EncounterID: "e"}))
		}, "POST /v1/patients/a%2Fb/clinical-data",
			`{"data_type":"pain_scores","recorded_at":"2026-01-14T19:00:00+01:00","value":{"score":6},"notes":"n","source":"patient","author":"a","encounter_id":"e"}`, false},
		{"add a batch", func(ctx context.Context, c *client.Client) ([]client.Record, error) {
			return c.AddRecords(ctx, "pat_1", []client.NewRecord{{DataType: "pain_scores", Value: 1}, {DataType: "notes", Value: map[string]string{"text": "x"}}})
		}, "POST /v1/patients/pat_1/clinical-data", `{"records":[{"data_type":"pain_scores","value":1},{"data_type":"notes","value":{"text":"x"}}]}`, true},
		{"read", func(ctx context.Context, c *client.Client) ([]client.Record, error) {
			return one(c.Record(ctx, "pat_1", "rec_1"))
		}, "GET /v1/patients/pat_1/clinical-data/rec_1", "", false},
		{"correct to nothing", func(ctx context.Context, c *client.Client) ([]client.Record, error) {
			return one(c.CorrectRecord(ctx, "pat_1", "rec_1", client.Correction{Value: 0, Reason: "misread"}))
		}, "POST /v1/patients/pat_1/clinical-data/rec_1/corrections", `{"value":0,"reason":"misread"}`, false},
		{"take back", func(ctx context.Context, c *client.Client) ([]client.Record, error) {
			return one(c.CorrectRecord(ctx, "pat_1", "rec_1", client.Correction{EnteredInError: true, Reason: "x"}))
		}, "POST /v1/patients/pat_1/clinical-data/rec_1/corrections", `{"entered_in_error":true,"reason":"x"}`, false},
		{"history", func(ctx context.Context, c *client.Client) ([]client.Record, error) {
			return c.RecordHistory(ctx, "pat_1", "rec_1")
		}, "GET /v1/patients/pat_1/clinical-data/rec_1/corrections", "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if line := r.Method + " " + r.RequestURI; err != nil || line != tt.line || string(body) != tt.body {
					t.Errorf("%s %s (%v), want %s %s", line, body, err, tt.line, tt.body)
				}
				if hasKey := r.Header.Get("Idempotency-Key") != ""; hasKey != (r.Method == http.MethodPost) {
					t.Errorf("%s has a key: %v", r.Method, hasKey)
				}
				if tt.many {
					_, _ = io.WriteString(w, `{"data":[`+score+`]}`)
				} else {
					_, _ = io.WriteString(w, score)
				}
			})
			got, err := tt.act(t.Context(), c)
			if err != nil || !reflect.DeepEqual(got, []client.Record{wantScore}) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestRecordsQuery(t *testing.T) {
	for _, tt := range []struct {
		query client.RecordQuery
		want  string
	}{
		{client.RecordQuery{}, "/v1/patients/pat_1/clinical-data"},
		{client.RecordQuery{Page: 2, Limit: 10, StartDate: "2026-01-01", EndDate: "2026-01-31", DataTypes: []string{"pain_scores", "medications"}, NewestFirst: true, IncludeInactive: true},
			"/v1/patients/pat_1/clinical-data?data_type=pain_scores%2Cmedications&end_date=2026-01-31&include_inactive=true&limit=10&order=desc&page=2&start_date=2026-01-01"},
	} {
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.RequestURI != tt.want {
				t.Errorf("asked for %s, want %s", r.RequestURI, tt.want)
			}
			_, _ = io.WriteString(w, `{"data":[`+score+`],"pagination":{"page":2,"limit":10,"total":11}}`)
		})
		page, err := c.Records(t.Context(), "pat_1", tt.query)
		if err != nil || !reflect.DeepEqual(page.Data, []client.Record{wantScore}) || page.Pagination != (client.Pagination{Page: 2, Limit: 10, Total: 11}) {
			t.Errorf("page %+v, %v", page, err)
		}
	}
}

func TestAllRecords(t *testing.T) {
	var asked []string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.FormValue("page")+"x"+r.FormValue("limit")+r.FormValue("order"))
		if r.FormValue("page") == "3" {
			refuse(w, http.StatusForbidden, client.CodeForbidden, nil)
			return
		}
		answer(w, http.StatusOK, client.Page[client.Record]{Data: []client.Record{{ID: "rec_" + r.FormValue("page")}},
			Pagination: client.Pagination{Limit: 1, Total: 5}})
	})
	var got []string
	for record, err := range c.AllRecords(t.Context(), "pat_1", client.RecordQuery{NewestFirst: true}) {
		e, _ := errors.AsType[*client.Error](err)
		got = append(got, fmt.Sprint(record.ID, e != nil))
	}
	if want := []string{"rec_1false", "rec_2false", "true"}; !slices.Equal(got, want) || !slices.Equal(asked, []string{"1x100desc", "2x100desc", "3x100desc"}) {
		t.Errorf("got %v by %v, want %v", got, asked, want)
	}
}

func TestRefusedRecord(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusBadRequest, client.CodeInvalidParameter, map[string]any{"parameter": "records[1].value.score", "value": 11})
	})
	records, err := c.AddRecords(t.Context(), "pat_1", []client.NewRecord{{DataType: "pain_scores", Value: 11}})
	if e, ok := errors.AsType[*client.Error](err); !ok || e.Code != client.CodeInvalidParameter || records != nil {
		t.Errorf("%v, %v", records, err)
	}
}
