package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/storetest"
)

// A server whose file was replaced would write to a file that is lost later. It
// rejects writes with a clear message until the file is back.
func TestReplacedFileTakesNoWrites(t *testing.T) {
	cfg := storetest.Database(t, storetest.SQLite)
	path := strings.TrimPrefix(cfg.Database, "sqlite:")
	s := storetest.Start(t, cfg)
	who := storetest.Client(t, s, "Ours")
	org := s.For(&who)
	storetest.AddPatient(t, org, "A")
	refused := func(what string) {
		t.Helper()
		p := storetest.Patient("B")
		_, err := org.CreatePatient(t.Context(), &p, storetest.Created(p), nil, idempotency.Outcome{})
		if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "moved or replaced") {
			t.Errorf("%s: a write: %v", what, err)
		}
		if err := s.Ping(t.Context()); !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s: ready: %v", what, err)
		}
	}
	elsewhere := filepath.Join(t.TempDir(), "elsewhere.db")
	if err := os.Rename(path, elsewhere); err != nil {
		t.Fatal(err)
	}
	refused("moved away")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused("replaced")
	if err := os.Rename(elsewhere, path); err != nil {
		t.Fatal(err)
	}
	storetest.AddPatient(t, org, "C")
	if err := s.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}
