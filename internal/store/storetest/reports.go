package storetest

import (
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/reporttype"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/reports"
)

// NewReport returns a report that is not stored yet.
func NewReport(who *access.Principal, kind reporttype.Type, at time.Time) reports.Report {
	return reports.NewReport(reports.ReportRequest{Type: kind, Format: reports.CSV, Title: "Titel", Parameters: `{"a":1}`, AsOf: at}, who.ClientID, at)
}

// AddReport queues a report.
func AddReport(t *testing.T, s *store.Store, who *access.Principal, kind reporttype.Type, at time.Time) reports.Report {
	t.Helper()
	rep := NewReport(who, kind, at)
	Must[idempotency.Outcome](t)(s.For(who).CreateReport(t.Context(), &rep, ReportChange(rep, at, audit.ReportCreate), nil, idempotency.Outcome{}))
	return rep
}

// ReportChange returns the change for an action on a report.
func ReportChange(rep reports.Report, at time.Time, action audit.Action) journal.Change {
	return journal.Change{Audit: audit.Entry{At: at, Actor: "test", Action: action, Resource: rep.ID.String()}}
}

// ClaimReport claims the next report. It fails the test if there is none.
func ClaimReport(t *testing.T, s *store.Store) *reports.ReportClaim {
	t.Helper()
	c := Must[*reports.ReportClaim](t)(s.System().ClaimReport(t.Context(), "node", ClaimTime))
	if c == nil {
		t.Fatal("there is nothing to claim")
	}
	return c
}

// ClaimTime is the lease of claims in tests.
const ClaimTime = 30 * time.Second
