package engine_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/storetest"
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
