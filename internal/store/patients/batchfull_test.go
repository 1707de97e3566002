package patients_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
)

// TestDiskFullInABatch fills the disk with batches of clinical records: a batch
// that does not fit is absent as a whole, including its series, and once there
// is space again the same store continues.
func TestDiskFullInABatch(t *testing.T) {
	dir := storetest.Tmpfs(t, "4m")
	s := storetest.Start(t, storetest.CopyTo(t, storetest.Database(t, storetest.SQLite), dir))
	who := storetest.Client(t, s, "Ours")
	o := s.For(&who)
	patient := storetest.AddPatient(t, o, "A")
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	const size = 100
	batch := func() error {
		records := make([]pain.Record, size)
		for i := range records {
			records[i] = newRecord(patient.ID, pain.TypePainScores, recordNow.Add(time.Duration(i)*time.Minute))
		}
		return storetest.AddRecords(t.Context(), o, patient.ID, records...)
	}
	whole := func(when string, batches int) {
		t.Helper()
		if _, total := listed(t, o, patient.ID, patients.RecordQuery{Page: 1, Limit: 1}); total != int64(batches*size) {
			t.Errorf("%s: %d records, want %d batches of %d", when, total, batches, size)
		}
		if problems, _, err := s.System().CheckSeries(t.Context(), false, func(string, int64, int64) {}); len(problems) != 0 || err != nil {
			t.Errorf("%s: %v, %v", when, problems, err)
		}
	}
	acknowledged := 0
	var err error
	for err = batch(); err == nil; err = batch() {
		acknowledged++
	}
	storetest.WantAway(t, err, "The disk is full or failing; nothing was changed.")
	whole("full", acknowledged)
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := batch(); err != nil {
			t.Fatalf("with space again: %v", err)
		}
		acknowledged++
	}
	whole("with space again", acknowledged)
}
