package engine_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
)

// Faults of the file and the disk below SQLite: each is reported with a clear
// message, and what was acknowledged is kept.

// lock holds the write lock of a file as another process would, until release
// is called.
func lock(t *testing.T, path string) (release func()) {
	t.Helper()
	conn := storetest.Must[*sqlite3.Conn](t)(sqlite3.Open(path))
	if err := conn.Exec(`BEGIN EXCLUSIVE`); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestFileLockedByAnotherProcess(t *testing.T) {
	engine.ShortBusyTimeout(t)
	cfg := storetest.Database(t, storetest.SQLite)
	s := storetest.Start(t, cfg)
	who := storetest.Client(t, s, "Ours")
	o := s.For(&who)
	before := storetest.AddPatient(t, o, "before")

	release := lock(t, storetest.FileOf(cfg))
	storetest.Together(t, 20, func(int) error {
		_, err := storetest.TryPatient(t, o)
		storetest.WantAway(t, err, "locked by another process")
		return nil
	})
	if _, err := o.Patient(t.Context(), before.ID); err != nil {
		t.Errorf("reading meanwhile: %v", err)
	}
	_, err := store.Migrate(t.Context(), cfg)
	storetest.WantAway(t, err, "locked by another process")
	release()

	if _, err := storetest.TryPatient(t, o); err != nil {
		t.Errorf("after the lock was released: %v", err)
	}
	if total, err := o.PatientPage(t.Context(), 1, 1, func(patients.PatientItem) {}); total != 2 || err != nil {
		t.Errorf("%d patients, %v", total, err)
	}
}

func TestNewFileLockedByAnotherProcess(t *testing.T) {
	engine.ShortBusyTimeout(t)
	cfg := empty(t, storetest.SQLite)
	release := lock(t, storetest.FileOf(cfg))
	_, err := store.Migrate(t.Context(), cfg)
	if err == nil || !strings.Contains(err.Error(), "is locked by another process; stop it and try again") {
		t.Errorf("got %v", err)
	}
	release()
	storetest.Must[[]engine.Migration](t)(store.Migrate(t.Context(), cfg))
}

func TestDatabaseTurnsReadOnly(t *testing.T) {
	for engine, readOnly := range map[string]string{
		storetest.SQLite:   `PRAGMA query_only = on`,
		storetest.Postgres: `SET default_transaction_read_only = on`,
	} {
		t.Run(engine, func(t *testing.T) {
			cfg := storetest.Database(t, engine)
			if engine == storetest.Postgres {
				cfg.Database += "&pool_max_conns=1" // the setting belongs to the connection
			}
			s := storetest.Start(t, cfg)
			who := storetest.Client(t, s, "Ours")
			before := storetest.AddPatient(t, s.For(&who), "before")
			storetest.Exec(t, s, readOnly)
			_, err := storetest.TryPatient(t, s.For(&who))
			storetest.WantAway(t, err, "read-only")
			if _, err := s.For(&who).Patient(t.Context(), before.ID); err != nil {
				t.Errorf("reading meanwhile: %v", err)
			}
			s = storetest.Start(t, storetest.Node(t, cfg))
			if _, err := storetest.TryPatient(t, s.For(&who)); err != nil {
				t.Errorf("on a connection of its own: %v", err)
			}
		})
	}
}

func TestReadOnlyFileSystem(t *testing.T) {
	dir := storetest.Tmpfs(t, "8m")
	cfg := storetest.CopyTo(t, storetest.Database(t, storetest.SQLite), dir)
	remount := func(flags uintptr) {
		t.Helper()
		if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|flags, ""); err != nil {
			t.Fatal(err)
		}
	}
	remount(syscall.MS_RDONLY)
	_, openErr := store.Open(t.Context(), cfg)
	_, migrateErr := store.Migrate(t.Context(), cfg)
	fresh := cfg
	fresh.Database += "new"
	_, freshErr := store.Migrate(t.Context(), fresh)
	for _, err := range []error{openErr, migrateErr} {
		if err == nil || !strings.Contains(err.Error(), "cannot be written; check the owner and mode") {
			t.Errorf("got %v", err)
		}
	}
	if freshErr == nil || !strings.Contains(freshErr.Error(), "read-only file system") {
		t.Errorf("a new file: %v", freshErr)
	}
	remount(0)
	storetest.Client(t, storetest.Start(t, cfg), "Ours")
}

