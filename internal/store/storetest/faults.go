package storetest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
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

// Damage overwrites one leaf page of a table WITHOUT ROWID that contains text, in
// a SQLite database that is closed.
func Damage(t *testing.T, cfg store.Config, text string) {
	t.Helper()
	const size, leaf = 4096, 0x0a
	content := Must[[]byte](t)(os.ReadFile(FileOf(cfg)))
	for page := range slices.Chunk(content, size) {
		if page[0] == leaf && bytes.Contains(page, []byte(text)) {
			copy(page, bytes.Repeat([]byte{0xa5}, size))
			if err := os.WriteFile(FileOf(cfg), content, 0o600); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatal("there is no such page")
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
