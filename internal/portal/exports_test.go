package portal

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store/reports"
	"anodyne.example/anodyne/internal/store/storetest"
)

// An administrator creates an export, sees how it goes, and downloads its
// files; nobody else sees any of it.
func TestExports(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		b := h.signedIn("admin@clinic.example", "default", access.Administrator)
		if p := b.get("/portal/exports"); p.status != http.StatusOK || !strings.Contains(p.text, "No exports yet") {
			t.Fatalf("%d\n%s", p.status, p.text)
		}
		if p := b.post("/portal/exports", "format", "csv", "since", "2199-01-01"); p.status != http.StatusUnprocessableEntity || !strings.Contains(p.text, "must not be in the future") {
			t.Errorf("%d\n%s", p.status, p.text)
		}
		path := b.post("/portal/exports", "format", "csv", "deidentify", "yes").location
		if p := b.get(path); p.status != http.StatusOK || !strings.Contains(p.text, "pending") || !strings.Contains(p.text, "Cancel") {
			t.Errorf("%d\n%s", p.status, p.text)
		}
		file := path + "/files/patients.csv"
		if p := b.get(file); p.status != http.StatusConflict {
			t.Errorf("a file that is not there: %d", p.status)
		}
		h.finishExport("patient_id\r\npsn_1\r\n")
		if p := b.get(path); !strings.Contains(p.text, `href="`+file+`"`) || !strings.Contains(p.text, "completed") {
			t.Errorf("%s", p.text)
		}
		if p := b.get(file); p.status != http.StatusOK || p.text != "patient_id\r\npsn_1\r\n" {
			t.Errorf("%d %q", p.status, p.text)
		}
		if p := b.get(path + "/files/nothing.csv"); p.status != http.StatusNotFound {
			t.Errorf("%d", p.status)
		}
		if p := b.get("/portal/exports"); !strings.Contains(p.text, `href="`+path+`"`) {
			t.Errorf("%s", p.text)
		}
		viewer, stranger := h.signedIn("viewer@clinic.example", "default", access.Viewer), h.signedIn("admin@other.example", "other", access.Administrator)
		for _, address := range []string{path, file} {
			if p := viewer.get(address); p.status != http.StatusForbidden {
				t.Errorf("a viewer: %d", p.status)
			}
			if p := stranger.get(address); p.status != http.StatusNotFound {
				t.Errorf("another organisation: %d", p.status)
			}
		}
		if p := stranger.post(path + "/delete"); p.status != http.StatusNotFound {
			t.Errorf("another organisation deletes it: %d", p.status)
		}
		if p := b.post(path + "/delete"); p.location != "/portal/exports" {
			t.Errorf("%d %s", p.status, p.location)
		}
		if p := b.get(path); p.status != http.StatusNotFound {
			t.Errorf("%d", p.status)
		}
	})
}

// finishExport completes the next export with one file.
func (h *house) finishExport(content string) {
	h.t.Helper()
	c, err := h.store.System().ClaimExport(h.t.Context(), "node", storetest.ClaimTime)
	if err != nil || c == nil {
		h.t.Fatalf("%v %v", c, err)
	}
	if err := c.Append(h.t.Context(), 0, []byte(content)); err != nil {
		h.t.Fatal(err)
	}
	files := []reports.ExportFile{{Name: "patients.csv", Table: "patients", Rows: 1, Size: int64(len(content))}}
	if err := c.Complete(h.t.Context(), h.now(), 0, files, int64(len(content)), []byte("sum"), 24*time.Hour); err != nil {
		h.t.Fatal(err)
	}
}

// If a file is deleted before its first part is read, the browser gets an error
// page; if it is deleted later, the response is cut off.
func TestDownloadOfADeletedFile(t *testing.T) {
	w := httptest.NewRecorder()
	v := &visit{w: w, r: httptest.NewRequest(http.MethodGet, "/portal/exports/1/files/patients.csv", nil)}
	missing := fault.Missing("export", "")
	if err := v.stream("patients.csv", "text/csv", 5, func(func([]byte) error) error { return missing }); err != missing || len(w.Header()) != 0 {
		t.Errorf("deleted before the first part: %v %v", err, w.Header())
	}
	defer func() {
		if p := recover(); p != http.ErrAbortHandler {
			t.Errorf("deleted after the first part: %v", p)
		}
	}()
	err := v.stream("patients.csv", "text/csv", 5, func(send func([]byte) error) error {
		if err := send([]byte("abc")); err != nil {
			return err
		}
		return missing
	})
	t.Errorf("deleted after the first part: %v", err)
}
