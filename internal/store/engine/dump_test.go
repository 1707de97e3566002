package engine_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/storetest/pgcluster"
)

// tablesSQL selects the names of all tables.
var tablesSQL = map[string]string{
	storetest.SQLite:   `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'`,
	storetest.Postgres: `SELECT CAST(relname AS TEXT) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
}

// left lists the tables that are not in a backup, with the reason.
var left = map[string]string{
	"schema_version":  "a restore makes it",
	"journal_pending": "its entries are dumped as entries of the journal",
}

func TestBackupKnowsEveryTable(t *testing.T) {
	var lists [][]engine.Table
	for _, kind := range storetest.Engines {
		s := storetest.Open(t, kind)
		var dumped []engine.Table
		if err := s.System().Dump(t.Context(), func(d *engine.Dump) error {
			dumped = d.Tables
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for _, name := range storetest.Texts(t, s, 1, tablesSQL[kind]) {
			known := slices.ContainsFunc(dumped, func(t engine.Table) bool { return t.Name == name })
			if known == (left[name] != "") {
				t.Errorf("%s: table %s is in a backup: %t", kind, name, known)
			}
		}
		for i := range dumped {
			dumped[i].Rows = 0 // settings differ
		}
		lists = append(lists, dumped)
		before := map[string]bool{}
		for _, table := range dumped {
			for _, row := range storetest.Texts(t, s, 3, schemaSQL["reference"][kind]) {
				if words := strings.Fields(row); words[0] == table.Name && !before[words[2]] {
					t.Errorf("%s: %s comes before %s, which it refers to", kind, words[0], words[2])
				}
			}
			before[table.Name] = true
		}
	}
	for _, other := range lists[1:] {
		if !slices.EqualFunc(lists[0], other, func(a, b engine.Table) bool {
			return a.Name == b.Name && slices.Equal(a.Columns, b.Columns) && slices.Equal(a.Key, b.Key)
		}) {
			t.Errorf("the engines list their tables differently:\n%v\n%v", lists[0], other)
		}
	}
}

// A backup of an older schema is restored with that schema, and then migrated.
func TestLoadingAnOlderSchema(t *testing.T) {
	tables := []engine.Table{{Name: "org", Key: []string{"org_no"}, Columns: []engine.Column{{Name: "org_no", Type: engine.Integer}}}}
	for _, kind := range storetest.Engines {
		t.Run(kind, func(t *testing.T) {
			cfg := empty(t, kind)
			cfg.Restore = "of a test"
			l, err := engine.StartLoading(t.Context(), cfg.Engine(), 1, tables)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(l.Finish(t.Context(), nil, nil, nil), l.EndRestore(t.Context()), l.Close()); err != nil {
				t.Error(err)
			}
			taken := storetest.Must[[]engine.Migration](t)(store.Migrate(t.Context(), cfg))
			if int64(len(taken)) != engine.SchemaVersion()-1 {
				t.Errorf("%d steps after the first, want %d", len(taken), engine.SchemaVersion()-1)
			}
			if _, err := engine.StartLoading(t.Context(), cfg.Engine(), engine.SchemaVersion()+1, tables); err == nil || !strings.Contains(err.Error(), "restore it with a newer anodyne") {
				t.Errorf("a newer schema: %v", err)
			}
			if _, err := engine.StartLoading(t.Context(), cfg.Engine(), 1, tables); err == nil || !strings.Contains(err.Error(), "restore into a new database") {
				t.Errorf("a target at another schema: %v", err)
			}
			tables := []engine.Table{{Name: "org; DROP TABLE org", Key: []string{"org_no"}}}
			if _, err := engine.StartLoading(t.Context(), cfg.Engine(), engine.SchemaVersion(), tables); err == nil {
				t.Error("a name that is none was taken")
			}
		})
	}
}

// A restore of an older backup that ends after the migration starts over, and
// leaves the schema of a new database.
func TestLoadingAnOlderSchemaAgain(t *testing.T) {
	const older = 20 // distributed tables cannot be migrated from much older ones
	tables := []engine.Table{{Name: "org", Key: []string{"org_no"}, Columns: []engine.Column{{Name: "org_no", Type: engine.Integer}}}}
	for _, kind := range storetest.Engines {
		t.Run(kind, func(t *testing.T) {
			cfg := empty(t, kind)
			load := func(restore string, schema int64) store.Config {
				t.Helper()
				cfg := cfg
				cfg.Restore = restore
				l, err := engine.StartLoading(t.Context(), cfg.Engine(), schema, tables)
				if err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(l.Finish(t.Context(), nil, nil, nil), l.Close()); err != nil {
					t.Fatal(err)
				}
				storetest.Must[[]engine.Migration](t)(store.Migrate(t.Context(), cfg))
				return cfg
			}
			first := load("first", older)
			if pgcluster.Distributed() {
				if _, _, err := store.Distribute(t.Context(), first); err != nil {
					t.Fatal(err)
				}
			}
			s := storetest.Must[*store.Store](t)(store.Open(t.Context(), first))
			who := storetest.Client(t, s, "North")
			storetest.AddPatient(t, s.For(&who), "Arlo Finch")
			if err := s.Close(); err != nil { // it does not end the restore
				t.Fatal(err)
			}
			load("second", older)
			s = storetest.Start(t, load("third", engine.SchemaVersion()))
			if err := s.System().EndRestore(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := storetest.Number(t, s, `SELECT count(*) FROM patient`) + storetest.Number(t, s, `SELECT count(*) FROM org`); n != 0 {
				t.Errorf("%d rows of the first restore are left", n)
			}
			fresh := storetest.Open(t, kind)
			for what, sql := range schemaSQL {
				got, want := storetest.Texts(t, s, schemaColumns[what], sql[kind]), storetest.Texts(t, fresh, schemaColumns[what], sql[kind])
				if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
					t.Errorf("%s: got %q, want %q", what, got, want)
				}
			}
		})
	}
}

// A restore that was killed after it wrote audit entries can be started over.
func TestLoadingOverPendingEntries(t *testing.T) {
	cfg := empty(t, storetest.Postgres)
	cfg.Restore = "of a test"
	for range 2 {
		l, err := engine.StartLoading(t.Context(), cfg.Engine(), engine.SchemaVersion(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(l.Write(t.Context(), func(tx engine.Tx) error {
			_, err := tx.Exec(`INSERT INTO journal_pending (org_no, at, audit, packed) VALUES (1, 1, $1, 1)`, []byte("restored"))
			return err
		}), l.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// The database of an interrupted restore stays marked while a restore of an older
// backup replaces its tables.
func TestKilledWhileReplacingTables(t *testing.T) {
	cfg := empty(t, storetest.SQLite)
	start := func(ctx context.Context, schema int64, observe engine.Observe) error {
		cfg := cfg
		cfg.Restore, cfg.Observe = "of a test", observe
		l, err := engine.StartLoading(ctx, cfg.Engine(), schema, []engine.Table{{Name: "org", Key: []string{"org_no"}, Columns: []engine.Column{{Name: "org_no", Type: engine.Integer}}}})
		if err == nil {
			err = l.Close()
		}
		return err
	}
	if err := start(t.Context(), engine.SchemaVersion(), nil); err != nil {
		t.Fatal(err)
	}
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	created := false
	if err := start(ctx, 20, func(_ context.Context, sql ...string) {
		if created = created || strings.Contains(sql[0], "CREATE TABLE setting"); created {
			kill() // the transaction in progress is completed
		}
	}); !errors.Is(err, context.Canceled) || !created {
		t.Fatalf("%v, tables replaced: %v", err, created)
	}
	if _, err := store.Migrate(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "run anodyne restore again") {
		t.Errorf("%v, want that the restore was interrupted", err)
	}
	if err := start(t.Context(), 20, nil); err != nil {
		t.Errorf("starting over: %v", err)
	}
}

// A restore runs no SQL of a backup, and a backup cannot pose as a restore.
func TestLoadingSettingsOfARestore(t *testing.T) {
	setting := engine.Table{Name: "setting", Key: []string{"name"}, Columns: []engine.Column{{Name: "name", Type: engine.Text}, {Name: "value", Type: engine.Bytes}}}
	sql := []byte(`["CREATE TABLE ran (n BIGINT)"]`)
	for _, kind := range storetest.Engines {
		t.Run(kind, func(t *testing.T) {
			cfg := empty(t, kind)
			cfg.Restore = "of a test"
			l, err := engine.StartLoading(t.Context(), cfg.Engine(), engine.SchemaVersion(), []engine.Table{setting})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := l.Close(); err != nil {
					t.Error(err)
				}
			}()
			for _, name := range []string{"restoring", "unindexed", engine.LifeSetting} {
				rows := [][]any{{"harmless " + name, sql}, {name, sql}}
				err := l.Load(t.Context(), setting, func() ([]any, int, error) {
					if len(rows) == 0 {
						return nil, 0, io.EOF
					}
					row := rows[0]
					rows = rows[1:]
					return row, len(sql), nil
				})
				if err == nil || !strings.Contains(err.Error(), "the setting "+name) {
					t.Errorf("%s: %v, want it refused", name, err)
				}
			}
			if kind == storetest.SQLite { // the setting is its own
				return
			}
			if err := l.Write(t.Context(), func(tx engine.Tx) error {
				_, err := tx.Exec(`INSERT INTO setting (name, value) VALUES ('unindexed', $1)`, sql)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			if err := l.Finish(t.Context(), nil, nil, nil); err != nil {
				t.Fatal(err)
			}
			if storetest.AskPostgres(t, cfg.Database, `SELECT to_regclass('ran') IS NOT NULL`) {
				t.Error("the SQL of the setting was run")
			}
		})
	}
}
