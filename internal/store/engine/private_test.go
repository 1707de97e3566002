package engine_test

import (
	"bytes"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/seal"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/storetest"
)

// modes returns the modes of all files of a database and its data directory.
func modes(t *testing.T, dirs ...string) map[string]fs.FileMode {
	t.Helper()
	found := map[string]fs.FileMode{}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			info, err := entry.Info()
			if err == nil {
				found[path] = info.Mode()
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// Files that an earlier version or a copy left accessible to others are
// accessible to the owner only once the database is opened, and that is logged
// once.
func TestLooseFilesAreTightened(t *testing.T) {
	t.Parallel()
	key, err := seal.ParseKey([]byte(strings.Repeat("0123456789abcdef", 4)))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cfg := store.Config{Database: "sqlite:" + filepath.Join(dir, "name", "anodyne.db"), DataDir: filepath.Join(dir, "data"), Key: key}
	// The file itself may be elsewhere: SQLite's own files are next to it.
	for _, folder := range []string{"name", "file"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "file", "real.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "file", "real.db"), filepath.Join(dir, "name", "anodyne.db")); err != nil {
		t.Fatal(err)
	}
	storetest.Must[[]engine.Migration](t)(store.Migrate(t.Context(), cfg))
	running := storetest.Start(t, cfg)
	who := storetest.Client(t, running, "Ours")
	storetest.AddPatient(t, running.For(&who), "Ada Nowak")

	loose := modes(t, dir)
	for path := range loose {
		if err := os.Chmod(path, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var log bytes.Buffer
	cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
	if err := storetest.Must[*store.Store](t)(store.Open(t.Context(), cfg)).Close(); err != nil {
		t.Fatal(err)
	}
	tight := modes(t, dir)
	for path := range loose {
		name := strings.TrimPrefix(path, dir)
		if mode, there := tight[path]; there && mode.IsRegular() && mode.Perm() != 0o600 {
			t.Errorf("%s has mode %v", name, mode)
		}
		if loose[path].IsRegular() && strings.Count(log.String(), filepath.Base(path)) == 0 {
			t.Errorf("nothing is said of %s in:\n%s", name, &log)
		}
	}
	for _, name := range []string{"file/real.db", "file/real.db-wal", "file/real.db-shm", "name/anodyne.db.lock", "name/anodyne.db.key-check", "data/audit.key", "data/master.key"} {
		if _, there := loose[filepath.Join(dir, name)]; !there {
			t.Errorf("there was no %s to begin with", name)
		}
	}
	log.Reset()
	if err := storetest.Must[*store.Store](t)(store.Open(t.Context(), cfg)).Close(); err != nil || log.Len() > 0 {
		t.Errorf("the next one: %v\n%s", err, &log)
	}
}
