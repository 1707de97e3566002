package webhook

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"anodyne.example/anodyne/internal/id"
)

// traced is try with a span, if there is a tracer. The span has the
// identifiers of endpoint and event, but not the URL, which may contain a
// password. The trace context is not sent to the receiver.
func (w *Worker) traced(e *endpoint, webhook id.Webhook, m Message) Attempt {
	if w.tracer == nil {
		return w.try(w.sending, e, m)
	}
	ctx, span := w.tracer.Start(w.sending, "webhook.delivery", trace.WithSpanKind(trace.SpanKindProducer), trace.WithAttributes(
		attribute.String("anodyne.webhook", webhook.String()), attribute.String("anodyne.event", m.ID)))
	defer span.End()
	a := w.try(ctx, e, m)
	if a.Status != 0 {
		span.SetAttributes(attribute.Int("http.response.status_code", a.Status))
	}
	if !a.OK() {
		span.SetStatus(codes.Error, "")
	}
	return a
}
