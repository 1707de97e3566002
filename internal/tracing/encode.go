package tracing

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	resource "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	otlp "go.opentelemetry.io/proto/slim/otlp/trace/v1"
)

// encode converts spans, all of one provider, to the wire format.
func encode(spans []sdktrace.ReadOnlySpan) *collector.ExportTraceServiceRequest {
	scopes := map[string]*otlp.ScopeSpans{}
	all := &otlp.ResourceSpans{Resource: &resource.Resource{}}
	for _, s := range spans {
		all.Resource.Attributes = attributes(s.Resource().Attributes())
		name := s.InstrumentationScope().Name
		if scopes[name] == nil {
			scopes[name] = &otlp.ScopeSpans{Scope: &common.InstrumentationScope{Name: name, Version: s.InstrumentationScope().Version}}
			all.ScopeSpans = append(all.ScopeSpans, scopes[name])
		}
		scopes[name].Spans = append(scopes[name].Spans, encodeSpan(s))
	}
	return &collector.ExportTraceServiceRequest{ResourceSpans: []*otlp.ResourceSpans{all}}
}

func encodeSpan(s sdktrace.ReadOnlySpan) *otlp.Span {
	traceID, spanID := s.SpanContext().TraceID(), s.SpanContext().SpanID()
	out := &otlp.Span{
		TraceId: traceID[:], SpanId: spanID[:], TraceState: s.SpanContext().TraceState().String(),
		Name: s.Name(), Kind: otlp.Span_SpanKind(s.SpanKind()), // the numbers are identical
		StartTimeUnixNano: uint64(s.StartTime().UnixNano()), EndTimeUnixNano: uint64(s.EndTime().UnixNano()),
		Attributes: attributes(s.Attributes()), DroppedAttributesCount: uint32(s.DroppedAttributes()),
		Status: &otlp.Status{Message: s.Status().Description},
	}
	switch s.Status().Code {
	case codes.Ok:
		out.Status.Code = otlp.Status_STATUS_CODE_OK
	case codes.Error:
		out.Status.Code = otlp.Status_STATUS_CODE_ERROR
	}
	if parent := s.Parent().SpanID(); parent.IsValid() {
		out.ParentSpanId = parent[:]
	}
	return out
}

func attributes(list []attribute.KeyValue) []*common.KeyValue {
	out := make([]*common.KeyValue, 0, len(list))
	for _, kv := range list {
		out = append(out, &common.KeyValue{Key: string(kv.Key), Value: value(kv.Value)})
	}
	return out
}

// value converts the kinds in use; others become text.
func value(v attribute.Value) *common.AnyValue {
	switch v.Type() {
	case attribute.BOOL:
		return &common.AnyValue{Value: &common.AnyValue_BoolValue{BoolValue: v.AsBool()}}
	case attribute.INT64:
		return &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: v.AsInt64()}}
	case attribute.FLOAT64:
		return &common.AnyValue{Value: &common.AnyValue_DoubleValue{DoubleValue: v.AsFloat64()}}
	}
	return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: v.String()}}
}
