package engine

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// On PostgreSQL the driver tells of a round trip, so that what is counted is
// what goes over the wire; that a statement has to be prepared first, once a
// connection, is left out. On SQLite a transaction tells of its statements, of
// which none travels.

// TraceQueryStart makes an Observe pgx's tracer of statements.
func (o Observe) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	o(ctx, data.SQL)
	return ctx
}

// TraceQueryEnd has nothing to tell.
func (o Observe) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchStart makes an Observe pgx's tracer of statements that go out in
// one message.
func (o Observe) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	sql := make([]string, len(data.Batch.QueuedQueries))
	for i, q := range data.Batch.QueuedQueries {
		sql[i] = q.SQL
	}
	o(ctx, sql...)
	return ctx
}

// TraceBatchQuery has nothing to tell.
func (o Observe) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd has nothing to tell.
func (o Observe) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}
