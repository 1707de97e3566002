package api

import (
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// requestLines writes the lines of the request log, in the formats of package
// slog. They are written for every request, so they are put together here: with
// a handler of slog, a line takes four times as long.
type requestLines struct {
	out    io.Writer
	json   bool
	routes map[*route]string // the constant part of a line, by route
}

// newRequestLines returns nil if there is no log.
func newRequestLines(out io.Writer, json bool, routes []route) *requestLines {
	if out == nil {
		return nil
	}
	l := &requestLines{out, json, map[*route]string{}}
	add := func(rt *route) {
		if l.json {
			l.routes[rt] = `","level":"INFO","msg":"request","route":` + strconv.Quote(rt.name()) + `,"client":"`
		} else {
			l.routes[rt] = ` level=INFO msg=request route=` + textual(rt.name()) + ` client=`
		}
	}
	add(nil)
	add(pages)
	for i := range routes {
		add(&routes[i])
	}
	return l
}

// write logs a request. It logs the route instead of the path, which may hold
// an identifier, and omits the query, which may hold a name.
func (l *requestLines) write(x *exchange, took time.Duration) {
	if x.status == http.StatusOK && isProbe(x.route) {
		return // load balancers probe every second
	}
	constant, known := l.routes[x.route]
	if !known {
		constant = l.routes[nil]
	}
	line := lines.Get().(*[]byte)
	defer lines.Put(line)
	*line = l.append((*line)[:0], x, constant, took)
	_, _ = l.out.Write(*line) // a failing log cannot be reported
}

// lines is a pool of buffers.
var lines = sync.Pool{New: func() any { return new(make([]byte, 0, 512)) }}

// append appends the line of a request. The client and the identifier of a
// request need no escapes: see [sane].
func (l *requestLines) append(b []byte, x *exchange, constant string, took time.Duration) []byte {
	at, millis := x.now.Add(took), float64(took.Microseconds())/1000
	if l.json {
		b = append(b, `{"time":"`...)
		b = at.AppendFormat(b, time.RFC3339Nano)
		b = append(b, constant...)
		b = append(b, x.clientID()...)
		b = append(b, `","status":`...)
		b = strconv.AppendInt(b, int64(x.status), 10)
		b = append(b, `,"bytes":`...)
		b = strconv.AppendInt(b, x.sent, 10)
		b = append(b, `,"duration_ms":`...)
		b = strconv.AppendFloat(b, millis, 'f', -1, 64)
		b = append(b, `,"request_id":"`...)
		b = append(b, x.requestID...)
		return append(b, "\"}\n"...)
	}
	b = append(b, "time="...)
	b = appendMillis(b, at)
	b = append(b, constant...)
	b = append(b, textual(x.clientID())...)
	b = append(b, " status="...)
	b = strconv.AppendInt(b, int64(x.status), 10)
	b = append(b, " bytes="...)
	b = strconv.AppendInt(b, x.sent, 10)
	b = append(b, " duration_ms="...)
	b = strconv.AppendFloat(b, millis, 'g', -1, 64)
	b = append(b, " request_id="...)
	b = append(b, x.requestID...)
	return append(b, '\n')
}

// appendMillis appends a time to the millisecond. [time.RFC3339Nano] has the
// fastest format, but leaves out zeros at the end of the fraction. A tenth of a
// millisecond keeps them, and is removed.
func appendMillis(b []byte, at time.Time) []byte {
	end := len(b) + len("2006-01-02T15:04:05.000")
	b = at.Truncate(time.Millisecond).Add(time.Millisecond/10).AppendFormat(b, time.RFC3339Nano)
	return append(b[:end], b[end+1:]...)
}

// textual returns a text in the text format, which quotes an empty one and the
// name of a route with its method.
func textual(s string) string {
	for _, c := range []byte(s) {
		if c == ' ' {
			return strconv.Quote(s)
		}
	}
	if s == "" {
		return `""`
	}
	return s
}

// isProbe reports whether a route is a health check.
func isProbe(rt *route) bool {
	return rt != nil && (rt.pattern == "/healthz" || rt.pattern == "/readyz")
}
