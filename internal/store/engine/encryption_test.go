package engine_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/seal"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
)

const (
	hexKey     = "8f1c0f5d3f0c2f6e1d2b4a59687786950f1e2d3c4b5a69788796a5b4c3d2e1f0"
	passphrase = "correct horse battery staple"
)

func key(t *testing.T, text string) *seal.Key {
	t.Helper()
	return storetest.Must[*seal.Key](t)(seal.ParseKey([]byte(text)))
}

// encrypted creates a migrated, encrypted file.
func encrypted(t *testing.T, text string) store.Config {
	t.Helper()
	cfg := empty(t, storetest.SQLite)
	cfg.Key = key(t, text)
	storetest.Must[[]engine.Migration](t)(store.Migrate(t.Context(), cfg))
	return cfg
}

// private are personal data that must not occur in the bytes of a file.
var private = []string{"Zebedee Quillfeather", "zebedee@quillfeather.example", "+46 555 0199", "Complex regional pain", "afraid of her own stairs"}

func addPrivate(t *testing.T, o store.Org) pain.Patient {
	t.Helper()
	p := storetest.Patient(private[0])
	p.Contact = pain.Contact{Email: private[1], Phone: private[2]}
	p.MedicalHistory = pain.NewHistory(pain.HistoryEntry{Condition: private[3]})
	if _, err := o.CreatePatient(t.Context(), &p, storetest.Created(p), nil, idempotency.Outcome{}); err != nil {
		t.Fatal(err)
	}
	note := storetest.Record(t, p.ID, `{"data_type":"pain_scores","value":7,"notes":"`+private[4]+`"}`)
	if err := storetest.AddRecords(t.Context(), o, p.ID, note); err != nil {
		t.Fatal(err)
	}
	return p
}

// grep fails the test if a file in a folder contains one of them.
func grep(t *testing.T, dir string) (files int) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		content, err := os.ReadFile(path)
		for _, secret := range private {
			if bytes.Contains(content, []byte(secret)) {
				t.Errorf("%s holds %q", filepath.Base(path), secret)
			}
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return files
}

func TestNoPlaintextInAnEncryptedFile(t *testing.T) {
	for _, text := range []string{hexKey, passphrase} {
		cfg := encrypted(t, text)
		s := storetest.Must[*store.Store](t)(store.Open(t.Context(), cfg))
		who := storetest.Client(t, s, "Ours")
		p := addPrivate(t, s.For(&who))
		if info := storetest.Must[os.FileInfo](t)(os.Stat(storetest.FileOf(cfg) + "-wal")); info.Size() == 0 {
			t.Error("there is no write-ahead log to look into")
		}
		grep(t, filepath.Dir(storetest.FileOf(cfg))) // including the log
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		grep(t, filepath.Dir(storetest.FileOf(cfg)))
		s = storetest.Start(t, cfg)
		if got, err := s.For(&who).Patient(t.Context(), p.ID); got != p || err != nil {
			t.Errorf("read back: %+v, %v", got, err)
		}
		if problems, err := s.System().CheckTables(t.Context()); len(problems) != 0 || err != nil {
			t.Errorf("%q, %v", problems, err)
		}
	}
}