func TestDiskFull(t *testing.T) {
	dir := storetest.Tmpfs(t, "3m")
	cfg := storetest.CopyTo(t, storetest.Database(t, storetest.SQLite), dir)
	s := storetest.Start(t, cfg)
	who := storetest.Client(t, s, "Ours")
	o := s.For(&who)
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}

	var acknowledged []pain.Patient
	var err error
	for err == nil {
		var p pain.Patient
		if p, err = storetest.TryPatient(t, o); err == nil {
			acknowledged = append(acknowledged, p)
		}
	}
	storetest.WantAway(t, err, "The disk is full or failing; nothing was changed.")

	seen := 0
	for err = error(nil); err == nil; seen++ {
		err = o.Saw(&audit.Entry{At: time.Now(), Action: audit.PatientRead, Resource: strings.Repeat("x", 3000)})
	}
	storetest.WantAway(t, err, "The audit log cannot be written, so no data is returned.")
	seen--

	kept := func(when string) {
		t.Helper()
		for i, p := range acknowledged {
			if got, err := o.Patient(t.Context(), p.ID); got != p || err != nil {
				t.Fatalf("%s: of %d patients, number %d is %+v, %v", when, len(acknowledged), i+1, got, err)
			}
		}
		if total, err := o.PatientPage(t.Context(), 1, 1, func(patients.PatientItem) {}); int(total) != len(acknowledged) || err != nil {
			t.Errorf("%s: a total of %d, want %d, %v", when, total, len(acknowledged), err)
		}
	}
	kept("full")
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		p, err := storetest.TryPatient(t, o)
		if err != nil {
			t.Fatalf("with space again: %v", err)
		}
		acknowledged = append(acknowledged, p)
	}
	kept("with space again")
	storetest.Saw(t, o, "afterwards")
	storetest.Ship(t, s)
	if got := storetest.Reads(t, o); len(got) != seen+1 || got[seen] != "afterwards" {
		t.Errorf("%d reads are on record, want %d", len(got), seen+1)
	}
	if problems, err := s.System().CheckTables(t.Context()); len(problems) != 0 || err != nil {
		t.Errorf("%v, %v", problems, err)
	}
}

func TestNotADatabase(t *testing.T) {
	migrated := storetest.Must[[]byte](t)(os.ReadFile(storetest.FileOf(storetest.Database(t, storetest.SQLite))))
	header := bytes.Clone(migrated)
	copy(header, "SQLite format 4\x00")
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"text":            {bytes.Repeat([]byte("no database\n"), 1000), "is not a SQLite database; name another file or restore a backup"},
		"short text":      {[]byte("no database\n"), "is not a SQLite database"},
		"damaged header":  {header, "is not a SQLite database"},
		"cut off":         {migrated[:len(migrated)/2], "is damaged"},
		"first page only": {migrated[:4096], "is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := empty(t, storetest.SQLite)
			if err := os.WriteFile(storetest.FileOf(cfg), c.content, 0o600); err != nil {
				t.Fatal(err)
			}
			_, openErr := store.Open(t.Context(), cfg)
			_, migrateErr := store.Migrate(t.Context(), cfg)
			for _, err := range []error{openErr, migrateErr} {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %q", err, c.want)
				}
			}
			if after := storetest.Must[[]byte](t)(os.ReadFile(storetest.FileOf(cfg))); !bytes.Equal(after, c.content) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestDirectoryInsteadOfAFile(t *testing.T) {
	_, err := store.Migrate(t.Context(), store.Config{Database: "sqlite:" + t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("got %v", err)
	}
}

func TestEmptyFileIsANewDatabase(t *testing.T) {
	cfg := empty(t, storetest.SQLite)
	if err := os.WriteFile(storetest.FileOf(cfg), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	storetest.Must[[]engine.Migration](t)(store.Migrate(t.Context(), cfg))
	storetest.Client(t, storetest.Start(t, cfg), "Ours")
}

// Only the content of a damaged page is lost, and the damage is reported.
func TestDamagedPage(t *testing.T) {
	cfg := storetest.Database(t, storetest.SQLite)
	s := storetest.Must[*store.Store](t)(store.Open(t.Context(), cfg))
	who := storetest.Client(t, s, "Ours")
	const people = 400
	storetest.Together(t, 40, func(int) error {
		for range people / 40 {
			if _, err := storetest.TryPatient(t, s.For(&who)); err != nil {
				return err
			}
		}
		return nil
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	storetest.Damage(t, cfg, storetest.Patient("").Contact.Email)

	s = storetest.Start(t, cfg)
	o := s.For(&access.Principal{Org: who.Org, Client: who.Client})
	readable, damaged := 0, 0
	for no := int64(1); no <= people; no++ {
		err := o.PatientRange(t.Context(), no, no, func(patients.PatientItem) { readable++ })
		if err != nil {
			storetest.WantAway(t, err, "The database is damaged.")
			damaged++
		}
	}
	if readable+damaged != people || readable == 0 || damaged == 0 {
		t.Errorf("%d patients are readable, %d damaged", readable, damaged)
	}
	if problems, err := s.System().CheckTables(t.Context()); len(problems) == 0 && err == nil {
		t.Error("the check found nothing")
	}
}
