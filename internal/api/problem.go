package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"strconv"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
)

// statusOf maps error codes to status codes. No other code decides on them.
var statusOf = map[fault.Code]int{
	fault.InvalidParameter:     http.StatusBadRequest,
	fault.InvalidBody:          http.StatusBadRequest,
	fault.UnsupportedGrantType: http.StatusBadRequest,
	fault.InvalidScope:         http.StatusBadRequest,
	fault.Unauthorized:         http.StatusUnauthorized,
	fault.InvalidClient:        http.StatusUnauthorized,
	fault.Forbidden:            http.StatusForbidden,
	fault.NotFound:             http.StatusNotFound,
	fault.MethodNotAllowed:     http.StatusMethodNotAllowed,
	fault.Conflict:             http.StatusConflict,
	fault.IdempotencyRunning:   http.StatusConflict,
	fault.ReportNotReady:       http.StatusConflict,
	fault.ReportFailed:         http.StatusConflict,
	fault.ReportExpired:        http.StatusGone,
	fault.PatientMerged:        http.StatusGone,
	fault.ExportNotReady:       http.StatusConflict,
	fault.ExportFailed:         http.StatusConflict,
	fault.ExportExpired:        http.StatusGone,
	fault.PreconditionFailed:   http.StatusPreconditionFailed,
	fault.PayloadTooLarge:      http.StatusRequestEntityTooLarge,
	fault.UnsupportedMediaType: http.StatusUnsupportedMediaType,
	fault.RangeNotSatisfiable:  http.StatusRequestedRangeNotSatisfiable,
	fault.IdempotencyKeyReused: http.StatusUnprocessableEntity,
	fault.RateLimitExceeded:    http.StatusTooManyRequests,
	fault.Internal:             http.StatusInternalServerError,
	fault.Unavailable:          http.StatusServiceUnavailable,
}

var errPanic = errors.New("panic")

// statusLeft is counted and logged instead of 503 if the client hung up: nobody
// received a response, and nothing is wrong with the service. nginx uses the same
// number.
const statusLeft = 499

// fail responds with an error. An error that is not a fault is internal: it is
// logged, and the caller only learns the request ID.
func (x *exchange) fail(err error) {
	if x.status != 0 {
		return // the response was already sent
	}
	f := x.explain(err)
	if f.Code == fault.Unavailable && x.left() {
		defer func() { x.status = statusLeft }()
	}
	status, known := statusOf[f.Code]
	if !known {
		status = http.StatusInternalServerError
	}
	if f.RetryAfter > 0 {
		x.h["Retry-After"] = []string{strconv.FormatInt(int64((f.RetryAfter+time.Second-1)/time.Second), 10)}
	}
	switch f.Code {
	case fault.Unauthorized, fault.Forbidden:
		x.h["Www-Authenticate"] = []string{bearerChallenge(f)}
	case fault.InvalidClient:
		x.h["Www-Authenticate"] = []string{`Basic realm="anodyne", charset="UTF-8"`}
	}
	if underFHIR(x.r.URL.Path) {
		x.failFHIR(err, f, status)
		return
	}
	out := answer{status: status}
	if f.Details["resource"] == unknownPath && prefersHTML(x.r.Header["Accept"]) {
		out.contentType = "text/html; charset=utf-8"
		out.body = fmt.Appendf(nil, "<!doctype html>\n<html lang=\"en\"><title>Not found</title>\n<h1>Not found</h1>\n<p>%s</p>\n", html.EscapeString(f.Message))
	} else {
		out.body = x.problem(f)
	}
	x.send(out)
}

// problem returns the JSON form of an error. The OAuth endpoints repeat the
// message at the top level, where OAuth libraries expect it.
func (x *exchange) problem(f *fault.Error) []byte {
	type body struct {
		Code    fault.Code     `json:"code"`
		Message string         `json:"message"`
		Details map[string]any `json:"details"`
	}
	doc := struct {
		Error       body   `json:"error"`
		Description string `json:"error_description,omitempty"`
	}{Error: body{f.Code, f.Message, f.Details}}
	if doc.Error.Details == nil {
		doc.Error.Details = map[string]any{}
	}
	if x.route != nil && strings.HasPrefix(x.route.pattern, "/oauth/") {
		doc.Description = f.Message
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // JSON, not HTML
	if err := encoder.Encode(doc); err != nil {
		panic(err) // details can always be marshalled
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

// left reports whether the client has hung up.
func (x *exchange) left() bool { return errors.Is(x.r.Context().Err(), context.Canceled) }

// explain converts any error to a fault and logs what is hidden from the
// caller.
func (x *exchange) explain(err error) *fault.Error {
	f, known := errors.AsType[*fault.Error](err)
	if _, refused := errors.AsType[*refusal](err); refused {
		return fault.New(fault.InvalidParameter, err.Error())
	}
	switch {
	case known && f.Code == fault.Unavailable && f.Cause != nil && !x.left(): // otherwise the message is complete
		x.api.Log.Warn("service unavailable", "request_id", x.requestID, "route", x.pattern(), "error", f)
		return f
	case known:
		return f
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fault.Away("The request took too long or was cancelled.", err)
	}
	if !errors.Is(err, errPanic) { // logged with its stack
		x.api.Log.Error("internal error", "request_id", x.requestID, "route", x.pattern(), "error", err)
	}
	return fault.New(fault.Internal, "Something went wrong on our side. Give the operator the request ID.", "request_id", x.requestID)
}

// bearerChallenge returns the WWW-Authenticate header (RFC 6750).
func bearerChallenge(f *fault.Error) string {
	switch f.Details["reason"] {
	case "missing_token":
		return `Bearer realm="anodyne"`
	case nil:
		return fmt.Sprintf(`Bearer realm="anodyne", error="insufficient_scope", scope="%s"`, f.Details["required_scope"])
	}
	return fmt.Sprintf(`Bearer realm="anodyne", error="invalid_token", error_description="%s"`, f.Message)
}

func forbidden(need, granted access.Scopes) error {
	return fault.New(fault.Forbidden, "The token lacks the scope "+(need&^granted).String()+".",
		"required_scope", need.String(), "granted_scopes", granted.Names())
}

func methodNotAllowed(allowed string) error {
	return fault.New(fault.MethodNotAllowed, "This path supports "+allowed+".", "allowed", strings.Split(allowed, ", "))
}

// unknownPath is the resource reported as not found if no route matches.
const unknownPath = "path"

func noSuchPath(path string) error {
	if len(path) > 200 {
		path = strings.ToValidUTF8(path[:200], "") + "…"
	}
	return fault.New(fault.NotFound, "This path does not exist.", "resource", unknownPath, "id", strings.ToValidUTF8(path, "\uFFFD"))
}

// prefersHTML reports whether the caller accepts HTML but not JSON, as
// browsers do.
func prefersHTML(accept []string) bool {
	all := strings.Join(accept, ",")
	return strings.Contains(all, "text/html") && !strings.Contains(all, "json")
}
