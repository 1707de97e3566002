package engine

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"anodyne.example/anodyne/internal/fault"
)

// These methods add a span to those of the engine. It contains the kind of call
// and its outcome, but nothing about the content. Without a tracer they cost
// one comparison. Calls outside a traced operation, such as those of most
// workers, have no span.

// Read runs statements that each see the latest committed state. The context is
// honoured throughout.
func (db *DB) Read(ctx context.Context, fn func(Tx) error) error {
	if db.tracer == nil {
		return db.engine.read(ctx, fn)
	}
	return db.traced(ctx, "store.read", func(ctx context.Context) error { return db.engine.read(ctx, fn) })
}

// Snapshot runs statements that all see the same committed state. It discards
// anything they write.
func (db *DB) Snapshot(ctx context.Context, fn func(Tx) error) error {
	if db.tracer == nil {
		return db.engine.snapshot(ctx, fn)
	}
	return db.traced(ctx, "store.snapshot", func(ctx context.Context) error { return db.engine.snapshot(ctx, fn) })
}

// Lookup runs one statement that reads few rows by key, and calls each for
// every row. Its arguments are int64, string or []byte. On PostgreSQL, calls
// that wait at the same time share a round trip and see the same committed
// state. That is at least the state at the time of the call. The rows stay
// valid until Lookup returns. The context is honoured throughout; without a
// deadline, Lookup waits about a minute at most.
func (db *DB) Lookup(ctx context.Context, sql string, each func(Row) error, args ...any) error {
	if db.tracer == nil {
		return db.engine.lookup(ctx, sql, each, args...)
	}
	return db.traced(ctx, "store.read", func(ctx context.Context) error { return db.engine.lookup(ctx, sql, each, args...) })
}

// Tally changes one row and returns it, as counting a request does. It adds the
// call to those that [DB.Lookup] makes together: the next Lookup sends it in the
// same message, or else StartTallies sends it. sql is written for arrays, one of
// each number; it locks rows in the order of the first, which is their key, and
// begins the rows of its result with it. A tally may not be durable yet when tell
// is called; tell must not block. Its error is [ErrAlone] if the statement failed
// because of some of its rows.
//
// It is meant for engines that have [Dialect.Gathers].
func (db *DB) Tally(ctx context.Context, sql string, numbers []int64, tell func(Row, error)) {
	db.engine.tally(ctx, sql, numbers, tell)
}

// StartTallies sends the tallies that wait, if that has to be done now: while
// other calls are under way, these are followed by those that wait.
func (db *DB) StartTallies() { db.engine.startTallies() }

// Write runs fn in its own transaction and returns once it is durable. fn may
// run more than once and must not have other side effects. The context is
// honoured until fn starts.
func (db *DB) Write(ctx context.Context, fn func(Tx) error) error {
	if db.tracer == nil {
		return db.engine.write(ctx, fn)
	}
	return db.traced(ctx, "store.write", func(ctx context.Context) error { return db.engine.write(ctx, fn) })
}

func (db *DB) traced(ctx context.Context, name string, call func(context.Context) error) error {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return call(ctx)
	}
	ctx, span := db.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attribute.String("db.system.name", db.dialect().system)))
	defer span.End()
	err := call(ctx)
	if err != nil {
		code := fault.CodeOf(err) // not the message, which may quote data
		span.SetAttributes(attribute.String("error.type", string(code)))
		if code == fault.Internal || code == fault.Unavailable { // other codes are regular responses
			span.SetStatus(codes.Error, "")
		}
	}
	return err
}
