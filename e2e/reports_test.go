package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/faulttest"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testneed"
)

// TestFaultReportsSurviveKill kills the service while it makes reports: after the
// restart each of them is completed, once, and can be downloaded.
func TestFaultReportsSurviveKill(t *testing.T) {
	testneed.Long(t, "waiting for the lease of a killed process")
	t.Parallel()
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			killReports(t, newService(t, engine))
		})
	}
}

func killReports(t *testing.T, s *service) {
	n := s.node(0)
	app := s.register("enterprise")
	c := n.as(app)
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
	defer cancel()
	prescribe(t, ctx, c)
	var asked []string
	for i := range 12 {
		report, err := c.CreateReport(ctx, someReport(i))
		if err != nil {
			t.Fatal(err)
		}
		asked = append(asked, report.ID)
	}
	random := rand.New(rand.NewPCG(faulttest.Seed(t), 0))
	<-time.After(time.Duration(random.Int64N(int64(60 * time.Millisecond)))) // the moment of the kill
	n.kill()

	n = s.node(0)
	c = n.as(app)
	for _, id := range asked {
		if report := wholeReport(t, ctx, c, id); report.Status != client.ReportCompleted {
			t.Errorf("%+v", report)
		}
	}
	toldOnce(t, ctx, c, asked)
	if code := n.terminate(); code != 0 {
		t.Errorf("exit code %d after SIGTERM", code)
	}
	s.check()
}

// prescribe makes patients for reports to be about.
func prescribe(t *testing.T, ctx context.Context, c *client.Client) {
	t.Helper()
	for i := range 40 {
		patient, err := c.CreatePatient(ctx, client.NewPatient{Name: fmt.Sprint("Patient ", i), DateOfBirth: "1960-05-17"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.AddRecord(ctx, patient.ID, client.NewRecord{DataType: "medications",
			Value: json.RawMessage(`{"name":"oxycodone","strength":10,"strength_unit":"mg","quantity":90,"days_supply":30}`)}); err != nil {
			t.Fatal(err)
		}
	}
}

// someReport is a report about all patients, in one format after the other.
func someReport(i int) client.NewReport {
	return client.NewReport{Type: client.StewardshipReport, Format: []client.ReportFormat{client.PDF, client.XLSX, client.CSV}[i%3]}
}

// wholeReport waits for the end of a report: it has a file that matches its
// record, or explains why there is none.
func wholeReport(t *testing.T, ctx context.Context, c *client.Client, id string) *client.Report {
	t.Helper()
	report, err := c.WaitReport(ctx, id)
	if report == nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	size, err := c.DownloadReport(ctx, id, &file)
	if report.Status == client.ReportFailed {
		if report.Error == "" || !client.IsCode(err, client.CodeReportFailed) {
			t.Errorf("%+v, whose download says %v", report, err)
		}
		return report
	}
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(file.Bytes()); *report.SizeBytes != size || report.SHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("%+v, %d bytes", report, size)
	}
	return report
}

// toldOnce looks for the event of each report's end.
func toldOnce(t *testing.T, ctx context.Context, c *client.Client, asked []string) {
	t.Helper()
	var told map[string]int
	eventually(t, patience, "the events of all reports", func() bool {
		told = map[string]int{}
		for e, err := range c.AllEvents(ctx, "") {
			var data struct {
				ReportID string `json:"report_id"`
			}
			if err == nil {
				err = json.Unmarshal(e.Data, &data)
			}
			if err != nil {
				t.Fatal(err)
			}
			if data.ReportID != "" && (e.Type == client.EventReportCompleted || e.Type == client.EventReportFailed) {
				told[data.ReportID]++
			}
		}
		return len(told) >= len(asked)
	})
	for _, id := range asked {
		if told[id] != 1 {
			t.Errorf("%s was told %d times", id, told[id])
		}
	}
	if len(told) != len(asked) {
		t.Errorf("%v", told)
	}
}
