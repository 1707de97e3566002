package api

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/fault"
)

// A file that was deleted after it was found is missing, and a later error ends
// the response without adding anything to it.
func TestDownloadOfADeletedFile(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		send := func(bytes func(from, to int64, send func([]byte) error) error) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			x := newExchange(n.api, w, httptest.NewRequest(http.MethodGet, "/fhir/bulk/1/Patient.ndjson", nil))
			defer x.end()
			out, err := x.download(download{size: 5, sum: "5", name: "Patient.ndjson", media: "application/fhir+ndjson", bytes: bytes})
			if err != nil {
				t.Fatal(err)
			}
			x.send(out)
			return w
		}
		missing := send(func(_, _ int64, _ func([]byte) error) error { return fault.Missing("export", "") })
		if missing.Code != http.StatusNotFound || !strings.Contains(missing.Body.String(), `"OperationOutcome"`) {
			t.Errorf("deleted before the first part: %d %s", missing.Code, missing.Body)
		}
		for _, name := range []string{"Etag", "Accept-Ranges", "Content-Disposition"} {
			if value := missing.Header().Get(name); value != "" {
				t.Errorf("the error has the file's header %s: %q", name, value)
			}
		}
		cut := send(func(_, _ int64, send func([]byte) error) error {
			return errors.Join(send([]byte("abc")), fault.Missing("export", ""))
		})
		if cut.Code != http.StatusOK || cut.Body.String() != "abc" || cut.Header().Get("Content-Length") != "5" {
			t.Errorf("deleted after the first part: %d %q %v", cut.Code, cut.Body, cut.Header())
		}
	})
}
