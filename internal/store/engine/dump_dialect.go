package engine

import "strings"

// DumpDialect holds the parts of SQL for backups that differ between the
// engines.
type DumpDialect struct {
	// columns selects the columns of all tables: table, column, type, and the
	// position in the primary key, from 1.
	columns string
	// references selects the foreign keys between tables.
	references string
	// identities selects the identity columns whose sequence must be advanced
	// after a restore. It is empty if there are none.
	identities string
	// withIdentity allows an INSERT to set an identity column.
	withIdentity string
	// truncates reports whether the engine has TRUNCATE.
	truncates bool
	// Binary is the collation that orders text bytewise.
	Binary string
	// dumped maps tables to the query that their rows are read from instead.
	dumped map[string]string
	// indexes selects the names and definitions of the indexes that a restore
	// creates after it has stored the rows. It is empty where that is no faster.
	indexes string
	// takeTime lifts the limits set for requests.
	takeTime []string
}

// notRestored lists the settings that are in no backup: the mark of a restore in
// progress, the indexes that it has to create, and the number of the database's
// life, which ends with a restore.
var notRestored = []string{"restoring", "unindexed", LifeSetting}

var settingsDumped = `SELECT name, value FROM setting WHERE name NOT IN ('` + strings.Join(notRestored, "', '") + `')`

var sqliteDump = DumpDialect{
	columns: `SELECT t.name, c.name, lower(c.type), c.pk FROM sqlite_schema t JOIN pragma_table_info(t.name) c
		WHERE t.type = 'table' ORDER BY t.name, c.cid`,
	references: `SELECT t.name, f."table" FROM sqlite_schema t JOIN pragma_foreign_key_list(t.name) f WHERE t.type = 'table'`,
	Binary:     `BINARY`,
	dumped:     map[string]string{"setting": settingsDumped},
	indexes:    `SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name`,
}

var postgresDump = DumpDialect{
	columns: `SELECT CAST(c.relname AS TEXT), CAST(a.attname AS TEXT), format_type(a.atttypid, NULL), CAST(coalesce(k.place, 0) AS BIGINT)
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		LEFT JOIN (SELECT i.indrelid, u.attnum, u.place FROM pg_index i CROSS JOIN unnest(i.indkey) WITH ORDINALITY AS u (attnum, place)
			WHERE i.indisprimary) k ON k.indrelid = c.oid AND k.attnum = a.attnum
		WHERE c.relkind = 'r' AND c.relnamespace = to_regnamespace(current_schema()) ORDER BY c.relname, a.attnum`,
	references: `SELECT CAST(t.relname AS TEXT), CAST(r.relname AS TEXT) FROM pg_constraint f JOIN pg_class t ON t.oid = f.conrelid
		JOIN pg_class r ON r.oid = f.confrelid WHERE f.contype = 'f' AND t.relnamespace = to_regnamespace(current_schema())`,
	identities: `SELECT CAST(c.relname AS TEXT), CAST(a.attname AS TEXT) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
		WHERE a.attidentity <> '' AND c.relnamespace = to_regnamespace(current_schema())`,
	withIdentity: ` OVERRIDING SYSTEM VALUE`,
	truncates:    true,
	Binary:       `"C"`,
	// Committed entries without a position get the next positions here, in the
	// order in which the sequencer would assign them.
	dumped: map[string]string{
		"setting": settingsDumped,
		"journal": `SELECT org_no, pos, at, subject, event_id, event_type, event_data, audit, packed FROM journal
			UNION ALL SELECT p.org_no, coalesce(h.pos, 0) + row_number() OVER (PARTITION BY p.org_no ORDER BY p.seq),
			p.at, p.subject, p.event_id, p.event_type, p.event_data, p.audit, p.packed
			FROM journal_pending p LEFT JOIN journal_head h ON h.org_no = p.org_no`,
		"journal_head": `SELECT org_no, CAST(sum(n) AS BIGINT) AS pos FROM (SELECT org_no, pos AS n FROM journal_head
			UNION ALL SELECT org_no, 1 FROM journal_pending) AS heads GROUP BY org_no`,
	},
	takeTime: []string{`SET LOCAL statement_timeout = 0`, `SET LOCAL idle_in_transaction_session_timeout = 0`,
		// In a Citus cluster, every connection to a worker has a snapshot of its
		// own. With one to each, that of an organisation is of one moment. Other
		// servers ignore the setting.
		`SET LOCAL citus.max_adaptive_executor_pool_size = 1`},
}
