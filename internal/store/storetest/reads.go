package storetest

import (
	"bytes"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
)

// AuditLines reads the whole audit log of an organisation.
func AuditLines(t *testing.T, o store.Org, filter journal.AuditFilter) (lines [][]byte) {
	t.Helper()
	var at journal.AuditCursor
	for {
		got, next, err := o.Audit(t.Context(), at, 100, filter)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, got...)
		if next == at {
			return lines
		}
		at = next
	}
}

// Saw records the audit line of a read.
func Saw(t *testing.T, o store.Org, resource string) {
	t.Helper()
	if err := o.Saw(&audit.Entry{At: time.Now(), Actor: "test", Action: audit.PatientRead, Resource: resource}); err != nil {
		t.Fatal(err)
	}
}

// Ship moves the audit lines of reads to the journal and assigns their
// positions.
func Ship(t *testing.T, s *store.Store) {
	t.Helper()
	if err := s.System().ShipReads(t.Context()); err != nil {
		t.Fatal(err)
	}
	Settle(t, s)
}

// Reads lists the resources of the reads in the audit log.
func Reads(t *testing.T, o store.Org) (resources []string) {
	t.Helper()
	for _, line := range AuditLines(t, o, journal.AuditFilter{Action: audit.PatientRead}) {
		_, after, _ := bytes.Cut(line, []byte(`"resource":"`))
		resource, _, _ := bytes.Cut(after, []byte{'"'})
		resources = append(resources, string(resource))
	}
	return resources
}

// ChangedIDs lists the patients that changed after a position.
func ChangedIDs(tb testing.TB, o store.Org, after journal.Pos) (ids []id.Patient, head journal.Pos, err error) {
	tb.Helper()
	head, complete, err := o.ChangedPatients(tb.Context(), after, 1<<30, func(p patients.PatientItem) { ids = append(ids, p.ID) }, func(int64) {})
	if err == nil && !complete {
		tb.Error("not all changes were listed")
	}
	return ids, head, err
}
