package api

import (
	"context"
	"log/slog"
	"net/http"
	"time"
)

// requestLines has, for each route, the handler that writes its lines. What
// does not change is formatted once, and what does are five attributes, which a
// record holds without allocating.
type requestLines map[*route]slog.Handler

// newRequestLines makes them; nil when there is no log, or it takes no lines at
// info.
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

// write leaves the line of a request: the route, not the path, which may hold
// an identifier, and nothing of the query, which may hold a name.
func (l requestLines) write(x *exchange, took time.Duration) {
	if x.status == http.StatusOK && isProbe(x.route) {
		return // every second, from every load balancer
	}
	line := slog.NewRecord(x.now.Add(took), slog.LevelInfo, "request", 0)
	line.AddAttrs(
		slog.String("client", x.clientID()), slog.Int("status", x.status), slog.Int64("bytes", x.sent),
		slog.Float64("duration_ms", float64(took.Microseconds())/1000), slog.String("request_id", x.requestID))
	log, known := l[x.route]
	if !known {
		log = l[nil]
	}
	_ = log.Handle(x.r.Context(), line) // where would one say that the log fails?
}

// isProbe reports a route that only asks whether the service is well.
func isProbe(rt *route) bool {
	return rt != nil && (rt.pattern == "/healthz" || rt.pattern == "/readyz")
}
