// Package tracing sends spans to an OpenTelemetry collector, by OTLP over HTTP.
// Who makes spans takes a tracer and does without when it is nil: switched off,
// tracing costs nothing.
package tracing

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Config says where spans go.
type Config struct {
	// Endpoint is the collector's URL; without a path it gets /v1/traces.
	Endpoint string
	// Version is the program's.
	Version string
	Log     *slog.Logger
	// Registry takes the metrics; nil keeps them private.
	Registry prometheus.Registerer
}

// goodbye is how long a stop waits for the collector.
const goodbye = 5 * time.Second

// Spans makes spans and sends them in the background. A nil *Spans makes none.
type Spans struct {
	provider *sdktrace.TracerProvider
	once     sync.Once
}

// Start begins to send. A collector that is away costs spans, which are
// counted, and nothing else. How many requests are traced follows the standard
// variables OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG.
func Start(cfg Config) *Spans {
	about := resource.NewSchemaless(attribute.String("service.name", "anodyne"), attribute.String("service.version", cfg.Version))
	if merged, err := resource.Merge(about, resource.Environment()); err == nil {
		about = merged
	}
	return &Spans{provider: sdktrace.NewTracerProvider(sdktrace.WithBatcher(newExporter(cfg)), sdktrace.WithResource(about))}
}

// Tracer makes spans; nil when tracing is off.
func (s *Spans) Tracer() trace.Tracer {
	if s == nil {
		return nil
	}
	return s.provider.Tracer("anodyne")
}

// Handler makes a span for each request, below that of the caller when there is
// a traceparent.
func (s *Spans) Handler(next http.Handler) http.Handler {
	if s == nil {
		return next
	}
	return otelhttp.NewHandler(next, "request", otelhttp.WithTracerProvider(s.provider),
		otelhttp.WithPropagators(propagation.TraceContext{}), otelhttp.WithMeterProvider(metricnoop.NewMeterProvider()))
}

// Stop sends what is left. Twice is safe, and so is nil.
func (s *Spans) Stop() {
	if s == nil {
		return
	}
	s.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), goodbye)
		defer cancel()
		_ = s.provider.Shutdown(ctx) // spans that are lost are counted
	})
}
