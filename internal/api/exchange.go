package api

import (
	"context"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/ratelimit"
	"anodyne.example/anodyne/internal/store"
)

// exchange is one request and its answer, on its way through the phases.
type exchange struct {
	api       *API
	w         http.ResponseWriter
	h         http.Header
	r         *http.Request
	route     *route
	began     time.Time // by the machine's clock
	now       time.Time
	requestID string
	source    netip.Addr
	principal *access.Principal
	client    string // its identifier as text, once somebody asked for it
	org       store.Org
	status    int
	sent      int64 // bytes of the body
	hasLimits bool
	seen      audit.Entry // the line of a read
	// values are the header values that only this answer has. net/http may look
	// at them after the exchange has ended, so they are made anew each time.
	values *headerValues
	buf    []byte // the answer's body is built here
	// limitedTo is ctx, once somebody asked for it, and release lets go of it.
	limitedTo context.Context
	release   context.CancelFunc
}

// headerValues are made together: one array instead of a slice for each.
type headerValues struct{ requestID, etag, length [1]string }

// answer is what a handler returns.
type answer struct {
	status      int
	body        []byte
	contentType string // JSON when empty
	location    string
	etag        string
	link        string
	replayed    bool
	// file, if set, is sent instead of body.
	file *file
	// line is left in the audit log before the answer goes out.
	line *audit.Entry
}

// file is a body that is read while it is sent. It is not compressed: its
// bytes are what a Range counts and an ETag names.
type file struct {
	size int64
	// each calls send with the bytes, part by part.
	each func(send func([]byte) error) error
}

// sendTime is how long a caller may take for a part of a file, or an answer that
// was long in the making.
const sendTime = time.Minute

var exchanges = sync.Pool{New: func() any { return &exchange{buf: make([]byte, 0, 8<<10)} }}

func newExchange(a *API, w http.ResponseWriter, r *http.Request) *exchange {
	x := exchanges.Get().(*exchange)
	*x = exchange{api: a, w: w, h: w.Header(), r: r, began: time.Now(), now: a.Now(), values: new(headerValues), buf: x.buf[:0]}
	x.requestID = requestID(r.Header["X-Request-Id"], x.now)
	x.source = sourceOf(r, a.TrustedProxies)
	x.values.requestID[0] = x.requestID
	x.h["X-Request-Id"] = x.values.requestID[:]
	x.h["X-Content-Type-Options"] = noSniff
	if a.secure(r) {
		x.h["Strict-Transport-Security"] = strictTransport
	}
	if a.Traced {
		x.hidePath()
	}
	return x
}

// Header values that never change are shared: nobody appends to them.
var (
	noSniff   = []string{"nosniff"}
	jsonType  = []string{"application/json"}
	noStore   = []string{"no-store"}
	varyCoded = []string{"Accept-Encoding"}
)

// end closes the exchange, also after a panic in a handler.
func (x *exchange) end() {
	if x.release != nil {
		x.release()
	}
	if p := recover(); p != nil {
		if p == http.ErrAbortHandler {
			panic(p)
		}
		x.api.Log.Error("panic", "request_id", x.requestID, "route", x.pattern(), "panic", p, "stack", string(debug.Stack()))
		x.fail(errPanic)
	}
	took := x.api.Now().Sub(x.now)
	x.api.metrics.observe(x.route, x.status, took)
	if x.principal != nil {
		x.api.usage.count(x.principal, x.status, x.now)
	}
	if x.api.lines != nil {
		x.api.lines.write(x, took)
	}
	if x.api.Traced {
		x.nameSpan()
	}
	if cap(x.buf) > 1<<20 {
		x.buf = nil // one large answer must not stay in memory
	}
	x.w, x.h, x.r, x.principal, x.client, x.org, x.seen, x.values, x.limitedTo, x.release = nil, nil, nil, nil, "", store.Org{}, audit.Entry{}, nil, nil, nil
	exchanges.Put(x)
}

// clientID is the identifier of the client; empty when it is not known.
func (x *exchange) clientID() string {
	if x.client == "" && x.principal != nil {
		x.client = x.principal.ClientID.String()
	}
	return x.client
}

// pattern names the route in logs: a path may hold an identifier.
func (x *exchange) pattern() string {
	if x.route == nil {
		return "unknown"
	}
	return x.route.pattern
}

