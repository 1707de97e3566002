package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// PatientItem is a patient as shown in lists.
type PatientItem struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	DateOfBirth string    `json:"date_of_birth"` // YYYY-MM-DD
	CreatedAt   time.Time `json:"created_at"`
}

// HistoryEntry is one entry of a medical history. Only Condition is required.
type HistoryEntry struct {
	Condition    string `json:"condition"`
	ICD10Code    string `json:"icd10_code,omitempty"`
	SNOMEDCode   string `json:"snomed_code,omitempty"`
	OnsetDate    string `json:"onset_date,omitempty"` // YYYY, YYYY-MM or YYYY-MM-DD
	ResolvedDate string `json:"resolved_date,omitempty"`
	Status       string `json:"status,omitempty"`
	Severity     string `json:"severity,omitempty"`
	Category     string `json:"category,omitempty"`
	Notes        string `json:"notes,omitempty"`
}

// Identifier is the number of a patient in another system, such as a medical
// record number. System is a URI or a short name such as "mrn". A pair belongs
// to one patient.
type Identifier struct {
	System string `json:"system"`
	Value  string `json:"value"`
}

// String returns the identifier as SYSTEM|VALUE.
func (i Identifier) String() string { return i.System + "|" + i.Value }

// The orders of a [PatientQuery]. Names are sorted ignoring case and accents.
const (
	OldestFirst    = "created_at"
	LatestFirst    = "-created_at"
	ByName         = "name"
	ByNameReversed = "-name"
)

// PatientQuery selects patients. Zero fields use the service's defaults.
type PatientQuery struct {
	Page        int    // starts at 1
	Limit       int    // records per page, up to 100
	Search      string // words of a name, the start of an identifier's value or of a patient's ID
	Identifier  string // SYSTEM|VALUE, or |VALUE for any system
	DateOfBirth string // YYYY-MM-DD
	Sort        string // OldestFirst by default
}

// CreatePatient creates a patient. It needs the scope patients:write.
func (c *Client) CreatePatient(ctx context.Context, patient NewPatient, opts ...CallOption) (*Patient, error) {
	return c.patient(ctx, &call{
		op:     "create patient",
		method: http.MethodPost,
		path:   []string{"v1", "patients"},
		body:   patient,
	}, opts)
}

// PutPatient creates the patient with an identifier, or replaces what is stored
// about that patient: empty fields are cleared, except Identifiers, which are
// kept if none are given. Repeating it, even in parallel, never creates a second
// patient. It needs the scope patients:write.
func (c *Client) PutPatient(ctx context.Context, identifier Identifier, patient NewPatient, opts ...CallOption) (*Patient, error) {
	return c.patient(ctx, &call{
		op:     "put patient",
		method: http.MethodPut,
		path:   []string{"v1", "patients"},
		query:  url.Values{"identifier": {identifier.String()}},
		body:   patient,
	}, opts)
}

// Patient returns a patient. It needs the scope patients:read.
func (c *Client) Patient(ctx context.Context, id string) (*Patient, error) {
	return c.patient(ctx, &call{
		op:     "get patient",
		method: http.MethodGet,
		path:   []string{"v1", "patients", id},
	}, nil)
}

// UpdatePatient changes a patient and returns the result. It needs the scope
// patients:write. Use [WithIfMatch] to avoid overwriting a concurrent change.
func (c *Client) UpdatePatient(ctx context.Context, id string, patch PatientPatch, opts ...CallOption) (*Patient, error) {
	return c.patient(ctx, &call{
		op:        "update patient",
		method:    http.MethodPatch,
		path:      []string{"v1", "patients", id},
		body:      patch,
		mediaType: "application/merge-patch+json",
	}, opts)
}

// MergePatient merges a patient into another one, and returns the patient that
// has the data of both. It needs the scope patients:write. The merged patient
// no longer exists: later calls that name it fail with [CodePatientMerged]; see
// [MergedInto].
func (c *Client) MergePatient(ctx context.Context, id, into string, opts ...CallOption) (*Patient, error) {
	return c.patient(ctx, &call{
		op:     "merge patient",
		method: http.MethodPost,
		path:   []string{"v1", "patients", id, "merge"},
		body: struct {
			Into string `json:"into"`
		}{into},
	}, opts)
}

// ErasePatient erases a patient and everything about it, and cannot be undone. It
// needs the scope patients:erase. The reason is kept in the audit log.
func (c *Client) ErasePatient(ctx context.Context, id, reason string) error {
	_, err := c.do(ctx, &call{
		op:     "erase patient",
		method: http.MethodDelete,
		path:   []string{"v1", "patients", id},
		body: struct {
			Reason string `json:"reason"`
		}{reason},
	}, nil)
	return err
}

func (c *Client) patient(ctx context.Context, call *call, opts []CallOption) (*Patient, error) {
	var patient Patient
	header, err := c.do(ctx, call, &patient, opts...)
	if err != nil {
		return nil, err
	}
	patient.ETag = header.Get("ETag")
	return &patient, nil
}

// Patients returns one page of patients. It needs the scope patients:read.
func (c *Client) Patients(ctx context.Context, query PatientQuery) (*Page[PatientItem], error) {
	q := pageQuery(query.Page, query.Limit)
	setText(q, "search", query.Search)
	setText(q, "identifier", query.Identifier)
	setText(q, "date_of_birth", query.DateOfBirth)
	setText(q, "sort", query.Sort)
	return answered[Page[PatientItem]](ctx, c, &call{op: "list patients", method: http.MethodGet, path: []string{"v1", "patients"}, query: q}, nil)
}

// AllPatients yields all matching patients, fetching page by page from
// query.Page. It stops after the first error.
func (c *Client) AllPatients(ctx context.Context, query PatientQuery) iter.Seq2[PatientItem, error] {
	if query.Limit == 0 {
		query.Limit = maxLimit
	}
	if query.Page == 0 {
		query.Page = 1
	}
	return walkPages(query.Page, func(page int) (*Page[PatientItem], error) {
		query := query
		query.Page = page
		return c.Patients(ctx, query)
	})
}
