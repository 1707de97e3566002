package journal_test

import (
	"fmt"
	"slices"
	"testing"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/storetest"
)

// Pages of any size return the same lines in the same order, even if a page
// ends in the middle of a pack.
func TestAuditPages(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		s, o := all[0], all[0].For(&who)
		patient := storetest.AddPatient(t, o, "A").ID.String()
		for i := range 7 {
			storetest.Saw(t, o, fmt.Sprint("r", i%3))
		}
		storetest.Settle(t, s)
		storetest.Ship(t, s)
		storetest.AddPatient(t, o, "B")
		storetest.Saw(t, o, patient)
		storetest.Settle(t, s)
		storetest.Ship(t, s)

		for _, c := range []struct {
			filter journal.AuditFilter
			want   int
		}{
			{journal.AuditFilter{}, 12}, // including those of the organisation and the client
			{journal.AuditFilter{Action: audit.PatientRead}, 8},
			{journal.AuditFilter{Action: audit.PatientCreate}, 2},
			{journal.AuditFilter{Action: "patient"}, 0},
			{journal.AuditFilter{Resource: patient}, 2},
			{journal.AuditFilter{Resource: "r1"}, 2},
			{journal.AuditFilter{Action: audit.PatientRead, Resource: patient}, 1},
			{journal.AuditFilter{Action: audit.PatientUpdate, Resource: patient}, 0},
		} {
			var first []string
			for _, limit := range []int{100, 1, 2, 3, 5, 7} {
				var lines []string
				var at journal.AuditCursor
				for {
					got, next, err := o.Audit(t.Context(), at, limit, c.filter)
					if err != nil {
						t.Fatal(err)
					}
					if len(got) > limit {
						t.Fatalf("%d lines, want at most %d", len(got), limit)
					}
					for _, line := range got {
						lines = append(lines, string(line))
					}
					if next == at {
						break
					}
					at = next
				}
				if first == nil {
					first = lines
				}
				if len(lines) != c.want || !slices.Equal(lines, first) {
					t.Errorf("%+v, limit %d: %d lines, want %d as before", c.filter, limit, len(lines), c.want)
				}
			}
		}
	})
}

// A selective filter reads a bounded number of entries per call.
func TestAuditScanIsBounded(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 1, open)
		s, o := all[0], all[0].For(&who)
		storetest.Settle(t, s)
		head, _, err := o.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		n := int64(journal.AuditScan) + 500
		storetest.Exec(t, s, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
			INSERT INTO journal (org_no, pos, at, audit, packed) SELECT $2, $3 + i, 0, $4, 0 FROM n`, n, int64(who.Org), int64(head), []byte(`{}`))
		storetest.Exec(t, s, `UPDATE journal_head SET pos = pos + $1`, n)
		storetest.AddPatient(t, o, "A")
		storetest.Settle(t, s)
		calls, found := 0, 0
		var at journal.AuditCursor
		for {
			lines, next, err := o.Audit(t.Context(), at, 10, journal.AuditFilter{Action: audit.PatientCreate})
			if err != nil {
				t.Fatal(err)
			}
			found += len(lines)
			if next == at {
				break
			}
			if next.Pos-at.Pos > journal.Pos(journal.AuditScan) {
				t.Errorf("from %v to %v in one call", at, next)
			}
			at = next
			calls++
		}
		if calls != 2 || found != 1 {
			t.Errorf("%d calls found %d lines", calls, found)
		}
	})
}