// After a crash, the log contains what was acknowledged, and another process
// can open it.
func TestEncryptedLogIsRecovered(t *testing.T) {
	cfg := encrypted(t, hexKey)
	s := storetest.Start(t, cfg)
	who := storetest.Client(t, s, "Ours")
	var patients []pain.Patient
	for range 50 {
		patients = append(patients, addPrivate(t, s.For(&who)))
	}
	crashed := cfg
	crashed.Database = "sqlite:" + filepath.Join(t.TempDir(), "crashed.db")
	for _, suffix := range []string{"", "-wal", ".key-check"} {
		if err := os.WriteFile(storetest.FileOf(crashed)+suffix, storetest.Must[[]byte](t)(os.ReadFile(storetest.FileOf(cfg)+suffix)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	after := storetest.Start(t, crashed)
	for i, p := range patients {
		if got, err := after.For(&who).Patient(t.Context(), p.ID); got != p || err != nil {
			t.Fatalf("patient %d: %+v, %v", i, got, err)
		}
	}
	if problems, err := after.System().CheckTables(t.Context()); len(problems) != 0 || err != nil {
		t.Errorf("%q, %v", problems, err)
	}
}

func TestPlaintextWouldBeFound(t *testing.T) {
	cfg := storetest.Database(t, storetest.SQLite)
	s := storetest.Start(t, cfg)
	who := storetest.Client(t, s, "Ours")
	addPrivate(t, s.For(&who))
	content := storetest.Must[[]byte](t)(os.ReadFile(storetest.FileOf(cfg) + "-wal"))
	for _, secret := range private {
		if !bytes.Contains(content, []byte(secret)) {
			t.Errorf("%q is not in a file in the clear: looking for it proves nothing", secret)
		}
	}
}

func TestKeysThatDoNotFit(t *testing.T) {
	inHex, inWords, clear := encrypted(t, hexKey), encrypted(t, passphrase), storetest.Database(t, storetest.SQLite)
	lost := encrypted(t, passphrase)
	if err := os.Remove(storetest.FileOf(lost) + ".key-check"); err != nil {
		t.Fatal(err)
	}
	lostHex := encrypted(t, hexKey)
	if err := os.Remove(storetest.FileOf(lostHex) + ".key-check"); err != nil {
		t.Fatal(err)
	}
	damaged := encrypted(t, hexKey)
	if err := os.WriteFile(storetest.FileOf(damaged)+".key-check", []byte("hkdf - zz\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := encrypted(t, hexKey)
	content := storetest.Must[[]byte](t)(os.ReadFile(storetest.FileOf(broken)))
	content[20] ^= 1
	if err := os.WriteFile(storetest.FileOf(broken), content, 0o600); err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(hexKey, "8f", "8e", 1)
	for name, c := range map[string]struct {
		cfg  store.Config
		key  string
		want string
	}{
		"another key":                  {inHex, other, "wrong key"},
		"a passphrase for a key":       {inHex, passphrase, "wrong key"},
		"another passphrase":           {inWords, passphrase + "s", "wrong key"},
		"a key for a passphrase":       {inWords, hexKey, "wrong key"},
		"none":                         {inHex, "", "is encrypted; give its key with --database-key-file"},
		"one too many":                 {clear, hexKey, "is not encrypted, but a key is given"},
		"the salt is lost":             {lost, passphrase, "key-check is missing"},
		"the check is lost, wrong key": {lostHex, other, "wrong key, or the file is damaged"},
		"the check is lost, no key":    {lostHex, "", "is not a SQLite database"},
		"the check is damaged":         {damaged, hexKey, "the file is damaged"},
		"the file is damaged":          {broken, hexKey, "the file is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := c.cfg
			cfg.Key = nil
			if c.key != "" {
				cfg.Key = key(t, c.key)
			}
			before := storetest.Must[[]byte](t)(os.ReadFile(storetest.FileOf(cfg)))
			_, openErr := store.Open(t.Context(), cfg)
			_, migrateErr := store.Migrate(t.Context(), cfg)
			for _, err := range []error{openErr, migrateErr} {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %q", err, c.want)
				}
			}
			if !bytes.Equal(before, storetest.Must[[]byte](t)(os.ReadFile(storetest.FileOf(cfg)))) {
				t.Error("the file was changed")
			}
		})
	}

	// A key that is not a passphrase opens a file that was copied without its
	// key check.
	lostHex.Key = key(t, hexKey)
	storetest.Start(t, lostHex)
	if _, err := os.Stat(storetest.FileOf(lostHex) + ".key-check"); err != nil {
		t.Errorf("the check was not made anew: %v", err)
	}
}

func TestNewEncryptedFileByManyAtOnce(t *testing.T) {
	cfg := empty(t, storetest.SQLite)
	storetest.Together(t, 6, func(int) error {
		mine := cfg
		var err error
		if mine.Key, err = seal.ParseKey([]byte(hexKey)); err != nil {
			return err
		}
		_, err = store.Migrate(t.Context(), mine)
		return err
	})
	cfg.Key = key(t, hexKey)
	storetest.Start(t, cfg)
}

// A reader of the newest frames of the log, in this process or another, must
// never see half of one while others append.
func TestEncryptedReadsWhileOthersWrite(t *testing.T) {
	cfg := encrypted(t, hexKey)
	s, beside := storetest.Start(t, cfg), storetest.Start(t, cfg)
	who := storetest.Client(t, s, "Ours")
	var newest atomic.Int64
	done := make(chan struct{})
	var reading sync.WaitGroup
	for i := range 6 {
		o := []*store.Store{s, beside}[i%2].For(&who)
		reading.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				top := newest.Load()
				err := o.PatientRange(t.Context(), max(1, top-3), top, func(patients.PatientItem) {})
				_, _, eventsErr := o.Events(t.Context(), journal.Pos(max(0, top-3)), 10)
				if err != nil || eventsErr != nil {
					t.Errorf("%v, %v", err, eventsErr)
					return
				}
			}
		})
	}
	storetest.Together(t, 3, func(int) error {
		for range 50 {
			if _, err := storetest.TryPatient(t, s.For(&who)); err != nil {
				return err
			}
			newest.Add(1)
		}
		return nil
	})
	close(done)
	reading.Wait()
	if problems, err := beside.System().CheckTables(t.Context()); len(problems) != 0 || err != nil {
		t.Errorf("%q, %v", problems, err)
	}
}
