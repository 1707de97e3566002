package store

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"anodyne.example/anodyne/internal/fault"
)

// These stand before the engine's own and put a span around each call. A span
// says what kind of call it was and how it ended, and nothing about what was
// asked for. Without a tracer they cost a comparison; and calls that belong to
// nothing that is traced, such as those of most workers, have none.

func (s *Store) read(ctx context.Context, fn func(Tx) error) error {
	if s.tracer == nil {
		return s.engine.read(ctx, fn)
	}
	return s.traced(ctx, "store.read", func(ctx context.Context) error { return s.engine.read(ctx, fn) })
}

func (s *Store) snapshot(ctx context.Context, fn func(Tx) error) error {
	if s.tracer == nil {
		return s.engine.snapshot(ctx, fn)
	}
	return s.traced(ctx, "store.snapshot", func(ctx context.Context) error { return s.engine.snapshot(ctx, fn) })
}

func (s *Store) write(ctx context.Context, fn func(Tx) error) error {
	if s.tracer == nil {
		return s.engine.write(ctx, fn)
	}
	return s.traced(ctx, "store.write", func(ctx context.Context) error { return s.engine.write(ctx, fn) })
}

func (s *Store) traced(ctx context.Context, name string, call func(context.Context) error) error {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return call(ctx)
	}
	ctx, span := s.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attribute.String("db.system.name", spanSystem[s.Engine()])))
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

// spanSystem names the engines as OpenTelemetry does.
var spanSystem = map[string]string{sqliteDialect.name: "sqlite", postgresDialect.name: "postgresql"}