// requestID keeps the caller's identifier when it is sane.
func requestID(header []string, now time.Time) string {
	if len(header) == 1 && sane(header[0]) {
		return header[0]
	}
	return id.New[id.RequestKind](now).String()
}

func sane(s string) bool {
	if len(s) == 0 || len(s) > 128 {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '-', c == '_', c == '.', c == ':':
		default:
			return false
		}
	}
	return true
}

// limited sets the rate-limit headers.
func (x *exchange) limited(d ratelimit.Decision) {
	x.hasLimits = true
	ratelimit.Set(x.h, d)
}

// Header, Write and WriteHeader make an exchange pass through net/http's mux,
// and to pages.
func (x *exchange) Header() http.Header { return x.h }

// Write notes the status that a page leaves out.
func (x *exchange) Write(b []byte) (int, error) {
	if x.status == 0 {
		x.status = http.StatusOK
		x.takeTime()
	}
	n, err := x.w.Write(b)
	x.sent += int64(n)
	return n, err
}

// WriteHeader notes the status.
func (x *exchange) WriteHeader(status int) {
	x.status = status
	x.takeTime()
	x.w.WriteHeader(status)
}

// takeTime gives the caller of an answer that was long in the making the time
// to take it: what is left of that which the server gives for both may not be
// enough.
func (x *exchange) takeTime() {
	if limit := x.api.AnswerTime; limit != 0 && time.Since(x.began) > limit/2 {
		_ = http.NewResponseController(x.w).SetWriteDeadline(time.Now().Add(sendTime)) // not every connection has one
	}
}

// Unwrap lets http.ResponseController reach the connection.
func (x *exchange) Unwrap() http.ResponseWriter { return x.w }

// send writes an answer.
func (x *exchange) send(out answer) {
	if !x.hasLimits { // what is not counted says what the address has left
		x.limited(x.api.Addresses.Peek(x.source))
	}
	if out.etag != "" {
		x.values.etag[0] = out.etag
		x.h["Etag"] = x.values.etag[:]
	}
	if out.location != "" {
		x.h["Location"] = []string{out.location}
	}
	if out.link != "" {
		x.h["Link"] = []string{out.link}
	}
	if out.replayed {
		x.h["Idempotency-Replayed"] = []string{"true"}
	}
	if _, set := x.h["Cache-Control"]; !set {
		x.h["Cache-Control"] = noStore
	}
	if out.status == http.StatusNotModified || out.status == http.StatusNoContent {
		x.WriteHeader(out.status)
		return
	}
	if out.contentType == "" {
		x.h["Content-Type"] = jsonType
	} else {
		x.h["Content-Type"] = []string{out.contentType}
	}
	if out.file != nil {
		x.sendFile(out.status, out.file)
		return
	}
	body := out.body
	if len(body) >= gzipFrom {
		x.h["Vary"] = append(x.h["Vary"], varyCoded...)
		if acceptsGzip(x.r.Header["Accept-Encoding"]) {
			x.h["Content-Encoding"] = []string{"gzip"}
			var release func()
			body, release = compress(body)
			defer release()
		}
	}
	x.values.length[0] = strconv.Itoa(len(body))
	x.h["Content-Length"] = x.values.length[:]
	x.WriteHeader(out.status)
	if x.r.Method != http.MethodHead {
		n, _ := x.w.Write(body) // a caller who is gone cannot be told
		x.sent += int64(n)
	}
}

// sendFile sends a file. When it breaks off, net/http closes the connection,
// so that the caller knows.
func (x *exchange) sendFile(status int, f *file) {
	x.h["Content-Length"] = []string{strconv.FormatInt(f.size, 10)}
	x.WriteHeader(status)
	if x.r.Method == http.MethodHead {
		return
	}
	connection := http.NewResponseController(x.w)
	gone := false
	err := f.each(func(b []byte) error {
		// The time for an answer is too short for a large file on a slow line.
		_ = connection.SetWriteDeadline(time.Now().Add(sendTime)) // not every connection has one
		n, err := x.w.Write(b)
		x.sent += int64(n)
		gone = err != nil
		return err
	})
	if err != nil && !gone && x.r.Context().Err() == nil {
		x.api.Log.Warn("download interrupted", "request_id", x.requestID, "error", err)
	}
}
