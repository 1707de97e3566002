package engine

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Loading is a restore in progress. The database is marked until
// [DB.EndRestore]; others cannot open a marked database, and the next restore
// empties it.
type Loading struct{ *DB }

// errHalf reports a database whose restore is not complete.
var errHalf = errors.New("a restore into this database is in progress or was interrupted; run anodyne restore again to start over")

// The bounds of one transaction of a restore. Nobody else uses the database, but
// what PostgreSQL gets in a transaction is in memory before it is sent.
const (
	loadRows      = 2000
	loadBytes     = 4 << 20
	bulkLoadRows  = 20_000
	bulkLoadBytes = 16 << 20
)

var identifier = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// StartLoading prepares a database for the tables of a backup: it migrates it
// to the schema of the backup, empties it and marks it with cfg.Restore.
func StartLoading(ctx context.Context, cfg Config, schema int64, list []Table) (*Loading, error) {
	if know := SchemaVersion(); schema > know {
		return nil, fmt.Errorf("the backup has schema version %d, but this program supports only up to %d: restore it with a newer anodyne", schema, know)
	}
	if err := checkNames(list); err != nil {
		return nil, err
	}
	if _, err := migrateTo(ctx, cfg, schema, func(tx Tx, d *Dialect, have int64) (int64, error) { return clearFor(tx, d, have, schema) }); err != nil {
		return nil, err
	}
	cfg.Registry = nil
	db, err := Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	l := &Loading{db}
	if err := errors.Join(l.prepare(ctx, schema), l.ExpectBulk(ctx)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// checkNames rejects invalid names, because they become part of SQL statements.
func checkNames(list []Table) error {
	for _, t := range list {
		names := append([]string{t.Name}, t.Key...)
		for _, c := range t.Columns {
			names = append(names, c.Name)
		}
		for _, name := range names {
			if !identifier.MatchString(name) {
				return fmt.Errorf("the backup has a table or column of the name %q", name)
			}
		}
		if len(t.Key) == 0 || len(t.Columns) == 0 {
			return fmt.Errorf("the backup has no columns for table %s", t.Name)
		}
	}
	return nil
}

// prepare verifies the target and marks it.
func (l *Loading) prepare(ctx context.Context, schema int64) error {
	return l.Write(l.untimed(ctx), func(tx Tx) error {
		have, err := schemaVersion(tx)
		if err != nil {
			return err
		}
		if err := startOver(tx, l.dialect()); err != nil {
			return err
		}
		if err := l.mustBeEmpty(tx); err != nil {
			return err
		}
		if have != schema {
			return fmt.Errorf("the database has schema version %d and the backup %d; restore into a new database", have, schema)
		}
		if err := mark(tx, l.restore); err != nil {
			return err
		}
		return l.dropIndexes(tx)
	})
}

func (l *Loading) mustBeEmpty(tx Tx) error {
	list, err := tables(tx, l.dialect())
	if err != nil {
		return err
	}
	for _, t := range list {
		found, err := One(tx, "SELECT 1 FROM "+l.dialect().source(t.Name)+" LIMIT 1", func(Row) {})
		if err != nil {
			return err
		}
		if found {
			return errors.New("the database is not empty; restore into a new one, then switch to it")
		}
	}
	return nil
}

// clearFor prepares what an interrupted restore left for the migration to the
// schema of a backup, and returns the version that the database then has. An
// older backup needs new tables, because migrations have no steps backward.
func clearFor(tx Tx, d *Dialect, have, schema int64) (int64, error) {
	begun, err := isMarked(tx)
	switch {
	case !begun || err != nil:
		return have, err
	case have > schema:
		return 0, dropTables(tx, d)
	case d.indexes != "": // the migration may need those that the restore has dropped
		return have, startOver(tx, d)
	}
	return have, nil
}

// mark marks the database as being restored.
func mark(tx Tx, restore string) error {
	_, err := tx.Exec(`INSERT INTO setting (name, value) VALUES ('restoring', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value`, []byte(restore))
	return err
}

// isMarked reports whether a restore has begun and not ended.
func isMarked(tx Tx) (bool, error) {
	return One(tx, `SELECT value FROM setting WHERE name = 'restoring'`, func(Row) {})
}

// dropTables drops all tables but that of the schema's versions, which it empties.
func dropTables(tx Tx, d *Dialect) error {
	list, err := tables(tx, d)
	if err != nil {
		return err
	}
	var sql []string
	for _, name := range notDumped {
		sql = append(sql, "DROP TABLE IF EXISTS "+name)
	}
	for _, t := range slices.Backward(list) { // before the tables it refers to
		sql = append(sql, "DROP TABLE "+t.Name)
	}
	return execAll(tx, append(sql, "DELETE FROM schema_version"))
}

// startOver deletes what an interrupted restore left. SQLite is fast at deleting
// all rows, and the mark of the restore stays; PostgreSQL has TRUNCATE.
func startOver(tx Tx, d *Dialect) error {
	if begun, err := isMarked(tx); !begun || err != nil {
		return err
	}
	list, err := tables(tx, d)
	if err != nil {
		return err
	}
	if d.truncates {
		names := slices.Clone(notDumped)
		for _, t := range list {
			names = append(names, t.Name)
		}
		_, err := tx.Exec("TRUNCATE " + strings.Join(names, ", "))
		return err
	}
	definitions, err := droppedIndexes(tx)
	if err != nil {
		return err
	}
	var sql []string
	for _, t := range slices.Backward(list) {
		if t.Name == "setting" {
			t.Name += " WHERE name <> 'restoring'"
		}
		sql = append(sql, "DELETE FROM "+t.Name)
	}
	return execAll(tx, append(sql, definitions...))
}

// Load inserts the rows of a table in transactions of bounded size. next
// returns each row with its size, and io.EOF after the last.
func (l *Loading) Load(ctx context.Context, t Table, next func() (row []any, size int, err error)) error {
	places, columns := make([]string, len(t.Columns)), make([]string, len(t.Columns))
	for i, c := range t.Columns {
		columns[i], places[i] = c.Name, "$"+strconv.Itoa(i+1)
	}
	sql := "INSERT INTO " + t.Name + " (" + strings.Join(columns, ", ") + ")" + l.dialect().withIdentity + " VALUES (" + strings.Join(places, ", ") + ")"
	insert := Stmt{SQL: sql}
	next = withoutOurs(t, next)
	if first := t.Columns[0]; first.Name == "org_no" && first.Type == Integer && t.Key[0] == "org_no" { // rows of an organisation follow each other
		insert.Alike = 1
	}
	parts := make(chan []Stmt, 1)
	read := make(chan error, 1)
	reading, stop := context.WithCancel(ctx)
	go func() { // the next slice is read while the last one is written
		defer close(parts)
		read <- l.slices(reading, insert, next, parts)
	}()
	var err error
	for slice := range parts {
		if err = l.Write(l.untimed(ctx), func(tx Tx) error { return tx.Many(slice...) }); err != nil {
			err = fmt.Errorf("table %s: %w", t.Name, err)
			break
		}
	}
	stop()
	for range parts { // the reader may be blocked on one
	}
	return cmp.Or(err, <-read)
}

// untimed lifts the time limit of a transaction on SQLite, where a busy machine
// alone may exceed it. On PostgreSQL, the limit shows that a server does not
// respond.
func (l *Loading) untimed(ctx context.Context) context.Context {
	if l.Shared() {
		return ctx
	}
	return unhurried(ctx)
}

// withoutOurs returns next with an error for settings that a restore keeps for
// itself. A backup has none of them.
func withoutOurs(t Table, next func() (row []any, size int, err error)) func() ([]any, int, error) {
	name := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == "name" })
	if t.Name != "setting" || name < 0 {
		return next
	}
	return func() ([]any, int, error) {
		row, size, err := next()
		if err == nil && slices.Contains(notRestored, fmt.Sprintf("%s", row[name])) {
			err = fmt.Errorf("the backup has the setting %s, which a backup must not have", row[name])
		}
		return row, size, err
	}
}

