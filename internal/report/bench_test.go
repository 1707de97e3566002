package report_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
	"sync"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/report"
	"anodyne.example/anodyne/internal/reporttype"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/reports"
	"anodyne.example/anodyne/internal/store/storetest"
)

// BenchmarkStewardshipReport makes the report of 10,000 patients who take opioids,
// from the claim to the completed file. peak-MB is the resident memory of the
// process while it does, the store and its caches included.
func BenchmarkStewardshipReport(b *testing.B) {
	const patients = 10_000
	s := storetest.Open(b, storetest.SQLite)
	who := storetest.Client(b, s, "General Hospital")
	o := s.For(&who)
	var wg sync.WaitGroup
	for w := range 64 {
		wg.Go(func() {
			for i := w; i < patients; i += 64 {
				p := storetest.AddPatient(b, o, fmt.Sprint("Patient ", i))
				if err := storetest.AddRecords(context.Background(), o, p.ID, prescribed(b, &p, i)...); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	w := report.NewWorker(report.Config{Store: s, Retention: time.Hour, Log: slog.New(slog.DiscardHandler)})
	for _, format := range reports.ReportFormats {
		b.Run(string(format), func(b *testing.B) {
			debug.FreeOSMemory()
			resetPeak()
			for b.Loop() {
				now := time.Now()
				rep := reports.NewReport(reports.ReportRequest{Type: reporttype.Stewardship, Format: format, Title: "T", AsOf: now,
					Parameters: `{"as_of":"` + now.UTC().Format(time.RFC3339) + `"}`}, who.ClientID, now)
				if _, err := o.CreateReport(b.Context(), &rep, journal.Change{Audit: audit.Entry{At: now, Action: audit.ReportCreate}}, nil, idempotency.Outcome{}); err != nil {
					b.Fatal(err)
				}
				if err := report.RunOnce(b.Context(), w); err != nil {
					b.Fatal(err)
				}
				done, err := o.Report(b.Context(), rep.ID)
				if err != nil || done.Status != reports.Completed {
					b.Fatalf("%+v, %v", done, err)
				}
				b.ReportMetric(float64(done.Size)/1e6, "file-MB")
			}
			b.ReportMetric(peak(), "peak-MB")
		})
	}
}

// prescribed is a year of a patient: opioids month after month, scores, a
// screen and an assessment now and then.
func prescribed(b *testing.B, p *pain.Patient, i int) (records []pain.Record) {
	now := time.Now().UTC()
	add := func(ago int, kind, value string) {
		at := now.AddDate(0, 0, -ago).Format(time.RFC3339)
		records = append(records, storetest.Record(b, p.ID, `{"recorded_at":"`+at+`","data_type":"`+kind+`","value":`+value+`}`))
	}
	for month := range 12 {
		add(30*month+i%30, "medications", fmt.Sprintf(`{"name":"oxycodone","strength":%d,"strength_unit":"mg","quantity":90,"days_supply":30,"prescriber_id":"dr-%d"}`, 5+5*(i%6), (i+month)%7))
		for week := range 3 {
			add(30*month+7*week, "pain_scores", fmt.Sprintf(`{"score":%d,"aspect":"average"}`, (i+month+week)%11))
		}
	}
	if i%3 == 0 {
		add(20, "medications", `{"name":"lorazepam","days_supply":30}`)
	}
	add(i%500, "labs", `{"analyte":"oxycodone","result":"positive","expected":"positive"}`)
	add(i%400, "assessments", `{"instrument":"peg","items":{"1":7,"2":7,"3":6}}`)
	return records
}

// resetPeak makes the kernel forget the peak; peak is 0 where it cannot.
func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

func peak() float64 {
	status, err := os.ReadFile("/proc/self/status")
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if err != nil || found == nil {
		return 0
	}
	kb, _ := strconv.ParseFloat(string(found[1]), 64)
	return kb / 1024
}
