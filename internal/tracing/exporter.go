package tracing

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/protobuf/proto"
)

const (
	// exportTime limits one request to the collector by default.
	exportTime = 10 * time.Second
	// warnEvery is the minimum time between warnings about an unreachable
	// collector.
	warnEvery = time.Minute
)

// exporter posts spans to a collector. It replaces OpenTelemetry's own
// exporter, which depends on gRPC; see
// docs/decisions/0041-own-otlp-exporter.md.
type exporter struct {
	url             string
	client          *http.Client
	log             *slog.Logger
	warned          atomic.Int64
	dropped, posted prometheus.Counter
}

func newExporter(cfg Config) *exporter {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	e := &exporter{
		url: tracesURL(cfg.Endpoint), log: cfg.Log,
		client:  &http.Client{Timeout: cmp.Or(cfg.Patience, exportTime), Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConns: 1, IdleConnTimeout: time.Minute}},
		posted:  counter("anodyne_trace_spans_total", "Spans accepted by the collector of --otlp-endpoint."),
		dropped: counter("anodyne_trace_spans_dropped_total", "Spans lost because the collector did not accept them."),
	}
	if cfg.Registry != nil {
		cfg.Registry.MustRegister(e.posted, e.dropped)
	}
	return e
}

// tracesURL adds the default path to an endpoint without one.
func tracesURL(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err == nil && (u.Path == "" || u.Path == "/") {
		u.Path = "/v1/traces"
		return u.String()
	}
	return endpoint
}

// ExportSpans sends a batch. A failed batch is not retried: the next one
// follows soon, and memory is needed for requests.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := e.post(ctx, spans)
	if err == nil {
		e.posted.Add(float64(len(spans)))
		return nil
	}
	e.dropped.Add(float64(len(spans)))
	now := time.Now().UnixNano()
	if last := e.warned.Load(); now-last > int64(warnEvery) && e.warned.CompareAndSwap(last, now) {
		e.log.Warn("the collector did not accept traces; they are lost", "spans", len(spans), "error", err)
	}
	return nil // already logged
}

func (e *exporter) post(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	body, err := proto.Marshal(encode(spans))
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	answer, err := e.client.Do(request)
	if err != nil {
		if u, ok := err.(*url.Error); ok {
			err = u.Err // without the URL, which may contain a password
		}
		return err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) // so that the connection can be reused
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("the collector returned %s", answer.Status)
	}
	return nil
}

// Shutdown closes idle connections.
func (e *exporter) Shutdown(context.Context) error {
	e.client.CloseIdleConnections()
	return nil
}
