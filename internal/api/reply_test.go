package api

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/testwait"
)

// reply is an answer, read to its end.
type reply struct {
	tb     testing.TB
	what   string
	status int
	header http.Header
	body   []byte
}

// is ends the test unless the status is this one.
func (r *reply) is(status int) *reply {
	r.tb.Helper()
	if r.status != status {
		r.tb.Fatalf("%s: status %d, want %d: %s", r.what, r.status, status, r.body)
	}
	return r
}

// json reads the body, which must be an object.
func (r *reply) json() map[string]any {
	r.tb.Helper()
	var object map[string]any
	if err := json.Unmarshal(r.body, &object); err != nil {
		r.tb.Fatalf("%s: %v: %s", r.what, err, r.body)
	}
	return object
}

// fault decodes an error of the service and returns its details.
func (r *reply) fault(status int, code fault.Code) map[string]any {
	r.tb.Helper()
	r.is(status)
	var body struct {
		Error struct {
			Code    fault.Code
			Message string
			Details map[string]any
		}
	}
	if err := json.Unmarshal(r.body, &body); err != nil {
		r.tb.Fatalf("%s: %v: %s", r.what, err, r.body)
	}
	if body.Error.Code != code || body.Error.Message == "" || body.Error.Details == nil {
		r.tb.Fatalf("%s: %s, want the code %s with a message and details", r.what, r.body, code)
	}
	return body.Error.Details
}

// wrong expects exactly one INVALID_PARAMETER.
func (r *reply) wrong(parameter string, value any) {
	r.tb.Helper()
	r.details(http.StatusBadRequest, fault.InvalidParameter, map[string]any{"parameter": parameter, "value": value})
}

// details expects an error with exactly these details.
func (r *reply) details(status int, code fault.Code, want map[string]any) {
	r.tb.Helper()
	if got := r.fault(status, code); !reflect.DeepEqual(got, want) {
		r.tb.Fatalf("%s: details %v, want %v", r.what, got, want)
	}
}

// message is the error's text.
func (r *reply) message() string {
	r.tb.Helper()
	text, _ := r.json()["error"].(map[string]any)["message"].(string)
	return text
}

// data is the list of the answer.
func (r *reply) data() []map[string]any {
	r.tb.Helper()
	r.is(http.StatusOK)
	var body struct{ Data []map[string]any }
	if err := json.Unmarshal(r.body, &body); err != nil {
		r.tb.Fatalf("%s: %v: %s", r.what, err, r.body)
	}
	return body.Data
}

// names are the names in a list of patients.
func (r *reply) names() (names []string) {
	r.tb.Helper()
	for _, item := range r.data() {
		names = append(names, item["name"].(string))
	}
	return names
}

// pagination is page, limit and total.
func (r *reply) pagination() [3]int {
	r.tb.Helper()
	var body struct {
		Pagination struct{ Page, Limit, Total int }
	}
	if err := json.Unmarshal(r.is(http.StatusOK).body, &body); err != nil {
		r.tb.Fatalf("%s: %v: %s", r.what, err, r.body)
	}
	return [3]int{body.Pagination.Page, body.Pagination.Limit, body.Pagination.Total}
}

func (r *reply) cursor() string {
	r.tb.Helper()
	return r.is(http.StatusOK).json()["next_cursor"].(string)
}

// number reads a header that is an integer.
func (r *reply) number(header string) int64 {
	r.tb.Helper()
	n, err := strconv.ParseInt(r.header.Get(header), 10, 64)
	if err != nil {
		r.tb.Fatalf("%s: header %s: %v", r.what, header, err)
	}
	return n
}

// limits are the three numbers of the rate-limit headers.
func (r *reply) limits() (limit, remaining, reset int64) {
	r.tb.Helper()
	return r.number("X-RateLimit-Limit"), r.number("X-RateLimit-Remaining"), r.number("X-RateLimit-Reset")
}

func (r *reply) remaining() int64 {
	r.tb.Helper()
	_, remaining, _ := r.limits()
	return remaining
}

// eventually waits until ask returns true. Entries of the journal get their
// position a moment after the commit.
func eventually(tb testing.TB, what string, ask func() bool) {
	tb.Helper()
	testwait.Until(tb, what, ask)
}

func quote(s string) string { return quoteAny(s) }

// quoteAny returns a value as JSON, with fields in order.
func quoteAny(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // a mistake in a test
	}
	return string(text)
}

// logbook records what a service logs, and whom it must not name.
type logbook struct {
	mu    sync.Mutex
	text  bytes.Buffer
	names []string
}

func (b *logbook) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logbook) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// expectNot notes the name and address in a body that is sent.
func (b *logbook) expectNot(body string) {
	var patient struct {
		Name    string
		Contact struct{ Email string }
	}
	if body == "" || json.Unmarshal([]byte(body), &patient) != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range []string{strings.TrimSpace(patient.Name), patient.Contact.Email} {
		if len(text) > 3 {
			b.names = append(b.names, text)
		}
	}
}

// check fails the test when a patient was named in the log, and shows the log
// of a test that failed.
func (b *logbook) check(tb testing.TB) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, name := range b.names {
		if strings.Contains(b.text.String(), name) {
			tb.Errorf("the log names a patient, %q", name)
		}
	}
	if tb.Failed() {
		for line := range strings.Lines(b.text.String()) {
			if !strings.Contains(line, "level=DEBUG") {
				tb.Logf("the service's log: %s", line)
			}
		}
	}
}
