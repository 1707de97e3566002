package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"strings"
	"time"
)

// Record is a clinical record. Value holds the fields of its data type,
// including the values derived by the service.
type Record struct {
	ID          string          `json:"id"`
	PatientID   string          `json:"patient_id"`
	DataType    string          `json:"data_type"`
	RecordedAt  time.Time       `json:"recorded_at"`
	Value       json.RawMessage `json:"value"`
	Notes       string          `json:"notes"`
	Source      string          `json:"source"`
	Author      string          `json:"author"`
	EncounterID string          `json:"encounter_id"`
	Status      string          `json:"status"`
	Corrects    string          `json:"corrects"`
	CreatedAt   time.Time       `json:"created_at"`
}

// NewRecord is a record to add. DataType and Value are required. Value is
// anything that encodes to the JSON of the data type; for a pain score, a bare
// number also works. A zero RecordedAt means now.
type NewRecord struct {
	DataType    string    `json:"data_type"`
	RecordedAt  time.Time `json:"recorded_at,omitzero"`
	Value       any       `json:"value"`
	Notes       string    `json:"notes,omitempty"`
	Source      string    `json:"source,omitempty"`
	Author      string    `json:"author,omitempty"`
	EncounterID string    `json:"encounter_id,omitempty"`
}

// Correction corrects a record: either with a new Value, or by marking it as
// entered in error with EnteredInError and a Reason.
type Correction struct {
	Value          any       `json:"value,omitempty"`
	RecordedAt     time.Time `json:"recorded_at,omitzero"`
	Notes          string    `json:"notes,omitempty"`
	EnteredInError bool      `json:"entered_in_error,omitempty"`
	Reason         string    `json:"reason,omitempty"`
}

// RecordQuery selects records. Zero fields use the service's defaults.
type RecordQuery struct {
	Page            int
	Limit           int
	StartDate       string // YYYY-MM-DD, inclusive
	EndDate         string // YYYY-MM-DD, inclusive
	DataTypes       []string
	NewestFirst     bool
	IncludeInactive bool // include superseded records and those entered in error
}

func clinicalPath(patientID string, more ...string) []string {
	return append([]string{"v1", "patients", patientID, "clinical-data"}, more...)
}

// AddRecord adds a record for a patient. It needs the scope clinical_data:write.
func (c *Client) AddRecord(ctx context.Context, patientID string, record NewRecord, opts ...CallOption) (*Record, error) {
	var added Record
	call := &call{op: "add record", method: http.MethodPost, path: clinicalPath(patientID), body: record}
	if _, err := c.do(ctx, call, &added, opts...); err != nil {
		return nil, err
	}
	return &added, nil
}

// AddRecords adds up to 1,000 records for a patient; either all of them are
// added or none. It needs the scope clinical_data:write.
func (c *Client) AddRecords(ctx context.Context, patientID string, records []NewRecord, opts ...CallOption) ([]Record, error) {
	var added struct {
		Data []Record `json:"data"`
	}
	body := struct {
		Records []NewRecord `json:"records"`
	}{records}
	call := &call{op: "add records", method: http.MethodPost, path: clinicalPath(patientID), body: body}
	if _, err := c.do(ctx, call, &added, opts...); err != nil {
		return nil, err
	}
	return added.Data, nil
}

// Record returns one record, whatever its status. It needs the scope
// clinical_data:read.
func (c *Client) Record(ctx context.Context, patientID, recordID string) (*Record, error) {
	var record Record
	call := &call{op: "get record", method: http.MethodGet, path: clinicalPath(patientID, recordID)}
	if _, err := c.do(ctx, call, &record); err != nil {
		return nil, err
	}
	return &record, nil
}

// CorrectRecord corrects a record and returns the record that is now in force.
// It needs the scope clinical_data:write.
func (c *Client) CorrectRecord(ctx context.Context, patientID, recordID string, correction Correction, opts ...CallOption) (*Record, error) {
	var record Record
	call := &call{op: "correct record", method: http.MethodPost, path: clinicalPath(patientID, recordID, "corrections"), body: correction}
	if _, err := c.do(ctx, call, &record, opts...); err != nil {
		return nil, err
	}
	return &record, nil
}

// RecordHistory returns a record with the records it corrects and those that
// correct it, oldest first. It needs the scope clinical_data:read.
func (c *Client) RecordHistory(ctx context.Context, patientID, recordID string) ([]Record, error) {
	var chain struct {
		Data []Record `json:"data"`
	}
	call := &call{op: "get record history", method: http.MethodGet, path: clinicalPath(patientID, recordID, "corrections")}
	if _, err := c.do(ctx, call, &chain); err != nil {
		return nil, err
	}
	return chain.Data, nil
}

// Records returns one page of a patient's records, ordered by clinical time.
// It needs the scope clinical_data:read.
func (c *Client) Records(ctx context.Context, patientID string, query RecordQuery) (*Page[Record], error) {
	q := pageQuery(query.Page, query.Limit)
	for name, value := range map[string]string{
		"start_date": query.StartDate, "end_date": query.EndDate, "data_type": strings.Join(query.DataTypes, ","),
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if query.NewestFirst {
		q.Set("order", "desc")
	}
	if query.IncludeInactive {
		q.Set("include_inactive", "true")
	}
	return answered[Page[Record]](ctx, c, &call{op: "list records", method: http.MethodGet, path: clinicalPath(patientID), query: q}, nil)
}

// AllRecords yields all matching records, fetching page by page from
// query.Page. It stops after the first error.
func (c *Client) AllRecords(ctx context.Context, patientID string, query RecordQuery) iter.Seq2[Record, error] {
	return walkFrom(query.Page, query.Limit, func(page, limit int) (*Page[Record], error) {
		query.Page, query.Limit = page, limit
		return c.Records(ctx, patientID, query)
	})
}
