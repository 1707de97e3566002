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

// exchange is one request and its response on their way through the phases.
type exchange struct {
	api       *API
	w         http.ResponseWriter
	h         http.Header
	r         *http.Request
	route     *route
	began     time.Time // wall clock
	now       time.Time
	requestID string
	source    netip.Addr
	principal *access.Principal
	client    string // identifier as text, computed on demand
	org       store.Org
	status    int
	sent      int64 // bytes of the body
	hasLimits bool
	// ticket is the request as it is counted, while counting is set.
	ticket   ratelimit.Ticket
	counting bool
	seen     audit.Entry // audit entry of a read
	// values are the header values specific to this response. net/http may read
	// them after the exchange has ended, so they are not reused.
	values *headerValues
	buf    []byte // holds the response body
	// limitedTo is the result of ctx, computed on demand, and release cancels
	// it.
	limitedTo context.Context
	release   context.CancelFunc
}

// headerValues are allocated together, instead of one slice each.
type headerValues struct{ requestID, etag, length [1]string }

// answer is the response returned by a handler.
type answer struct {
	status      int
	body        []byte
	contentType string // defaults to JSON
	location    string
	etag        string
	link        string
	replayed    bool
	// file, if set, is sent instead of body.
	file *file
	// line is recorded in the audit log before the response is sent.
	line *audit.Entry
}

// file is a body that is read while it is sent. It is not compressed, because
// Range and ETag refer to its original bytes.
type file struct {
	size int64
	// each calls send with successive parts of the file.
	each func(send func([]byte) error) error
}

// sendTime limits how long a caller may take to receive one part of a file, or
// a response that took long to compute.
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

// Constant header values are shared and must not be appended to.
var (
	noSniff   = []string{"nosniff"}
	jsonType  = []string{"application/json"}
	noStore   = []string{"no-store"}
	varyCoded = []string{"Accept-Encoding"}
)

// end completes the exchange, also after a panic in a handler.
func (x *exchange) end() {
	if x.release != nil {
		x.release()
	}
	if p := recover(); p != nil {
		if p == http.ErrAbortHandler {
			panic(p)
		}
		x.api.Log.Error("panic", "request_id", x.requestID, "route", x.pattern(), "panic", p, "stack", string(debug.Stack()))
		if err := x.settle(); err != nil {
			x.api.Log.Debug("a request that panicked was not counted", "request_id", x.requestID, "err", err)
		}
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
		x.buf = nil // do not keep the memory of a large response
	}
	x.w, x.h, x.r, x.principal, x.client, x.org, x.seen, x.values, x.limitedTo, x.release = nil, nil, nil, nil, "", store.Org{}, audit.Entry{}, nil, nil, nil
	exchanges.Put(x)
}

// clientID returns the identifier of the client, or "" if unknown.
func (x *exchange) clientID() string {
	if x.client == "" && x.principal != nil {
		x.client = x.principal.ClientID.String()
	}
	return x.client
}

// pattern names the route in logs, because a path may hold an identifier.
func (x *exchange) pattern() string {
	if x.route == nil {
		return "unknown"
	}
	return x.route.pattern
}

// requestID returns the caller's request identifier if it is well-formed, and
// a new one otherwise.
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

// Header, Write and WriteHeader implement http.ResponseWriter, for the mux and
// for pages.
func (x *exchange) Header() http.Header { return x.h }

// Write records the implicit status of a page.
func (x *exchange) Write(b []byte) (int, error) {
	if x.status == 0 {
		x.status = http.StatusOK
		x.takeTime()
	}
	n, err := x.w.Write(b)
	x.sent += int64(n)
	return n, err
}

// WriteHeader records the status.
func (x *exchange) WriteHeader(status int) {
	x.status = status
	x.takeTime()
	x.w.WriteHeader(status)
}

// takeTime extends the write deadline for a response that took long to
// compute, because the rest of the server's write timeout may be too short to
// send it.
func (x *exchange) takeTime() {
	if limit := x.api.AnswerTime; limit != 0 && time.Since(x.began) > limit/2 {
		_ = http.NewResponseController(x.w).SetWriteDeadline(time.Now().Add(sendTime)) // not all connections support it
	}
}

// Unwrap gives http.ResponseController access to the connection.
func (x *exchange) Unwrap() http.ResponseWriter { return x.w }

// send writes a response.
func (x *exchange) send(out answer) {
	if !x.hasLimits { // uncounted requests show the allowance of the address
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
		n, _ := x.w.Write(body) // the caller may be gone
		x.sent += int64(n)
	}
}

// sendFile sends a file. The header is sent with the first part: if the file
// was deleted since it was found, there is still time for an error. If it fails
// later, net/http closes the connection, so that the caller notices.
func (x *exchange) sendFile(status int, f *file) {
	begin := func() {
		x.h["Content-Length"] = []string{strconv.FormatInt(f.size, 10)}
		x.WriteHeader(status)
	}
	if x.r.Method == http.MethodHead {
		begin()
		return
	}
	connection := http.NewResponseController(x.w)
	gone := false
	err := f.each(func(b []byte) error {
		if x.status == 0 {
			begin()
		}
		// The write timeout is too short for a large file on a slow connection.
		_ = connection.SetWriteDeadline(time.Now().Add(sendTime)) // not all connections support it
		n, err := x.w.Write(b)
		x.sent += int64(n)
		gone = err != nil
		return err
	})
	switch {
	case x.status != 0:
		if err != nil && !gone && x.r.Context().Err() == nil {
			x.api.Log.Warn("download interrupted", "request_id", x.requestID, "error", err)
		}
	case err != nil:
		for _, name := range []string{"Accept-Ranges", "Content-Disposition", "Content-Range", "Etag"} {
			delete(x.h, name)
		}
		x.fail(err)
	default: // the file is empty
		begin()
	}
}
