package engine_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"anodyne.example/anodyne/internal/seal"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/storetest"
)

// From unencrypted to a key, to a passphrase, to another one, and back.
func TestRekey(t *testing.T) {
	cfg := storetest.Database(t, storetest.SQLite)
	s := storetest.Must[*store.Store](t)(store.Open(t.Context(), cfg))
	who := storetest.Client(t, s, "Ours")
	p := addPrivate(t, s.For(&who))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, next := range []*seal.Key{key(t, hexKey), key(t, passphrase), key(t, passphrase+"!"), nil, key(t, hexKey)} {
		if err := engine.Rekey(t.Context(), cfg.Database, cfg.Key, next, storetest.NoProgress); err != nil {
			t.Fatal(err)
		}
		old := cfg.Key
		cfg.Key = next
		if next != nil {
			grep(t, filepath.Dir(storetest.FileOf(cfg)))
		} else if !bytes.Contains(storetest.Must[[]byte](t)(os.ReadFile(storetest.FileOf(cfg))), []byte(private[0])) {
			t.Error("the file is not in the clear")
		}
		s := storetest.Must[*store.Store](t)(store.Open(t.Context(), cfg))
		if got, err := s.For(&who).Patient(t.Context(), p.ID); got != p || err != nil {
			t.Errorf("got %+v, %v", got, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		wrong := cfg
		wrong.Key = old
		if _, err := store.Open(t.Context(), wrong); err == nil {
			t.Error("the key before still opens the file")
		}
		if err := engine.Rekey(t.Context(), cfg.Database, next, next, storetest.NoProgress); err == nil {
			t.Error("the same key was taken for a new one")
		}
		for _, pattern := range []string{"*.rekey*", "*-wal", "*-shm", "*-journal"} {
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(storetest.FileOf(cfg)), pattern)); len(left) > 0 {
				t.Errorf("%s is left", left)
			}
		}
	}
}

// Between replacing the key check, the file, and the key check again, either
// file opens with its own key.
func TestRekeyHalfway(t *testing.T) {
	keys := []*seal.Key{nil, key(t, hexKey), key(t, passphrase)}
	if testing.Short() {
		keys = keys[:2] // a passphrase takes long by design
	}
	next := key(t, strings.Repeat("0f", seal.KeySize))
	for from, old := range keys {
		for to, fresh := range keys {
			if from == to {
				continue
			}
			cfg := empty(t, storetest.SQLite)
			cfg.Key = old
			storetest.Must[[]engine.Migration](t)(store.Migrate(t.Context(), cfg))
			content := func(path string) []byte {
				content, err := os.ReadFile(path)
				if err != nil && !errors.Is(err, os.ErrNotExist) {
					t.Fatal(err)
				}
				return content
			}
			check := storetest.FileOf(cfg) + ".key-check"
			oldFile, oldCheck := content(storetest.FileOf(cfg)), content(check)
			if err := engine.Rekey(t.Context(), cfg.Database, old, fresh, storetest.NoProgress); err != nil {
				t.Fatal(err)
			}
			newFile, both := content(storetest.FileOf(cfg)), append(oldCheck, content(check)...)
			for name, c := range map[string]struct {
				content    []byte
				opens, not *seal.Key
			}{"before": {oldFile, old, fresh}, "after": {newFile, fresh, old}} {
				for path, content := range map[string][]byte{storetest.FileOf(cfg): c.content, check: both} {
					if err := os.WriteFile(path, content, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				cfg.Key = c.not
				if _, err := store.Open(t.Context(), cfg); err == nil {
					t.Errorf("%d to %d, %s: it opens with the other key", from, to, name)
				}
				cfg.Key = c.opens
				if s, err := store.Open(t.Context(), cfg); err != nil {
					t.Errorf("%d to %d, %s: %v", from, to, name, err)
				} else if err := s.Close(); err != nil {
					t.Error(err)
				}
				// The key can be changed from either state.
				if err := engine.Rekey(t.Context(), cfg.Database, c.opens, next, storetest.NoProgress); err != nil {
					t.Errorf("%d to %d, %s: %v", from, to, name, err)
				}
			}
		}
	}
}

func TestRekeyRefuses(t *testing.T) {
	cfg := encrypted(t, hexKey)
	refused := func(database string, old, fresh *seal.Key, want string) {
		t.Helper()
		if err := engine.Rekey(t.Context(), database, old, fresh, storetest.NoProgress); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	refused(cfg.Database, key(t, passphrase), nil, "wrong key")
	refused(cfg.Database, nil, key(t, passphrase), "is encrypted; give its key")
	refused("postgres://db/x", nil, key(t, passphrase), "only a SQLite file has a key")
	refused("sqlite:"+filepath.Join(t.TempDir(), "none.db"), nil, key(t, passphrase), "no such file")
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(storetest.FileOf(cfg), link); err != nil {
		t.Fatal(err)
	}
	refused("sqlite:"+link, cfg.Key, nil, "not a link")
	if err := os.WriteFile(storetest.FileOf(cfg)+".rekey", []byte("left by one who was killed"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := storetest.Must[*store.Store](t)(store.Open(t.Context(), cfg))
	if _, err := os.Stat(storetest.FileOf(cfg) + ".rekey"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what a killed process left is still there: %v", err)
	}
	refused(cfg.Database, cfg.Key, nil, "a server or another command has")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := engine.Rekey(t.Context(), cfg.Database, cfg.Key, nil, func(string, int64, int64) {
		if _, err := store.Open(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "is being changed") {
			t.Errorf("opening meanwhile: %v", err)
		}
	}); err != nil {
		t.Error(err)
	}
}

func TestRekeyOnAFullDisk(t *testing.T) {
	dir := storetest.Tmpfs(t, "3m")
	cfg := storetest.CopyTo(t, storetest.Database(t, storetest.SQLite), dir)
	s := storetest.Must[*store.Store](t)(store.Open(t.Context(), cfg))
	who := storetest.Client(t, s, "Ours")
	p := addPrivate(t, s.For(&who))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(dir, "ballast")
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ballast, make([]byte, int64(disk.Bavail)*disk.Bsize-64<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := engine.Rekey(t.Context(), cfg.Database, nil, key(t, hexKey), storetest.NoProgress); err == nil || strings.Contains(err.Error(), hexKey) {
		t.Errorf("got %v", err)
	} else if !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("got %v", err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	s = storetest.Start(t, cfg)
	if got, err := s.For(&who).Patient(t.Context(), p.ID); got != p || err != nil {
		t.Errorf("got %+v, %v", got, err)
	}
}
