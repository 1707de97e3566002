package export

import (
	"slices"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/reports"
	"anodyne.example/anodyne/internal/store/storetest"
)

// An import reads lines, an export is made, and then the import commits: the
// next export since that one has the lines.
func TestSinceHasWhatWasCommittedLate(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		who := storetest.Client(t, s, "north")
		o := s.For(&who)
		earlier := time.Now().Add(-time.Hour)
		options := Default()
		options.Format = reports.NDJSON
		body := `{"data_type":"pain_scores","recorded_at":"2026-01-05","value":4}`
		score := func(p pain.Patient) pain.Record { return storetest.RecordAt(t, earlier, p.ID, body) }
		store := func(p pain.Patient, rec pain.Record) {
			t.Helper()
			if err := storetest.AddRecordsAt(t.Context(), o, earlier, p.ID, rec); err != nil {
				t.Fatal(err)
			}
		}
		ada := storetest.AddPatient(t, o, "Ada")
		known := score(ada)
		store(ada, known)
		late, lateBo := score(ada), storetest.Patient("Bo")
		lateBo.ID, lateBo.CreatedAt = id.New[id.PatientKind](earlier), earlier

		first, _, tables := run(t, o, options, time.Now().Add(2*time.Second))
		if n := len(tables["pain_scores"]); n != 1 {
			t.Fatalf("the first export has %d scores", n)
		}
		if err := o.MarkExport(t.Context(), first.AsOf, first.Head); err != nil {
			t.Fatal(err)
		}
		store(ada, late)
		if _, err := o.CreatePatient(t.Context(), &lateBo, storetest.Created(lateBo), nil, idempotency.Outcome{}); err != nil {
			t.Fatal(err)
		}
		options.Since = first.AsOf
		_, _, tables = run(t, o, options, time.Now().Add(time.Hour))
		// On PostgreSQL, what had no position yet comes twice.
		rows := tables["pain_scores"]
		if !slices.ContainsFunc(rows, func(row map[string]string) bool { return row["record_id"] == late.ID.String() }) || len(rows) > 2 {
			t.Errorf("since the first export: %v, want %s", rows, late.ID)
		}
		if rows := tables["patients"]; len(rows) != 2 {
			t.Errorf("since the first export: patients %v, want one with a new record and a new one", rows)
		}
		// One without an earlier export has what was created since.
		options.Since = earlier.Add(-time.Minute).Truncate(time.Second)
		if _, _, tables = run(t, o, options, time.Now()); len(tables["pain_scores"]) != 2 {
			t.Errorf("since before all of them: %d scores", len(tables["pain_scores"]))
		}
	})
}
