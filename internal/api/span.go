package api

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// hidePath removes the path, which may hold an identifier, from the span
// started by the server.
func (x *exchange) hidePath() {
	trace.SpanFromContext(x.r.Context()).SetAttributes(attribute.String("url.path", ""))
}

// nameSpan sets the name and attributes of the span at the end of the request.
func (x *exchange) nameSpan() {
	x.r.Pattern = "" // otelhttp would name the span after it, or "/" if no route matched
	span := trace.SpanFromContext(x.r.Context())
	span.SetName(x.route.name())
	span.SetAttributes(attribute.String("http.route", x.pattern()), attribute.String("url.path", x.pattern()),
		attribute.String("anodyne.client", x.clientID()), attribute.String("anodyne.request_id", x.requestID))
}
