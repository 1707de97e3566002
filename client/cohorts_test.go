package client_test

import (
	"context"
	"testing"

	"anodyne.example/anodyne/client"
)

func TestCohortCalls(t *testing.T) {
	const list = `{"id":"coh_1","name":"Spring study","patient_count":1,"filters":null,"created_by":"cli_1","created_at":"2026-01-15T10:30:00Z","patients":["pat_1"]}`
	const filtered = `{"id":"coh_2","name":"Women","patient_count":null,"filters":{"gender":"female"},"created_by":"cli_1","created_at":"2026-01-15T10:30:00Z"}`
	one := 1
	wantList := client.Cohort{ID: "coh_1", Name: "Spring study", PatientCount: &one, CreatedBy: "cli_1", CreatedAt: halfPast, Patients: []string{"pat_1"}}
	wantFiltered := client.Cohort{ID: "coh_2", Name: "Women", Filters: &client.ExportFilters{Gender: "female"}, CreatedBy: "cli_1", CreatedAt: halfPast}
	checkCalls(t, []call{
		{"create", func(ctx context.Context, c *client.Client) (any, error) {
			return value(c.CreateCohort(ctx, client.NewCohort{Name: "Women", Filters: &client.ExportFilters{Gender: "female"}}))
		}, "POST /v1/cohorts", `{"name":"Women","filters":{"gender":"female"}}`, filtered, wantFiltered},
		{"get", func(ctx context.Context, c *client.Client) (any, error) { return value(c.Cohort(ctx, "a/b")) }, "GET /v1/cohorts/a%2Fb", "", list, wantList},
		{"list", func(ctx context.Context, c *client.Client) (any, error) { return value(c.Cohorts(ctx, 2, 10)) },
			"GET /v1/cohorts?limit=10&page=2", "", `{"data":[` + filtered + `],"pagination":{"page":2,"limit":10,"total":11}}`,
			client.Page[client.Cohort]{Data: []client.Cohort{wantFiltered}, Pagination: client.Pagination{Page: 2, Limit: 10, Total: 11}}},
		{"all", func(ctx context.Context, c *client.Client) (any, error) {
			var all []client.Cohort
			for a, err := range c.AllCohorts(ctx) {
				if err != nil {
					return nil, err
				}
				all = append(all, a)
			}
			return all, nil
		}, "GET /v1/cohorts?limit=100&page=1", "", `{"data":[` + filtered + `],"pagination":{"page":1,"limit":100,"total":1}}`, []client.Cohort{wantFiltered}},
		{"delete", func(ctx context.Context, c *client.Client) (any, error) { return nil, c.DeleteCohort(ctx, "coh_1") }, "DELETE /v1/cohorts/coh_1", "", "", nil},
	})
}
