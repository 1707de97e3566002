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

// Validator reports answers that are not as the OpenAPI document has them.
// It can be used from several goroutines.
type Validator struct {
	tb       testing.TB
	document *document
}

// New makes a validator that reports to tb.
func New(tb testing.TB) *Validator { return &Validator{tb, compiled()} }

// Wrap returns a round tripper that checks every answer that next brings,
// and hands it on unchanged. With nil it wraps http.DefaultTransport.
//
// The whole body is read before the answer is handed on.
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
			// The caller gets what came, and then the error.
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

// check names what is wrong with an answer.
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

// decode undoes the compression that the transport has left to the caller.
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

// find gives what the document says about an answer, or the fault that it
// says nothing. Both are empty for what is none of the document's business.
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
		return nil, "" // a question about CORS
	case answer.StatusCode == http.StatusMethodNotAllowed:
		return d.wrongMethod, ""
	case answer.StatusCode == http.StatusNotFound:
		return d.unknownPath, ""
	case answer.StatusCode >= http.StatusBadRequest:
		return d.anyError, "" // judged before the path was
	case strings.HasPrefix(request.URL.Path, "/v1/"), strings.HasPrefix(request.URL.Path, "/oauth/"):
		return nil, "the operation is not documented"
	}
	return nil, ""
}
