package api

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// hidePath takes the path, which may hold an identifier, out of the span that
// the server began.
func (x *exchange) hidePath() {
	trace.SpanFromContext(x.r.Context()).SetAttributes(attribute.String("url.path", ""))
}

// nameSpan gives the span what is known at the end.
func (x *exchange) nameSpan() {
	x.r.Pattern = "" // otelhttp would name the span after it, and what no route matched "/"
	span := trace.SpanFromContext(x.r.Context())
	span.SetName(x.route.name())
	span.SetAttributes(attribute.String("http.route", x.pattern()), attribute.String("url.path", x.pattern()),
		attribute.String("anodyne.client", x.clientID()), attribute.String("anodyne.request_id", x.requestID))
}
