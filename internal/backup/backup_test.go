package backup_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/backup"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/seal"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/storetest/pgcluster"
	"anodyne.example/anodyne/internal/testneed"
	"anodyne.example/anodyne/internal/testwait"
)

func TestMain(m *testing.M) { testwait.Main(m) }

var made = time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)

func quiet(string, int64, int64) {}

func testKey(t *testing.T, text string) *seal.Key {
	t.Helper()
	key, err := seal.ParseKey([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

const (
	hexKey = "8f1c0f5d3f0c2f6e1d2b4a59687786950f1e2d3c4b5a69788796a5b4c3d2e1f0"
	words  = "correct horse battery staple"
)

// fill creates two organisations with patients, and seals a part of the
// journal.
func fill(t *testing.T, s *store.Store, patients int) access.Principal {
	t.Helper()
	who, other := storetest.Client(t, s, "Ours"), storetest.Client(t, s, "Åkermans & Söner '\"")
	// Names that do not compress, so that there is enough data.
	name := func(int) string {
		return "Zebedee Quillfeather " + rand.Text() + rand.Text() + rand.Text() + rand.Text()
	}
	storetest.AddPatients(t, s.For(&who), patients-patients/2, name)
	if _, err := s.System().Seal(t.Context()); err != nil {
		t.Fatal(err)
	}
	storetest.AddPatients(t, s.For(&who), patients/2, name)
	p := storetest.AddPatient(t, s.For(&other), "日本 \U0001f600")
	if err := storetest.AddRecords(t.Context(), s.For(&other), p.ID, storetest.Record(t, p.ID, `{"data_type":"pain_scores","value":7,"notes":"naïve"}`)); err != nil {
		t.Fatal(err)
	}
	return who
}

// target is a database without a schema and with an empty data directory.
func target(t testing.TB, engine string) store.Config {
	t.Helper()
	cfg := store.Config{DataDir: filepath.Join(t.TempDir(), "data"), Log: slog.New(slog.DiscardHandler)}
	if engine == storetest.Postgres {
		cfg.Database = pgcluster.Database(t, nil)
	} else {
		cfg.Database = "sqlite:" + filepath.Join(t.TempDir(), "restored.db")
	}
	return cfg
}

// sums gives the checksum of every table.
func sums(t *testing.T, s *store.Store) map[string]string {
	t.Helper()
	found := map[string]string{}
	if err := s.System().Dump(t.Context(), func(d *engine.Dump) error {
		for _, table := range d.Tables {
			hash := sha256.New()
			if err := d.Rows(table, func(r engine.Row) error {
				hash.Write(table.AppendRow(nil, r))
				return nil
			}); err != nil {
				return err
			}
			found[table.Name] = fmt.Sprintf("%d rows %x", table.Rows, hash.Sum(nil))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return found
}

func write(t *testing.T, s *store.Store, key *seal.Key) (path string, keys backup.Keys) {
	t.Helper()
	keys = backup.Keys{Database: key, Audit: s.System().KeyFiles()["audit.key"]}
	path = filepath.Join(t.TempDir(), "backup")
	if _, err := backup.Write(t.Context(), s.System(), keys, path, "test", made, quiet); err != nil {
		t.Fatal(err)
	}
	return path, keys
}

func TestRestoreFromEachEngineIntoEach(t *testing.T) {
	for _, from := range storetest.Engines {
		for _, to := range storetest.Engines {
			t.Run(from+" to "+to, func(t *testing.T) {
				source := storetest.Open(t, from)
				who := fill(t, source, 50)
				want := sums(t, source)
				path, keys := write(t, source, testKey(t, hexKey))
				cfg := target(t, to)
				sum, err := backup.Restore(t.Context(), cfg, keys, path, quiet, nil)
				if err != nil {
					t.Fatal(err)
				}
				if !sum.Encrypted || !sum.MadeAt.Equal(made) || sum.Schema != engine.SchemaVersion() {
					t.Errorf("%+v", sum)
				}
				restored := storetest.Start(t, cfg)
				got := sums(t, restored)
				if len(want) < 10 || len(got) != len(want) {
					t.Errorf("%d tables, want %d", len(got), len(want))
				}
				for name := range want {
					if got[name] != want[name] {
						t.Errorf("table %s: %s, want %s", name, got[name], want[name])
					}
				}
				lives(t, restored, who)
			})
		}
	}
}

// A place in the feed from before a restore is refused, even if the restored
// journal has grown past it.
func TestFeedAfterARestore(t *testing.T) {
	for _, name := range storetest.Engines {
		t.Run(name, func(t *testing.T) {
			source := storetest.Open(t, name)
			who := fill(t, source, 2)
			storetest.Run(t, source)
			path, keys := write(t, source, testKey(t, hexKey))
			before, err := source.For(&who).Feed(t.Context(), patients.FeedQuery{Limit: 10})
			if err != nil {
				t.Fatal(err)
			}
			cfg := target(t, name)
			if _, err := backup.Restore(t.Context(), cfg, keys, path, quiet, nil); err != nil {
				t.Fatal(err)
			}
			restored := storetest.Start(t, cfg)
			storetest.Run(t, restored)
			o := restored.For(&who)
			for range 20 {
				storetest.AddPatient(t, o, "after")
			}
			if _, err := o.Feed(t.Context(), patients.FeedQuery{From: before.Next, Limit: 10}); !errors.Is(err, patients.ErrFeedRestarted) {
				t.Errorf("a place from before: %v", err)
			}
			page, err := o.Feed(t.Context(), patients.FeedQuery{Limit: 10})
			if err != nil || page.Next.Life == 0 {
				t.Fatalf("from the start: %+v, %v", page.Next, err)
			}
			if _, err := o.Feed(t.Context(), patients.FeedQuery{From: page.Next, Limit: 10}); err != nil {
				t.Errorf("a place from after: %v", err)
			}
		})
	}
}

// lives asserts that a restored database is sound and can be written to.
func lives(t *testing.T, s *store.Store, who access.Principal) {
	t.Helper()
	storetest.Run(t, s)
	before, err := s.For(&who).PatientPage(t.Context(), 1, 1, func(patients.PatientItem) {})
	if err != nil {
		t.Fatal(err)
	}
	p := storetest.AddPatient(t, s.For(&who), "after")
	if got, err := s.For(&who).Patient(t.Context(), p.ID); got != p || err != nil {
		t.Errorf("a new patient: %+v, %v", got, err)
	}
	if total, err := s.For(&who).PatientPage(t.Context(), 1, 1, func(patients.PatientItem) {}); total != before+1 || err != nil {
		t.Errorf("%d patients, want %d, %v", total, before+1, err)
	}
	fresh := storetest.Client(t, s, "A new organisation")
	storetest.AddPatient(t, s.For(&fresh), "its first")
	// Every entry is an event here but those of the clients; wait for the last.
	var after journal.Pos
	for seen := int64(0); seen < before+1; {
		events, next, err := s.For(&who).WaitEvents(t.Context(), after, 100)
		if err != nil || next == after {
			t.Fatalf("%d events, want %d, %v", seen, before+1, err)
		}
		seen, after = seen+int64(len(events)), next
	}
	if _, err := s.System().Seal(t.Context()); err != nil {
		t.Error(err)
	}
	tables, tablesErr := s.System().CheckTables(t.Context())
	seals, sealsErr := s.System().VerifySeals(t.Context(), nil, nil)
	if len(tables)+len(seals) > 0 || tablesErr != nil || sealsErr != nil {
		t.Errorf("%q %q %v %v", tables, seals, tablesErr, sealsErr)
	}
}

func TestBackupWithoutAKey(t *testing.T) {
	source := storetest.Open(t, storetest.SQLite)
	who := fill(t, source, 5)
	path, keys := write(t, source, nil)
	if content := read(t, path); bytes.Contains(content, keys.Audit) || bytes.Contains(content, source.System().KeyFiles()["master.key"]) {
		t.Error("a backup that is not encrypted holds a key")
	}
	cfg := target(t, storetest.SQLite)
	if _, err := backup.Restore(t.Context(), cfg, keys, path, quiet, nil); err == nil || !strings.Contains(err.Error(), "copy it there first") {
		t.Errorf("without the key files: %v", err)
	}
	if err := store.WriteKeyFiles(cfg.DataDir, source.System().KeyFiles()); err != nil {
		t.Fatal(err)
	}
	if sum, err := backup.Restore(t.Context(), cfg, keys, path, quiet, nil); err != nil || sum.Encrypted {
		t.Fatalf("%+v, %v", sum, err)
	}
	lives(t, storetest.Start(t, cfg), who)
}

// What is committed while a backup is under way is not in it, and what it
// holds is whole: on PostgreSQL also the entries that have no position yet, and on
// Citus organisations that are created meanwhile, with all that refers to them.
func TestBackupWhileOthersWrite(t *testing.T) {
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			source := storetest.Open(t, engine)
			who := fill(t, source, 20)
			for round := range 3 {
				var path string
				var keys backup.Keys
				beside(t, source, who, 1_000_000*round, func() { path, keys = write(t, source, testKey(t, hexKey)) })
				cfg := target(t, storetest.SQLite)
				if _, err := backup.Restore(t.Context(), cfg, keys, path, quiet, nil); err != nil {
					t.Fatal(err)
				}
				restored := storetest.Start(t, cfg)
				// A patient comes with its event, never without.
				patients, err := restored.For(&who).PatientPage(t.Context(), 1, 1, func(patients.PatientItem) {})
				events, _, eventsErr := restored.For(&who).Events(t.Context(), 0, 1_000_000)
				if err != nil || eventsErr != nil || int64(len(events)) != patients {
					t.Errorf("%d patients with %d events, %v, %v", patients, len(events), err, eventsErr)
				}
				if problems, err := restored.System().CheckTables(t.Context()); len(problems) > 0 || err != nil {
					t.Errorf("%q, %v", problems, err)
				}
				if problems, err := restored.System().VerifySeals(t.Context(), nil, nil); len(problems) > 0 || err != nil {
					t.Errorf("%q, %v", problems, err)
				}
			}
		})
	}
}

// beside calls fn while others write. The newcomers are numbered from after.
func beside(t *testing.T, s *store.Store, who access.Principal, after int, fn func()) {
	stop, begun := make(chan struct{}), make(chan struct{}, 1)
	var writing sync.WaitGroup
	again := func(one func(n int) error) {
		writing.Go(func() {
			for n := 1; ; n++ {
				err := one(n)
				select {
				case begun <- struct{}{}:
				default:
				}
				if err != nil {
					t.Error(err)
					return
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for range 3 {
		again(func(int) error {
			p := storetest.Patient("meanwhile")
			_, err := s.For(&who).CreatePatient(context.Background(), &p, storetest.Created(p), nil, idempotency.Outcome{})
			return err
		})
	}
	again(func(n int) error { return join(s, after+n) })
	defer writing.Wait()
	defer close(stop)
	<-begun
	fn()
}

// join creates a member who owns an endpoint, and for each tenth member an
// organisation.
func join(s *store.Store, n int) error {
	a, err := s.System().CreateAccount(context.Background(), fmt.Sprint("Newcomer ", n/10), storetest.NewMember(n, access.Administrator))
	if err != nil {
		return err
	}
	w := storetest.Webhook("https://receiver.example")
	_, err = s.For(new(a.Principal())).CreateWebhook(context.Background(), &w, storetest.WebhookSecret, storetest.WebhookLine(audit.WebhookCreate, w.ID), nil, idempotency.Outcome{})
	return err
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestNoPlaintextInABackup(t *testing.T) {
	source := storetest.Open(t, storetest.SQLite)
	who := fill(t, source, 3)
	p := storetest.Patient("Zebedee Quillfeather")
	p.Contact = pain.Contact{Email: "zebedee@quillfeather.example", Phone: "+46 555 0199"}
	if _, err := source.For(&who).CreatePatient(t.Context(), &p, storetest.Created(p), nil, idempotency.Outcome{}); err != nil {
		t.Fatal(err)
	}
	note := "afraid of her own stairs"
	if err := storetest.AddRecords(t.Context(), source.For(&who), p.ID, storetest.Record(t, p.ID, `{"data_type":"pain_scores","value":7,"notes":"`+note+`"}`)); err != nil {
		t.Fatal(err)
	}
	path, _ := write(t, source, testKey(t, words))
	content := read(t, path)
	for _, private := range []string{p.Name, note, p.Contact.Email, p.Contact.Phone, "patient", "org_no", string(source.System().KeyFiles()["audit.key"])} {
		if bytes.Contains(content, []byte(private)) {
			t.Errorf("%q is in the backup", private)
		}
	}
}

// Whatever is changed in a file, cut off, added or exchanged: it is refused,
// and the database is not touched.
func TestChangedBackupIsRefused(t *testing.T) {
	for _, text := range []string{hexKey, ""} {
		source := storetest.Open(t, storetest.SQLite)
		fill(t, source, 2000) // several chunks
		var key *seal.Key
		if text != "" {
			key = testKey(t, text)
		}
		path, keys := write(t, source, key)
		whole := read(t, path)
		const header = 49
		chunk := 64<<10 + 16
		if key == nil {
			chunk += 16
		}
		if len(whole) < header+3*chunk {
			t.Fatalf("only %d bytes; there must be several chunks", len(whole))
		}
		refused := func(what string, content []byte) {
			t.Helper()
			bad := filepath.Join(t.TempDir(), "bad")
			if err := os.WriteFile(bad, content, 0o600); err != nil {
				t.Fatal(err)
			}
			cfg := target(t, storetest.SQLite)
			_, err := backup.Restore(t.Context(), cfg, keys, bad, quiet, nil)
			if err == nil {
				t.Errorf("%s: it was restored", what)
			}
			if _, err := os.Stat(strings.TrimPrefix(cfg.Database, "sqlite:")); err == nil {
				t.Errorf("%s: the database was touched", what)
			}
		}
		for _, at := range []int{0, 14, 15, 16, 20, 40, header, header + 5000, header + chunk - 1, header + chunk, len(whole) / 2, len(whole) - 1} {
			changed := bytes.Clone(whole)
			changed[at] ^= 1
			refused(fmt.Sprintf("byte %d changed", at), changed)
		}
		for _, length := range []int{0, 10, header, header + 1, header + chunk - 1, header + chunk, header + 2*chunk, len(whole) - 1} {
			refused(fmt.Sprintf("cut to %d", length), whole[:length])
		}
		refused("something added", append(bytes.Clone(whole), 0))
		one, two := whole[header:header+chunk], whole[header+chunk:header+2*chunk]
		refused("chunks exchanged", bytes.Join([][]byte{whole[:header], two, one, whole[header+2*chunk:]}, nil))
		refused("a chunk left out", bytes.Join([][]byte{whole[:header], two, whole[header+2*chunk:]}, nil))
		refused("a chunk twice", bytes.Join([][]byte{whole[:header], one, one, whole[header+chunk:]}, nil))
	}
}

func TestBackupKeysThatDoNotFit(t *testing.T) {
	source := storetest.Open(t, storetest.SQLite)
	fill(t, source, 1)
	inHex, _ := write(t, source, testKey(t, hexKey))
	inWords, _ := write(t, source, testKey(t, words))
	plain, right := write(t, source, nil)
	other := strings.Replace(hexKey, "8f", "8e", 1)
	for _, c := range []struct {
		path string
		keys backup.Keys
		want string
	}{
		{inHex, backup.Keys{Database: testKey(t, other)}, "wrong key"},
		{inHex, backup.Keys{Database: testKey(t, words)}, "wrong key"},
		{inWords, backup.Keys{Database: testKey(t, hexKey)}, "wrong key"},
		{inWords, backup.Keys{Database: testKey(t, words+"s")}, "wrong key"},
		{inHex, right, "the backup is encrypted; give its key"},
		{plain, backup.Keys{}, "put that audit.key into the data directory first"},
		{plain, backup.Keys{Audit: make([]byte, 32)}, "wrong audit key"},
	} {
		if _, err := backup.Verify(t.Context(), c.path, c.keys, quiet); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	if _, err := backup.Verify(t.Context(), inWords, backup.Keys{Database: testKey(t, words)}, quiet); err != nil {
		t.Error(err)
	}
}

func TestRestoreRefusesADatabaseInUse(t *testing.T) {
	source := storetest.Open(t, storetest.SQLite)
	fill(t, source, 1)
	path, keys := write(t, source, testKey(t, hexKey))
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		s := storetest.Start(t, cfg)
		storetest.Client(t, s, "Theirs")
		before := sums(t, s)
		if _, err := backup.Restore(t.Context(), target(t, storetest.SQLite), keys, path, quiet, nil); err != nil {
			t.Fatal(err)
		}
		cfg.DataDir = filepath.Join(t.TempDir(), "fresh")
		if _, err := backup.Restore(t.Context(), cfg, keys, path, quiet, nil); err == nil || !strings.Contains(err.Error(), "is not empty") {
			t.Errorf("got %v", err)
		}
		if after := sums(t, s); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Error("the database was changed")
		}
		cfg.DataDir = storetest.Node(t, cfg).DataDir
		if err := os.WriteFile(filepath.Join(cfg.DataDir, "audit.key"), []byte(hexKey), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := backup.Restore(t.Context(), cfg, keys, path, quiet, nil); err == nil || !strings.Contains(err.Error(), "belongs to another database") {
			t.Errorf("got %v", err)
		}
	})
}

// An interrupted restore leaves a database that cannot be opened until a
// restore completes.
func TestRestoreBrokenOff(t *testing.T) {
	source := storetest.Open(t, storetest.SQLite)
	who := fill(t, source, 1500)
	want := sums(t, source)
	path, keys := write(t, source, testKey(t, hexKey))
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			cfg := target(t, engine)
			brokenOff(t, source, cfg, keys, path)
			if _, err := backup.Restore(t.Context(), cfg, keys, path, quiet, nil); err != nil {
				t.Fatal(err)
			}
			restored := storetest.Start(t, cfg)
			if got := sums(t, restored); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("got %v, want %v", got, want)
			}
			lives(t, restored, who)
		})
	}
}

// brokenOff interrupts a restore of a backup of source, while it fills the
// database and after that.
func brokenOff(t *testing.T, source *store.Store, cfg store.Config, keys backup.Keys, path string) {
	t.Helper()
	refused := func() {
		t.Helper()
		_, openErr := store.Open(t.Context(), cfg)
		_, migrateErr := store.Migrate(t.Context(), cfg)
		for _, err := range []error{openErr, migrateErr} {
			if err == nil || !strings.Contains(err.Error(), "run anodyne restore again") {
				t.Errorf("got %v", err)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := backup.Restore(ctx, cfg, keys, path, func(step string, done, _ int64) {
		if step == "restoring" && done > 2500 {
			cancel()
		}
	}, nil)
	if err == nil {
		t.Fatal("it was not broken off")
	}
	if err := store.WriteKeyFiles(cfg.DataDir, source.System().KeyFiles()); err != nil {
		t.Fatal(err)
	}
	refused()
	if _, err := backup.Restore(t.Context(), cfg, keys, path, quiet, func(store.System, backup.Summary) error {
		refused()
		return errors.New("the last step failed")
	}); err == nil || err.Error() != "the last step failed" {
		t.Errorf("%v, want that of the last step", err)
	}
	refused()
}

func TestBackupOntoAFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=128k"); err != nil {
		testneed.Skip(t, "this user may not mount a file system: "+err.Error())
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	source := storetest.Open(t, storetest.SQLite)
	fill(t, source, 2000)
	keys := backup.Keys{Database: testKey(t, hexKey)}
	_, err := backup.Write(t.Context(), source.System(), keys, filepath.Join(dir, "backup"), "test", made, quiet)
	if err == nil || !strings.Contains(err.Error(), "the disk is full; the incomplete backup was removed") {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("%v is left, %v", left, err)
	}
}

func TestBackupNeverOverwrites(t *testing.T) {
	cfg := storetest.Database(t, storetest.SQLite)
	s := storetest.Start(t, cfg)
	path := strings.TrimPrefix(cfg.Database, "sqlite:")
	before := read(t, path)
	_, err := backup.Write(t.Context(), s.System(), backup.Keys{Audit: make([]byte, 32)}, path, "test", made, quiet)
	if err == nil || !strings.Contains(err.Error(), "already exists") || !bytes.Equal(before, read(t, path)) {
		t.Errorf("got %v", err)
	}
}

// A partial file that is readable by others does not make the backup so.
func TestBackupIsPrivate(t *testing.T) {
	s := storetest.Open(t, storetest.SQLite)
	path := filepath.Join(t.TempDir(), "backup")
	if err := os.WriteFile(path+".partial", []byte("left"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path+".partial", 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Write(t.Context(), s.System(), backup.Keys{Audit: make([]byte, 32)}, path, "test", made, quiet); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}
