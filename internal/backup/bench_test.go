package backup_test

import (
	"crypto/rand"
	"path/filepath"
	"strconv"
	"testing"

	"anodyne.example/anodyne/internal/backup"
	"anodyne.example/anodyne/internal/seal"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/storetest"
)

// benchSource is a database of some thousand patients.
func benchSource(b *testing.B, engine string) (*store.Store, backup.Keys) {
	s := storetest.Open(b, engine)
	who := storetest.Client(b, s, "Ours")
	for range 5000 {
		storetest.AddPatient(b, s.For(&who), "Zebedee "+rand.Text())
	}
	key, err := seal.ParseKey([]byte(hexKey))
	if err != nil {
		b.Fatal(err)
	}
	return s, backup.Keys{Database: key}
}

func BenchmarkBackup(b *testing.B) {
	for _, engine := range storetest.Engines {
		b.Run(engine, func(b *testing.B) {
			s, keys := benchSource(b, engine)
			dir, rows := b.TempDir(), int64(0)
			for i := 0; b.Loop(); i++ {
				sum, err := backup.Write(b.Context(), s.System(), keys, filepath.Join(dir, strconv.Itoa(i)), "bench", made, quiet)
				if err != nil {
					b.Fatal(err)
				}
				rows += sum.Rows
			}
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

func BenchmarkRestore(b *testing.B) {
	source, keys := benchSource(b, storetest.SQLite)
	path := filepath.Join(b.TempDir(), "backup")
	if _, err := backup.Write(b.Context(), source.System(), keys, path, "bench", made, quiet); err != nil {
		b.Fatal(err)
	}
	for _, engine := range storetest.Engines {
		b.Run(engine, func(b *testing.B) {
			rows := int64(0)
			for b.Loop() {
				sum, err := backup.Restore(b.Context(), target(b, engine), keys, path, quiet, nil)
				if err != nil {
					b.Fatal(err)
				}
				rows += sum.Rows
			}
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
