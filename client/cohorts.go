package client

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// Cohort is a saved selection of patients, by a list or by filters.
type Cohort struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// PatientCount is the number of patients in the list. It is nil if the
	// cohort has filters.
	PatientCount *int `json:"patient_count"`
	// Filters are nil if the cohort is a list.
	Filters *ExportFilters `json:"filters"`
	// CreatedBy is the client or member who created the cohort.
	CreatedBy string    `json:"created_by"`
	CreatedAt time.Time `json:"created_at"`
	// Patients are the identifiers of the patients in the list. Only
	// [Client.Cohort] returns them.
	Patients []string `json:"patients,omitempty"`
}

// NewCohort is the input of [Client.CreateCohort]: a name, and either patients
// or filters.
type NewCohort struct {
	Name     string         `json:"name"`
	Patients []string       `json:"patients,omitempty"`
	Filters  *ExportFilters `json:"filters,omitempty"`
}

func cohortPath(id ...string) []string { return append([]string{"v1", "cohorts"}, id...) }

// CreateCohort saves a selection of patients. It needs the scope
// patients:write.
func (c *Client) CreateCohort(ctx context.Context, cohort NewCohort, opts ...CallOption) (*Cohort, error) {
	return answered[Cohort](ctx, c, &call{op: "create cohort", method: http.MethodPost, path: cohortPath(), body: cohort}, opts)
}

// Cohort returns a cohort with the patients of its list. It needs the scope
// patients:read.
func (c *Client) Cohort(ctx context.Context, id string) (*Cohort, error) {
	return answered[Cohort](ctx, c, &call{op: "get cohort", method: http.MethodGet, path: cohortPath(id)}, nil)
}

// Cohorts returns one page of cohorts in order of creation, without their
// patients. A zero page or limit uses the service's default. It needs the scope
// patients:read.
func (c *Client) Cohorts(ctx context.Context, page, limit int) (*Page[Cohort], error) {
	return answered[Page[Cohort]](ctx, c, &call{op: "list cohorts", method: http.MethodGet, path: cohortPath(), query: pageQuery(page, limit)}, nil)
}

// AllCohorts yields all cohorts, fetching page by page. It stops after the
// first error. It needs the scope patients:read.
func (c *Client) AllCohorts(ctx context.Context) iter.Seq2[Cohort, error] {
	return walkPages(1, func(page int) (*Page[Cohort], error) { return c.Cohorts(ctx, page, maxLimit) })
}

// DeleteCohort deletes a cohort, but not its patients. It needs the scope
// patients:write.
func (c *Client) DeleteCohort(ctx context.Context, id string) error {
	_, err := c.do(ctx, &call{op: "delete cohort", method: http.MethodDelete, path: cohortPath(id)}, nil)
	return err
}
