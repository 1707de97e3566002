package engine

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"anodyne.example/anodyne/internal/fault"
)

// The three put a span around the engine's own. A span says what kind of call it
// was and how it ended, and nothing about what was asked for. Without a tracer
// they cost a comparison; and calls that belong to nothing that is traced, such as
// those of most workers, have none.

// Read runs statements that each see the newest committed state. The context is
// honoured throughout.
func (db *DB) Read(ctx context.Context, fn func(Tx) error) error {
	if db.tracer == nil {
		return db.engine.read(ctx, fn)
	}
	return db.traced(ctx, "store.read", func(ctx context.Context) error { return db.engine.read(ctx, fn) })
}

// Snapshot runs statements that all see the same committed state; nothing they
// write is kept.
func (db *DB) Snapshot(ctx context.Context, fn func(Tx) error) error {
	if db.tracer == nil {
		return db.engine.snapshot(ctx, fn)
	}
	return db.traced(ctx, "store.snapshot", func(ctx context.Context) error { return db.engine.snapshot(ctx, fn) })
}

// Write runs fn in a transaction of its own and returns once it is durable. fn may
// run more than once and must not publish anything. The context is honoured until
// fn starts.
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
		code := fault.CodeOf(err) // not its text, which may quote what was written
		span.SetAttributes(attribute.String("error.type", string(code)))
		if code == fault.Internal || code == fault.Unavailable { // others are answers
			span.SetStatus(codes.Error, "")
		}
	}
	return err
}
