package importer_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testneed"
)

// An import into SQLite writes each page a few times, also those of indexes
// into which it inserts at random.
func TestImportWritesFewBytes(t *testing.T) {
	testneed.Long(t, "importing 30,000 lines")
	cfg := storetest.Database(t, storetest.SQLite)
	path := strings.TrimPrefix(cfg.Database, "sqlite:")
	dir := t.TempDir()
	for _, file := range []string{manyPatients(t, dir, 10_000), manyRecords(t, dir, 20_000)} {
		s, err := store.Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		org, err := s.System().Organization(t.Context(), "Ours")
		if fault.Is(err, fault.NotFound) {
			storetest.Client(t, s, "Ours")
			org, err = s.System().Organization(t.Context(), "Ours")
		}
		if err != nil {
			t.Fatal(err)
		}
		size, before := sizeOf(t, path), bytesWritten(t)
		importAll(t, org, file)
		if err := s.Close(); err != nil { // copies the log into the file
			t.Fatal(err)
		}
		written, growth := bytesWritten(t)-before, sizeOf(t, path)-size
		if written > 4*growth {
			t.Errorf("%s: %d bytes written, for %d more in the database", file, written, growth)
		}
	}
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// bytesWritten returns the bytes that this process has passed to write calls.
func bytesWritten(t *testing.T) (n int64) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "wchar: ")
	if _, err := fmt.Sscan(rest, &n); err != nil {
		t.Fatal(err)
	}
	return n
}
