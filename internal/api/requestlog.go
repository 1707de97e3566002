package api

import (
	"context"
	"log/slog"
	"net/http"
	"time"
)

// requestLines has the log handler of each route. Constant attributes are
// formatted once; the five others fit into a record without allocation.
type requestLines map[*route]slog.Handler

// newRequestLines returns the handlers, or nil if there is no log or it is
// disabled at level info.
func newRequestLines(log slog.Handler, routes []route) requestLines {
	if log == nil || !log.Enabled(context.Background(), slog.LevelInfo) {
		return nil
	}
	lines := requestLines{}
	add := func(rt *route) { lines[rt] = log.WithAttrs([]slog.Attr{slog.String("route", rt.name())}) }
	add(nil)
	add(pages)
	for i := range routes {
		add(&routes[i])
	}
	return lines
}

// write logs a request. It logs the route instead of the path, which may hold
// an identifier, and omits the query, which may hold a name.
func (l requestLines) write(x *exchange, took time.Duration) {
	if x.status == http.StatusOK && isProbe(x.route) {
		return // load balancers probe every second
	}
	line := slog.NewRecord(x.now.Add(took), slog.LevelInfo, "request", 0)
	line.AddAttrs(
		slog.String("client", x.clientID()), slog.Int("status", x.status), slog.Int64("bytes", x.sent),
		slog.Float64("duration_ms", float64(took.Microseconds())/1000), slog.String("request_id", x.requestID))
	log, known := l[x.route]
	if !known {
		log = l[nil]
	}
	_ = log.Handle(x.r.Context(), line) // a failing log cannot be reported
}

// isProbe reports whether a route is a health check.
func isProbe(rt *route) bool {
	return rt != nil && (rt.pattern == "/healthz" || rt.pattern == "/readyz")
}
