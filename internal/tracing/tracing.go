// Package tracing sends spans to an OpenTelemetry collector with OTLP over
// HTTP. Code that creates spans takes a tracer, which may be nil: disabled
// tracing costs nothing.
package tracing

import (
	"cmp"
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

// Config configures tracing.
type Config struct {
	// Endpoint is the collector's URL; /v1/traces is added if it has no path.
	Endpoint string
	// Version is the version of the program.
	Version string
	Log     *slog.Logger
	// Registry is for the metrics; if nil, they are not published.
	Registry prometheus.Registerer
	// Patience is how long to wait for the collector. By default, a request may
	// take 10 s, and Stop waits for 5 s.
	Patience time.Duration
}

// goodbye is how long Stop waits for the collector by default.
const goodbye = 5 * time.Second

// Spans creates spans and sends them in the background. A nil *Spans creates
// none.
type Spans struct {
	provider *sdktrace.TracerProvider
	goodbye  time.Duration
	once     sync.Once
}

// Start starts sending spans. If the collector is unreachable, spans are
// dropped and counted. The standard variables OTEL_TRACES_SAMPLER and
// OTEL_TRACES_SAMPLER_ARG set the sampling.
func Start(cfg Config) *Spans {
	about := resource.NewSchemaless(attribute.String("service.name", "anodyne"), attribute.String("service.version", cfg.Version))
	if merged, err := resource.Merge(about, resource.Environment()); err == nil {
		about = merged
	}
	var options []sdktrace.BatchSpanProcessorOption
	if cfg.Patience != 0 {
		options = append(options, sdktrace.WithExportTimeout(cfg.Patience))
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(newExporter(cfg), options...), sdktrace.WithResource(about))
	return &Spans{provider: provider, goodbye: cmp.Or(cfg.Patience, goodbye)}
}

// Tracer returns a tracer, or nil if tracing is disabled.
func (s *Spans) Tracer() trace.Tracer {
	if s == nil {
		return nil
	}
	return s.provider.Tracer("anodyne")
}

// Handler creates a span for each request, as a child of the caller's if there
// is a traceparent header.
func (s *Spans) Handler(next http.Handler) http.Handler {
	if s == nil {
		return next
	}
	return otelhttp.NewHandler(next, "request", otelhttp.WithTracerProvider(s.provider),
		otelhttp.WithPropagators(propagation.TraceContext{}), otelhttp.WithMeterProvider(metricnoop.NewMeterProvider()))
}

// Stop sends the remaining spans. It may be called twice, and on nil.
func (s *Spans) Stop() {
	if s == nil {
		return
	}
	s.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), s.goodbye)
		defer cancel()
		_ = s.provider.Shutdown(ctx) // lost spans are counted
	})
}
