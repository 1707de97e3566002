package storetest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store"
)

// FileOf returns the path of a SQLite database.
func FileOf(cfg store.Config) string { return strings.TrimPrefix(cfg.Database, "sqlite:") }

// WantAway fails the test unless err asks the caller to retry, with this
// message.
func WantAway(t *testing.T, err error, words string) {
	t.Helper()
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Code != fault.Unavailable || !strings.Contains(e.Message, words) || e.RetryAfter <= 0 {
		t.Errorf("got %v, want SERVICE_UNAVAILABLE: %s", err, words)
	}
}

// CopyTo copies a migrated database and its data directory to dir.
func CopyTo(t *testing.T, cfg store.Config, dir string) store.Config {
	t.Helper()
	moved := cfg
	moved.Database, moved.DataDir = "sqlite:"+filepath.Join(dir, "anodyne.db"), filepath.Join(dir, "data")
	if err := os.CopyFS(moved.DataDir, os.DirFS(cfg.DataDir)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(FileOf(moved), Must[[]byte](t)(os.ReadFile(FileOf(cfg))), 0o600); err != nil {
		t.Fatal(err)
	}
	return moved
}

// NoProgress ignores progress reports.
func NoProgress(string, int64, int64) {}