// slices sends the rows that next returns in slices of bounded size, as copies of
// a statement with their values.
func (l *Loading) slices(ctx context.Context, insert Stmt, next func() (row []any, size int, err error), to chan<- []Stmt) error {
	mostRows, mostBytes := bulkLoadRows, bulkLoadBytes
	if l.Shared() {
		mostRows, mostBytes = loadRows, loadBytes
	}
	for ended := false; !ended; {
		var slice []Stmt
		for size := 0; len(slice) < mostRows && size < mostBytes; {
			row, n, err := next()
			if errors.Is(err, io.EOF) {
				ended = true
				break
			}
			if err != nil {
				return err
			}
			one := Stmt{SQL: insert.SQL, Args: row, Alike: insert.Alike}
			if row[0] == nil { // the database will refuse it
				one.Alike = 0
			}
			slice, size = append(slice, one), size+n
		}
		if len(slice) == 0 {
			return nil
		}
		select {
		case to <- slice:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Finish creates the indexes, verifies the database against the sums of the backup,
// and advances the identity columns past the restored rows.
func (l *Loading) Finish(ctx context.Context, list []Table, want []Sum, seen func()) error {
	indexed := make(chan error, 1)
	go func() { indexed <- l.Write(unhurried(ctx), l.createIndexes) }()
	err := l.compare(ctx, list, want, seen)
	if err = errors.Join(err, <-indexed); err != nil {
		return err
	}
	life := newLife()
	return l.Write(ctx, func(tx Tx) error {
		if err := l.renumber(tx); err != nil {
			return err
		}
		_, err := tx.Exec(`INSERT INTO setting (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`, LifeSetting, life)
		return err
	})
}

// compare compares the tables with the sums of the backup.
func (l *Loading) compare(ctx context.Context, list []Table, want []Sum, seen func()) error {
	return l.LongSnapshot(ctx, func(tx Tx) error {
		c, err := l.contentsOf(tx)
		if err != nil {
			return err
		}
		for i, t := range list {
			got, err := c.sum(t, seen)
			if err != nil {
				return err
			}
			if got.Rows != want[i].Rows || !bytes.Equal(got.SHA256, want[i].SHA256) {
				return fmt.Errorf("table %s: the restored data (%d rows) does not match the backup (%d rows)", t.Name, got.Rows, want[i].Rows)
			}
		}
		return nil
	})
}

// EndRestore removes the mark of a restore. From then on, anyone can open the
// database.
func (db *DB) EndRestore(ctx context.Context) error {
	return db.Write(ctx, func(tx Tx) error {
		gone, err := tx.Exec(`DELETE FROM setting WHERE name = 'restoring' AND value = $1`, []byte(db.restore))
		if err == nil && gone != 1 {
			err = errors.New("another restore into the same database has started")
		}
		return err
	})
}

// LifeSetting is the setting with a random number, in eight bytes, that every
// restore replaces: places in the journal that were given before mean nothing
// afterwards. A database that was never restored has none.
const LifeSetting = "life"

// newLife returns a number for the life of a database, which fits into a cursor.
func newLife() []byte {
	b := make([]byte, 8)
	rand.Read(b)
	b[0] &= 0x1f
	b[7] |= 1 // not zero
	return b
}

// renumber advances the identity columns past the restored rows. SQLite does so
// by itself.
func (l *Loading) renumber(tx Tx) error {
	if l.dialect().identities == "" {
		return nil
	}
	var set []string
	err := tx.Query(l.dialect().identities, func(r Row) error {
		table, column := r.Text(0), r.Text(1)
		set = append(set, "SELECT setval(pg_get_serial_sequence('"+table+"', '"+column+"'), coalesce(max("+column+"), 0) + 1, false) FROM "+table)
		return nil
	})
	for _, sql := range set {
		if err == nil {
			err = tx.Query(sql, nil)
		}
	}
	return err
}
