package patients_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
)

// Counts match the records after random histories on two nodes, and the
// migration, which counts by itself, gets the same result.
func TestRecordsAreCounted(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		o := all[0].For(&who)
		p, bystander := storetest.AddPatient(t, o, "A"), storetest.AddPatient(t, o, "B")
		addRecords(t, o, newRecord(bystander.ID, pain.TypeNotes, time.Date(1911, 2, 3, 23, 59, 59, 999e6, time.UTC)))
		storetest.Together(t, 8, func(node int) error {
			o := all[node%2].For(&who)
			random := rand.New(rand.NewPCG(uint64(node), 7))
			for range 10 {
				var batch []pain.Record
				for range 1 + random.IntN(5) {
					at := time.Date(1969, 12, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(random.IntN(70*24)) * time.Hour)
					batch = append(batch, newRecord(p.ID, pain.TypePainScores+pain.DataType(random.IntN(2))*11, at))
				}
				if err := storetest.AddRecords(t.Context(), o, p.ID, batch...); err != nil {
					return err
				}
				body := `{"entered_in_error":true,"reason":"x"}`
				if random.IntN(2) == 0 && batch[0].Type == pain.TypePainScores {
					body = `{"value":3,"recorded_at":"1970-03-01"}`
				}
				if _, err := storetest.Correct(t.Context(), o, p.ID, batch[0].ID, body); err != nil {
					return err
				}
			}
			return nil
		})
		sound := func(what string) {
			t.Helper()
			if problems, _, err := all[0].System().CheckCounts(t.Context(), false, storetest.NoProgress); err != nil || len(problems) > 0 {
				t.Errorf("%s: %v, error %v", what, problems, err)
			}
		}
		sound("after the histories")
		list, total := listed(t, o, p.ID, patients.RecordQuery{Page: 1, Limit: 10_000, Inactive: true})
		if int64(len(list)) != total || total < 80 {
			t.Errorf("%d records, and a total of %d", len(list), total)
		}

		storetest.Exec(t, all[0], `DELETE FROM record_count`)
		for _, sql := range storetest.MigrationStatements(all[0].Engine(), "counts") {
			if len(sql) > 0 && sql[0] == 'I' {
				storetest.Exec(t, all[0], sql)
			}
		}
		sound("after the migration")

		for _, damage := range []string{
			`UPDATE record_count SET counts = '34 7' WHERE patient_no = 1`,
			`UPDATE record_count SET counts = counts || ' x' WHERE patient_no = 1`,
			`DELETE FROM record_count WHERE patient_no = 1`,
			`INSERT INTO record_count (org_no, patient_no, period, counts) SELECT org_no, patient_no, 1, counts FROM record_count WHERE patient_no = 2`,
		} {
			if storetest.Exec(t, all[0], damage) == 0 {
				t.Fatalf("%s changed nothing", damage)
			}
			problems, _, err := all[0].System().CheckCounts(t.Context(), false, storetest.NoProgress)
			if err != nil || len(problems) != 1 {
				t.Errorf("%s: %v, error %v", damage, problems, err)
			}
			if problems, repaired, err := all[0].System().CheckCounts(t.Context(), true, storetest.NoProgress); err != nil || len(problems) > 0 || repaired != 1 {
				t.Errorf("%s: %d repaired, %v, error %v", damage, repaired, problems, err)
			}
			sound("after the repair of " + damage)
		}
	})
}

// A page is consistent while others add records.
func TestDeepPagesWhileRecordsAreAdded(t *testing.T) {
	patients.ShortNearby(t)
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all, who := storetest.Nodes(t, 2, open)
		o := all[0].For(&who)
		p := storetest.AddPatient(t, o, "A")
		day := func(n int) time.Time { return time.Date(2025, 1, 1+n, 0, 0, 0, 0, time.UTC) }
		// Later writes sort before earlier ones, so that pages move.
		done := make(chan error, 1)
		go func() {
			var err error
			for i := 300; i > 0 && err == nil; i-- {
				err = storetest.AddRecords(t.Context(), all[1].For(&who), p.ID, newRecord(p.ID, pain.TypePainScores, day(i)))
			}
			done <- err
		}()
		for running := true; running; {
			select {
			case err := <-done:
				if err != nil {
					t.Fatal(err)
				}
				running = false
			default:
			}
			for _, descending := range []bool{false, true} {
				page, total := listed(t, o, p.ID, patients.RecordQuery{Page: 3, Limit: 5, Descending: descending})
				if want := max(0, min(5, total-10)); int64(len(page)) != want {
					t.Fatalf("%d records on page 3 of %d", len(page), total)
				}
				for i, rec := range page {
					// The newest is day 300; the oldest of n is day 301-n.
					want := day(301 - int(total) + 10 + i)
					if descending {
						want = day(300 - 10 - i)
					}
					if !rec.RecordedAt.Equal(want) {
						t.Fatalf("record %d of %d is of %v, want %v", i, total, rec.RecordedAt, want)
					}
				}
			}
		}
	})
}
