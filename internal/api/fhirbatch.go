package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/fhirwrite"
)

// batch performs each request alone.
func (x *exchange) batch(b *fhirwrite.Bundle) (answer, error) {
	results := make([]entryResult, len(b.Entry))
	var wg sync.WaitGroup
	var size atomic.Int64
	next := make(chan int)
	for range min(entriesAtOnce, len(b.Entry)) {
		wg.Go(func() {
			for i := range next {
				if reads := b.Entry[i].Request.Method == http.MethodGet; reads && size.Load() > batchBytes {
					results[i] = failedEntry(http.StatusForbidden, fhirwrite.Within(i, []fhir.Issue{{Severity: "error", Code: "too-costly", Expression: "http.request", Text: "The response to the batch is too large; send the GET alone."}}))
					continue
				}
				results[i] = x.perform(i, &b.Entry[i])
				size.Add(int64(len(results[i].resource)))
			}
		})
	}
	for i := range b.Entry {
		next <- i
	}
	close(next)
	wg.Wait()
	x.buf = appendResponse(x.buf, "batch-response", results)
	return x.asFHIR(answer{status: http.StatusOK, body: x.buf}), nil
}

// perform performs the request of one entry, as if it had come alone, except
// that it was counted with the Bundle.
func (x *exchange) perform(i int, e *fhirwrite.BundleEntry) entryResult {
	target, err := url.Parse(fhirBase + "/" + strings.TrimPrefix(e.Request.URL, "/"))
	if err != nil || target.Host != "" || !strings.HasPrefix(target.Path, fhirBase+"/") || strings.Contains(target.Path, "/$") || target.Path == fhirBase+"/" {
		return failedEntry(http.StatusBadRequest, fhirwrite.Within(i, []fhir.Issue{{Severity: "error", Code: "invalid", Expression: "http.url", Text: "The address must be relative, such as Patient or Patient/ID."}}))
	}
	r, err := http.NewRequestWithContext(x.ctx(), e.Request.Method, target.String(), bytes.NewReader(e.Resource))
	if err != nil {
		return failedEntry(http.StatusBadRequest, fhirwrite.Within(i, []fhir.Issue{{Severity: "error", Code: "invalid", Expression: "http.method", Text: "The method is not valid."}}))
	}
	r.Host, r.TLS, r.RemoteAddr = x.r.Host, x.r.TLS, x.r.RemoteAddr
	for name, value := range map[string]string{
		"If-None-Exist": e.Request.IfNoneExist, "If-Match": e.Request.IfMatch, "If-None-Match": e.Request.IfNoneMatch, "If-Modified-Since": e.Request.IfModifiedSince,
		"X-Request-Id": x.requestID, "Content-Type": "application/fhir+json", "Prefer": strings.Join(x.r.Header["Prefer"], ","),
	} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	if key := x.r.Header.Get("Idempotency-Key"); key != "" {
		sum := sha256.Sum256([]byte(key)) // of any length
		r.Header.Set("Idempotency-Key", hex.EncodeToString(sum[:])+"/"+strconv.Itoa(i))
	}
	w := &recorder{header: http.Header{}}
	sub := newExchange(x.api, w, r)
	sub.principal, sub.org, sub.source, sub.now, sub.hasLimits = x.principal, x.org, x.source, x.now, true
	func() {
		defer sub.end()
		if !isClean(target.Path) {
			x.api.unknown(sub)
			return
		}
		x.api.mux.ServeHTTP(sub, r)
	}()
	return w.result(i)
}

// recorder keeps a response, such as that to one request of a Bundle.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *recorder) Header() http.Header         { return w.header }
func (w *recorder) WriteHeader(status int)      { w.status = status }
func (w *recorder) Write(b []byte) (int, error) { return w.body.Write(b) }

func (w *recorder) result(entry int) entryResult {
	r := entryResult{status: w.status, location: w.header.Get("Location"), etag: w.header.Get("Etag")}
	if at, err := http.ParseTime(w.header.Get("Last-Modified")); err == nil {
		r.modified = at.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	if body := w.body.Bytes(); w.status >= 400 {
		r.outcome = ofEntry(entry, body)
	} else if len(body) > 0 {
		r.resource = body
	}
	return r
}

// ofEntry returns an OperationOutcome with expressions that begin at the Bundle.
func ofEntry(entry int, outcome []byte) []byte {
	var doc struct {
		Issue []struct {
			Severity, Code string
			Details        struct{ Text string }
			Expression     []string
		}
	}
	if json.Unmarshal(outcome, &doc) != nil || len(doc.Issue) == 0 {
		return outcome
	}
	var issues []fhir.Issue
	for _, one := range doc.Issue {
		issue := fhir.Issue{Severity: one.Severity, Code: one.Code, Text: one.Details.Text, Expression: "http.request"}
		if len(one.Expression) > 0 {
			issue.Expression = one.Expression[0]
		}
		issues = append(issues, issue)
	}
	return operationOutcome(fhirwrite.Within(entry, issues))
}
