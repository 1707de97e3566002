package client

import (
	"context"
	"net/http"
)

// Outcomes returns the treatment outcomes of the organisation's patients. Each
// figure names its definition, which docs/analytics.md of the service explains.
// Values that are unknown, or hidden by MinCellSize, are nil. It needs the scope
// analytics:read.
func (c *Client) Outcomes(ctx context.Context, query AnalyticsQuery) (*Outcomes, error) {
	return measured[Outcomes](ctx, c, "get outcomes", "outcomes", query)
}

// PopulationHealth describes the organisation's patient population in a period.
// It needs the scope analytics:read.
func (c *Client) PopulationHealth(ctx context.Context, query AnalyticsQuery) (*PopulationHealth, error) {
	return measured[PopulationHealth](ctx, c, "get population health", "population-health", query)
}

func measured[T any](ctx context.Context, c *Client, op, name string, query AnalyticsQuery) (*T, error) {
	var measures T
	call := &call{op: op, method: http.MethodGet, path: []string{"v1", "analytics", name}, query: query.values()}
	if _, err := c.do(ctx, call, &measures); err != nil {
		return nil, err
	}
	return &measures, nil
}
