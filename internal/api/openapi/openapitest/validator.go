package openapitest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// Validator reports responses that do not match the OpenAPI document. It is
// safe for concurrent use.
type Validator struct {
	tb       testing.TB
	document *document
}

// New returns a validator that reports to tb.
func New(tb testing.TB) *Validator { return &Validator{tb, compiled()} }

// Wrap returns a round tripper that checks every response of next and returns
// it unchanged. If next is nil, it wraps http.DefaultTransport.
//
// The whole body is read before the response is returned.
func (v *Validator) Wrap(next http.RoundTripper) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport
	}
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		answer, err := next.RoundTrip(request)
		if err != nil {
			return nil, err
		}
		raw, readErr := io.ReadAll(answer.Body)
		closeErr := answer.Body.Close()
		answer.Body = io.NopCloser(bytes.NewReader(raw))
		if readErr = errors.Join(readErr, closeErr); readErr != nil {
			// The caller gets what was read, and then the error.
			answer.Body = io.NopCloser(io.MultiReader(bytes.NewReader(raw), failing{readErr}))
			return answer, nil
		}
		v.tb.Helper()
		for _, fault := range v.document.check(request, answer, raw) {
			v.tb.Errorf("openapi: %s %s: %d: %s", request.Method, request.URL.Path, answer.StatusCode, fault)
		}
		return answer, nil
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// check lists the errors in a response.
func (d *document) check(request *http.Request, answer *http.Response, raw []byte) []string {
	want, fault := d.find(request, answer)
	if fault != "" {
		return []string{fault}
	}
	if want == nil {
		return nil
	}
	faults := want.checkHeaders(answer.Header)
	if request.Method == http.MethodHead {
		return faults
	}
	body, err := decode(answer, raw)
	if err != nil {
		return append(faults, "the body cannot be decompressed: "+err.Error())
	}
	return append(faults, want.checkBody(answer.Header.Get("Content-Type"), body)...)
}

// decode decompresses a body if the transport has not done so.
func decode(answer *http.Response, raw []byte) ([]byte, error) {
	if len(raw) == 0 || !strings.EqualFold(answer.Header.Get("Content-Encoding"), "gzip") {
		return raw, nil
	}
	reader, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}

// find returns the specification of a response, or an error if the document
// has none. Both are empty for requests that the document does not cover.
func (d *document) find(request *http.Request, answer *http.Response) (want *response, fault string) {
	if operation, ok := d.operation(request.Method, request.URL.EscapedPath()); ok {
		if want, ok = operation[strconv.Itoa(answer.StatusCode)]; !ok {
			return nil, "the status is not documented for this operation"
		}
		return want, ""
	}
	switch {
	case strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html"):
		return nil, "" // a page
	case request.Method == http.MethodOptions && answer.StatusCode == http.StatusNoContent:
		return nil, "" // CORS preflight
	case answer.StatusCode >= http.StatusBadRequest && strings.HasPrefix(request.URL.Path, "/fhir/"):
		return d.fhirError, ""
	case answer.StatusCode == http.StatusMethodNotAllowed:
		return d.wrongMethod, ""
	case answer.StatusCode == http.StatusNotFound:
		return d.unknownPath, ""
	case answer.StatusCode >= http.StatusBadRequest:
		return d.anyError, "" // rejected before the path was examined
	case strings.HasPrefix(request.URL.Path, "/v1/"), strings.HasPrefix(request.URL.Path, "/oauth/"), strings.HasPrefix(request.URL.Path, "/fhir/"):
		return nil, "the operation is not documented"
	}
	return nil, ""
}
