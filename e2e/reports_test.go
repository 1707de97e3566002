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

	"anodyne/client"
	"anodyne/internal/store/storetest"
)

// TestFaultReportsSurviveKill kills the service while it makes reports: after the
// restart each of them is completed, once, and can be downloaded.
func TestFaultReportsSurviveKill(t *testing.T) {
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) { killReports(t, newService(t, engine)) })
	}
}

func killReports(t *testing.T, s *service) {
	n := s.node(0)
	app := s.register("enterprise")
	c := n.as(app)
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
	defer cancel()
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
	asked := map[string]bool{}
	for i := range 12 {
		report, err := c.CreateReport(ctx, client.NewReport{Type: client.StewardshipReport, Format: []client.ReportFormat{client.PDF, client.XLSX, client.CSV}[i%3]})
		if err != nil {
			t.Fatal(err)
		}
		asked[report.ID] = true
	}
	random := rand.New(rand.NewPCG(seed(t), 0))
	<-time.After(time.Duration(random.Int64N(int64(60 * time.Millisecond)))) // the moment of the kill
	n.kill()

	n = s.node(0)
	c = n.as(app)
	for id := range asked {
		report, err := c.WaitReport(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		size, err := c.DownloadReport(ctx, id, &file)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(file.Bytes()); report.Status != client.ReportCompleted || *report.SizeBytes != size || report.SHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("%+v, %d bytes", report, size)
		}
	}
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
			if data.ReportID != "" {
				told[string(e.Type)+" "+data.ReportID]++
			}
		}
		return len(told) >= len(asked)
	})
	for id := range asked {
		if told["report.completed "+id] != 1 {
			t.Errorf("%s was told completed %d times", id, told["report.completed "+id])
		}
	}
	if len(told) != len(asked) {
		t.Errorf("%v", told)
	}
	if code := n.terminate(); code != 0 {
		t.Errorf("exit code %d after SIGTERM", code)
	}
	s.check()
}
