package client_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"anodyne.example/anodyne/client"
)

func reportWith(status client.ReportStatus, more map[string]any) map[string]any {
	report := map[string]any{"id": "rep_1", "type": "outcomes", "format": "csv", "title": "T", "status": status, "progress": 0, "parameters": map[string]any{"as_of": "2026-01-15T10:30:00Z", "age_min": 0},
		"created_at": "2026-01-15T10:30:00Z", "started_at": nil, "completed_at": nil, "expires_at": nil, "size_bytes": nil, "sha256": "", "error": "", "download_url": ""}
	for name, value := range more {
		report[name] = value
	}
	return report
}

func TestCreateReport(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		want := `{"type":"outcomes","format":"csv","parameters":{"follow_up":90,"age_min":0}}`
		if r.Method != "POST" || r.URL.Path != "/v1/reports" || string(body) != want || r.Header.Get("Idempotency-Key") == "" {
			t.Errorf("%s %s %s", r.Method, r.URL, body)
		}
		answer(w, http.StatusCreated, reportWith(client.ReportPending, nil))
	})
	report, err := c.CreateReport(t.Context(), client.NewReport{Type: client.OutcomesReport, Format: client.CSV, Parameters: client.ReportParameters{FollowUp: 90, AgeMin: new(0)}})
	if err != nil || report.ID != "rep_1" || report.Status != client.ReportPending || report.SizeBytes != nil || *report.Parameters.AgeMin != 0 {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestReportsByQuery(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == "DELETE" && r.URL.Path == "/v1/reports/rep_1":
			w.WriteHeader(http.StatusNoContent)
		case r.URL.RawQuery == "limit=100&page=1&status=failed&type=outcomes":
			answer(w, http.StatusOK, map[string]any{"data": []any{reportWith(client.ReportFailed, nil)}, "pagination": map[string]any{"page": 1, "limit": 100, "total": 1}})
		default:
			t.Errorf("%s %s", r.Method, r.URL)
		}
	})
	n := 0
	for report, err := range c.AllReports(t.Context(), client.ReportQuery{Status: client.ReportFailed, Type: client.OutcomesReport}) {
		if n++; err != nil || report.ID != "rep_1" {
			t.Errorf("%+v, %v", report, err)
		}
	}
	if err := c.DeleteReport(t.Context(), "rep_1"); err != nil || n != 1 {
		t.Errorf("%d reports, %v", n, err)
	}
}

func TestWaitReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var looks atomic.Int64
		last := client.ReportCompleted
		p := &peer{api: func(w http.ResponseWriter, r *http.Request) {
			switch n := looks.Add(1); {
			case n < 4:
				answer(w, http.StatusOK, reportWith(client.ReportPending, nil))
			case n < 8:
				answer(w, http.StatusOK, reportWith(client.ReportProcessing, nil))
			default:
				answer(w, http.StatusOK, reportWith(last, map[string]any{"error": "No such luck."}))
			}
		}}
		c := p.offline()
		if report, err := c.WaitReport(t.Context(), "rep_1"); err != nil || report.Status != client.ReportCompleted || looks.Load() != 8 {
			t.Errorf("%+v after %d looks, %v", report, looks.Load(), err)
		}
		last = client.ReportFailed
		if report, err := c.WaitReport(t.Context(), "rep_1"); !errors.Is(err, client.ErrReportFailed) || !strings.Contains(err.Error(), "No such luck.") || report.Status != client.ReportFailed {
			t.Errorf("%+v, %v", report, err)
		}
		looks.Store(-1 << 40)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := c.WaitReport(ctx, "rep_1"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	})
}

// file plays the download of a file that breaks off after some bytes.
func file(t *testing.T, content []byte, breakAfter int) http.HandlerFunc {
	sum := sha256.Sum256(content)
	tag := `"` + hex.EncodeToString(sum[:]) + `"`
	return func(w http.ResponseWriter, r *http.Request) {
		from := 0
		w.Header().Set("ETag", tag)
		if header := r.Header.Get("Range"); header != "" {
			if r.Header.Get("If-Range") != tag {
				t.Errorf("If-Range %s", r.Header.Get("If-Range"))
			}
			from, _ = strconv.Atoi(strings.Trim(header, "bytes=-"))
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(content)-1, len(content)))
		}
		rest := content[from:]
		w.Header().Set("Content-Length", strconv.Itoa(len(rest)))
		if from > 0 {
			w.WriteHeader(http.StatusPartialContent)
		}
		_, _ = w.Write(rest[:min(len(rest), breakAfter)]) // fewer than announced: net/http closes the connection
	}
}

func TestDownloadGoesOnWhereItBrokeOff(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789abcdef"), 10_000)
	c := serve(t, file(t, content, 60_000))
	var got bytes.Buffer
	if n, err := c.DownloadReport(t.Context(), "rep_1", &got); err != nil || n != int64(len(content)) || !bytes.Equal(got.Bytes(), content) {
		t.Errorf("%d bytes, %v", n, err)
	}
}

func TestDownloadIsChecked(t *testing.T) {
	for name, api := range map[string]http.HandlerFunc{
		"other bytes": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", `"00"`)
			_, _ = io.WriteString(w, "x")
		},
		"not ready": func(w http.ResponseWriter, r *http.Request) {
			refuse(w, http.StatusConflict, client.CodeReportNotReady, map[string]any{"status": "pending"})
		},
	} {
		c := serve(t, api)
		if _, err := c.DownloadReport(t.Context(), "rep_1", io.Discard); err == nil || client.IsCode(err, client.CodeReportNotReady) != (name == "not ready") {
			t.Errorf("%s: %v", name, err)
		}
	}
	full := errors.New("no room")
	c := serve(t, file(t, []byte("abc"), 99))
	if _, err := c.DownloadReport(t.Context(), "rep_1", writer(func([]byte) (int, error) { return 0, full })); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
}

type writer func([]byte) (int, error)

func (f writer) Write(p []byte) (int, error) { return f(p) }
