package engine_test

import (
	"maps"
	"slices"
	"testing"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/storetest/pgcluster"
)

// schemaSQL describes a schema in the same terms on both engines: a table's
// columns with whether they may be NULL, its primary key, and its unique
// indexes. On SQLite, a single integer primary key is the rowid, which needs no
// NOT NULL.
var schemaSQL = map[string]map[string]string{
	"column": {
		storetest.SQLite: `SELECT t.name, c.name, CASE WHEN c."notnull" = 1 OR c.pk > 0 THEN 'not null' ELSE 'null' END,
			CASE c.type WHEN 'BLOB' THEN 'bytes' WHEN 'INTEGER' THEN 'integer' WHEN 'BIGINT' THEN 'integer' ELSE lower(c.type) END
			FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'`,
		storetest.Postgres: `SELECT table_name, column_name, CASE is_nullable WHEN 'NO' THEN 'not null' ELSE 'null' END,
			CASE data_type WHEN 'bytea' THEN 'bytes' WHEN 'bigint' THEN 'integer' ELSE data_type END
			FROM information_schema.columns WHERE table_schema = 'public'`,
	},
	"primary key": {
		storetest.SQLite: `SELECT t.name, c.name, CAST(c.pk AS TEXT)
			FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' AND c.pk > 0`,
		storetest.Postgres: `SELECT k.table_name, k.column_name, CAST(k.ordinal_position AS TEXT)
			FROM information_schema.table_constraints c JOIN information_schema.key_column_usage k USING (constraint_name, table_schema)
			WHERE c.table_schema = 'public' AND c.constraint_type = 'PRIMARY KEY'`,
	},
	"unique": {
		storetest.SQLite: `SELECT t.name, (SELECT group_concat(c.name, ',') FROM (SELECT name FROM pragma_index_info(i.name) ORDER BY seqno) c)
			FROM sqlite_schema t JOIN pragma_index_list(t.name) i WHERE t.type = 'table' AND i."unique" = 1 AND i.origin <> 'pk'`,
		storetest.Postgres: `SELECT t.relname, (SELECT string_agg(a.attname, ',' ORDER BY a.attnum) FROM pg_attribute a WHERE a.attrelid = i.indexrelid)
			FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
			WHERE i.indisunique AND NOT i.indisprimary AND t.relnamespace = 'public'::regnamespace`,
	},
	"reference": {
		storetest.SQLite: `SELECT t.name, f."from", f."table"
			FROM sqlite_schema t JOIN pragma_foreign_key_list(t.name) f WHERE t.type = 'table'`,
		storetest.Postgres: `SELECT t.relname, a.attname, r.relname FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid
			JOIN pg_class r ON r.oid = c.confrelid JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = c.conkey[1]
			WHERE c.contype = 'f'`,
	},
}

var schemaColumns = map[string]int{"column": 4, "primary key": 3, "unique": 2, "reference": 3}

func TestSchemasAreTheSame(t *testing.T) {
	if pgcluster.Distributed() {
		return // Citus has tables of its own, and no foreign keys to the coordinator
	}
	sqlite, postgres := storetest.Open(t, storetest.SQLite), storetest.Open(t, storetest.Postgres)
	for what, sql := range schemaSQL {
		list := func(s *store.Store) map[string]bool {
			rows := map[string]bool{}
			for _, row := range storetest.Texts(t, s, schemaColumns[what], sql[s.Engine()]) {
				rows[row] = true
			}
			return rows
		}
		a, b := list(sqlite), list(postgres)
		// Entries wait for their position on PostgreSQL only.
		maps.DeleteFunc(b, func(row string, _ bool) bool { return len(row) > 16 && row[:16] == "journal_pending " })
		if len(a) == 0 {
			t.Errorf("there is no %s at all", what)
		}
		for _, row := range slices.Sorted(maps.Keys(a)) {
			if !b[row] {
				t.Errorf("%s %q is on SQLite only", what, row)
			}
		}
		for _, row := range slices.Sorted(maps.Keys(b)) {
			if !a[row] {
				t.Errorf("%s %q is on PostgreSQL only", what, row)
			}
		}
	}
}

func TestCheckTables(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		s := open()
		storetest.SealedOrg(t, s)
		if problems, err := s.System().CheckTables(t.Context()); len(problems) != 0 || err != nil {
			t.Errorf("a sound database: %q, %v", problems, err)
		}
		who := storetest.Client(t, s, "identified")
		p := storetest.Patient("A")
		p.Identifiers = pain.NewIdentifiers(pain.Identifier{System: "mrn", Value: "1"}, pain.Identifier{System: "mrn", Value: "2"})
		if _, err := s.For(&who).CreatePatient(t.Context(), &p, storetest.Created(p), nil, idempotency.Outcome{}); err != nil {
			t.Fatal(err)
		}
		if problems, err := s.System().CheckTables(t.Context()); len(problems) != 0 || err != nil {
			t.Errorf("a patient with identifiers: %q, %v", problems, err)
		}
		storetest.Exec(t, s, `UPDATE patient_identifier SET value = '3' WHERE value = '2'`)
		if problems, err := s.System().CheckTables(t.Context()); len(problems) != 1 || err != nil {
			t.Errorf("a wrong identifier: %q, %v", problems, err)
		}
		storetest.Exec(t, s, `UPDATE patient_identifier SET value = '2' WHERE value = '3'`)
		storetest.Exec(t, s, `UPDATE org_counter SET patients = 11`)
		if problems, err := s.System().CheckTables(t.Context()); len(problems) != 2 || err != nil {
			t.Errorf("a wrong counter: %q, %v", problems, err)
		}
	})
}
