package patients_test

import (
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
)

// callers is the number of concurrent writers.
const callers = 64

// rawInserts measures the limit of SQLite: rows of a patient's size inserted
// into one table with an index, group rows per transaction.
func rawInserts(b *testing.B, rows, group int) (perSecond float64) {
	b.Helper()
	conn, err := sqlite3.Open(filepath.Join(b.TempDir(), "floor.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Exec(`PRAGMA journal_mode = wal; PRAGMA synchronous = full; PRAGMA wal_autocheckpoint = 4000;
		CREATE TABLE patient (org_no INTEGER, patient_no INTEGER, id BLOB, row TEXT, PRIMARY KEY (org_no, patient_no)) WITHOUT ROWID;
		CREATE UNIQUE INDEX patient_id ON patient (org_no, id)`); err != nil {
		b.Fatal(err)
	}
	insert, _, err := conn.Prepare(`INSERT INTO patient VALUES (1, ?, randomblob(16), hex(randomblob(100)))`)
	if err != nil {
		b.Fatal(err)
	}
	defer insert.Close()
	start := time.Now()
	for row := range rows {
		if row%group == 0 {
			if err := conn.Exec(`BEGIN IMMEDIATE`); err != nil {
				b.Fatal(err)
			}
		}
		if err := insert.BindInt(1, row); err != nil {
			b.Fatal(err)
		}
		if err := insert.Exec(); err != nil {
			b.Fatal(err)
		}
		if row%group == group-1 || row == rows-1 {
			if err := conn.Exec(`COMMIT`); err != nil {
				b.Fatal(err)
			}
		}
	}
	return float64(rows) / time.Since(start).Seconds()
}

// BenchmarkCreatePatient compares creating patients with the limit of SQLite: a
// patient is one row there, and five rows here with its number, event and audit
// line.
func BenchmarkCreatePatient(b *testing.B) {
	for _, engine := range storetest.Engines {
		b.Run(engine, func(b *testing.B) {
			s := storetest.Open(b, engine)
			who := storetest.Client(b, s, "Bench")
			o := s.For(&who)
			b.SetParallelism(max(1, callers/runtime.GOMAXPROCS(0)))
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					p := storetest.Patient("Bench Patient")
					if _, err := o.CreatePatient(b.Context(), &p, storetest.Created(p), nil, idempotency.Outcome{}); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.StopTimer()
			perSecond := float64(b.N) / b.Elapsed().Seconds()
			b.ReportMetric(perSecond, "patients/s")
			if engine == storetest.SQLite && b.N > 100 {
				b.ReportMetric(perSecond/rawInserts(b, b.N, callers), "of-grouped-floor")
				b.ReportMetric(perSecond/rawInserts(b, min(b.N, 2000), 1), "of-single-floor")
			}
		})
	}
}

// BenchmarkLargeOrganisation reads from an organisation of 100,000 patients.
func BenchmarkLargeOrganisation(b *testing.B) {
	const people, limit = 100_000, 50
	s := storetest.Open(b, storetest.SQLite)
	who := storetest.Client(b, s, "Bench")
	storetest.Exec(b, s, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $2)
		INSERT INTO patient (org_no, patient_no, id, version, created_at, name, date_of_birth, gender, email, phone, medical_history)
		SELECT $1, i, randomblob(16), 1, 1768473000000 + i, 'Bench Patient ' || i, '1961-03-14', 'female', 'a@example.org', '+46 8 1', '[]' FROM n`,
		int64(who.Org), people)
	storetest.Exec(b, s, `UPDATE org_counter SET patients = $1`, people)
	o := s.For(&access.Principal{Org: who.Org, Client: who.Client})
	var ids []id.Patient
	if err := o.PatientRange(b.Context(), 1, people, func(p patients.PatientItem) { ids = append(ids, p.ID) }); err != nil {
		b.Fatal(err)
	}

	b.Run("patient", func(b *testing.B) {
		for i := range b.N {
			if _, err := o.Patient(b.Context(), ids[i*7919%people]); err != nil {
				b.Fatal(err)
			}
		}
	})
	var first float64
	b.Run("page 1", func(b *testing.B) { first = readPages(b, o, 1, limit) })
	b.Run("deep page", func(b *testing.B) {
		if deep := readPages(b, o, people/limit-3, limit); first > 0 {
			b.ReportMetric(deep/first, "of-page-1")
		}
	})
}

// readPages reads one page repeatedly and returns the time per read in
// nanoseconds.
func readPages(b *testing.B, o store.Org, page, limit int64) float64 {
	b.Helper()
	for b.Loop() {
		items := 0
		if _, err := o.PatientPage(b.Context(), page, limit, func(patients.PatientItem) { items++ }); err != nil || items != int(limit) {
			b.Fatalf("%d items, %v", items, err)
		}
	}
	return float64(b.Elapsed().Nanoseconds()) / float64(b.N)
}
