package client_test

import (
	"context"
	"testing"

	"anodyne.example/anodyne/client"
)

func TestAliasCalls(t *testing.T) {
	const alias = `{"id":"als_1","name":"oxyIR house stock","rxnorm_code":"1049621","drug_class":"opioid","ingredients":["oxycodone"],
		"product":"oxycodone hydrochloride 5 MG Oral Tablet","created_by":"cli_1","created_at":"2026-01-15T10:30:00Z"}`
	want := client.Alias{ID: "als_1", Name: "oxyIR house stock", RxNormCode: "1049621", DrugClass: "opioid", Ingredients: []string{"oxycodone"},
		Product: "oxycodone hydrochloride 5 MG Oral Tablet", CreatedBy: "cli_1", CreatedAt: halfPast}
	checkCalls(t, []call{
		{"create", func(ctx context.Context, c *client.Client) (any, error) {
			return value(c.CreateAlias(ctx, client.NewAlias{Name: "oxyIR house stock", RxNormCode: "1049621"}))
		}, "POST /v1/reference/medications/aliases", `{"name":"oxyIR house stock","rxnorm_code":"1049621"}`, alias, want},
		{"get", func(ctx context.Context, c *client.Client) (any, error) { return value(c.Alias(ctx, "a/b")) },
			"GET /v1/reference/medications/aliases/a%2Fb", "", alias, want},
		{"list", func(ctx context.Context, c *client.Client) (any, error) { return value(c.Aliases(ctx, 2, 10)) },
			"GET /v1/reference/medications/aliases?limit=10&page=2", "", `{"data":[` + alias + `],"pagination":{"page":2,"limit":10,"total":11}}`,
			client.Page[client.Alias]{Data: []client.Alias{want}, Pagination: client.Pagination{Page: 2, Limit: 10, Total: 11}}},
		{"all", func(ctx context.Context, c *client.Client) (any, error) {
			var all []client.Alias
			for a, err := range c.AllAliases(ctx) {
				if err != nil {
					return nil, err
				}
				all = append(all, a)
			}
			return all, nil
		}, "GET /v1/reference/medications/aliases?limit=100&page=1", "", `{"data":[` + alias + `],"pagination":{"page":1,"limit":100,"total":1}}`, []client.Alias{want}},
		{"update", func(ctx context.Context, c *client.Client) (any, error) {
			return value(c.UpdateAlias(ctx, "als_1", client.AliasPatch{RxNormCode: client.Set("1049621")}))
		}, "PATCH /v1/reference/medications/aliases/als_1", `{"rxnorm_code":"1049621"}`, alias, want},
		{"delete", func(ctx context.Context, c *client.Client) (any, error) { return nil, c.DeleteAlias(ctx, "als_1") },
			"DELETE /v1/reference/medications/aliases/als_1", "", "", nil},
	})
}
