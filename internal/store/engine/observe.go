package engine

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// On PostgreSQL, Observe is called by the driver, so it counts what is sent
// over the network, except for the preparation of a statement, which happens
// once per connection. On SQLite, which has no round trips, a transaction
// reports its statements.

// TraceQueryStart implements [pgx.QueryTracer].
func (o Observe) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	o(ctx, data.SQL)
	return ctx
}

// TraceQueryEnd implements [pgx.QueryTracer]. It does nothing.
func (o Observe) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchStart implements [pgx.BatchTracer].
func (o Observe) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	sql := make([]string, len(data.Batch.QueuedQueries))
	for i, q := range data.Batch.QueuedQueries {
		sql[i] = q.SQL
	}
	o(ctx, sql...)
	return ctx
}

// TraceBatchQuery implements [pgx.BatchTracer]. It does nothing.
func (o Observe) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd implements [pgx.BatchTracer]. It does nothing.
func (o Observe) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}
