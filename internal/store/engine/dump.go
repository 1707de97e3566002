package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"slices"
)

// Table describes a table in a backup, independently of the engine.
type Table struct {
	Name    string   `json:"name"`
	Columns []Column `json:"columns"`
	// Key lists the columns that order the rows.
	Key  []string `json:"key"`
	Rows int64    `json:"rows"`
}

// Column describes a column.
type Column struct {
	Name string     `json:"name"`
	Type ColumnType `json:"type"`
}

// ColumnType is the type of the values of a column.
type ColumnType string

// The types that a schema may use.
const (
	Integer ColumnType = "integer"
	Text    ColumnType = "text"
	Bytes   ColumnType = "bytes"
)

var columnTypes = map[string]ColumnType{"integer": Integer, "bigint": Integer, "text": Text, "blob": Bytes, "bytea": Bytes}

// notDumped lists tables whose content is dumped as part of another table:
// pending journal entries are dumped as sequenced ones.
var notDumped = []string{"journal_pending"}

// Dump is a consistent snapshot of all tables.
type Dump struct {
	Schema int64
	Tables []Table // each after the tables it refers to
	*contents
}

// Dump calls fn with a snapshot of the database. Concurrent writes are not part
// of it and are not blocked, except for milliseconds at the beginning if the
// tables are distributed.
func (db *DB) Dump(ctx context.Context, fn func(*Dump) error) error {
	return db.LongSnapshot(ctx, func(tx Tx) error {
		c, err := db.contentsBesideWriters(ctx, tx)
		if err != nil {
			return err
		}
		d := &Dump{contents: c}
		if d.Schema, err = schemaVersion(tx); err != nil {
			return err
		}
		if d.Tables, err = tables(tx, c.d); err != nil {
			return err
		}
		for i, t := range d.Tables {
			if d.Tables[i].Rows, err = c.count(t); err != nil {
				return err
			}
		}
		if err := fn(d); err != nil {
			return err
		}
		return db.stayed(ctx, c)
	})
}

// LongSnapshot is [DB.Snapshot] without the time limits of requests, for
// backups and exports. On SQLite, the log cannot shrink until it ends.
func (db *DB) LongSnapshot(ctx context.Context, fn func(Tx) error) error {
	return db.Snapshot(unhurried(ctx), func(tx Tx) error {
		for _, sql := range db.dialect().takeTime {
			if _, err := tx.Exec(sql); err != nil {
				return err
			}
		}
		return fn(tx)
	})
}

// source returns the expression that the rows of a table are selected from.
func (d *Dialect) source(table string) string {
	if from, ok := d.dumped[table]; ok {
		return "(" + from + ") AS " + table
	}
	return table
}

// Sum is the row count and checksum of a table.
type Sum struct {
	Rows   int64  `json:"rows"`
	SHA256 []byte `json:"sha256"`
}

// sum computes the Sum of a table.
func (c *contents) sum(t Table, seen func()) (sum Sum, err error) {
	hash, buf := sha256.New(), []byte(nil)
	err = c.Rows(t, func(r Row) error {
		buf = t.AppendRow(buf[:0], r)
		hash.Write(buf)
		sum.Rows++
		seen()
		return nil
	})
	sum.SHA256 = hash.Sum(nil)
	return sum, err
}

var createTable = regexp.MustCompile(`(?m)^CREATE TABLE (\w+)`)

// tables lists the tables created by the program's migrations, parents first.
// The columns are read from the database.
func tables(tx Tx, d *Dialect) ([]Table, error) {
	ours := map[string]bool{}
	for _, table := range created(d.name) {
		ours[table] = !slices.Contains(notDumped, table)
	}
	found := map[string]*Table{}
	var names []string
	err := tx.Query(d.columns, func(r Row) error {
		name, column, kind, key := r.Text(0), r.Text(1), r.Text(2), int(r.Int(3))
		if !ours[name] {
			return nil
		}
		if found[name] == nil {
			found[name] = &Table{Name: name}
			names = append(names, name)
		}
		t := found[name]
		if columnTypes[kind] == "" {
			return fmt.Errorf("table %s: backups do not support column %s of type %s", name, column, kind)
		}
		t.Columns = append(t.Columns, Column{column, columnTypes[kind]})
		if key > 0 {
			t.Key = append(t.Key, make([]string, max(0, key-len(t.Key)))...)
			t.Key[key-1] = column
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	parents := map[string][]string{}
	err = tx.Query(d.references, func(r Row) error {
		parents[r.Text(0)] = append(parents[r.Text(0)], r.Text(1))
		return nil
	})
	if err != nil {
		return nil, err
	}
	var ordered []Table
	placed := map[string]bool{}
	var place func(name string)
	place = func(name string) {
		if placed[name] || found[name] == nil {
			return
		}
		placed[name] = true
		for _, parent := range parents[name] {
			place(parent)
		}
		ordered = append(ordered, *found[name])
	}
	// A distributed table refers to tables on the coordinator without a foreign
	// key, and the backup may be restored where there are foreign keys.
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(places[b], places[a]) })
	for _, name := range names {
		place(name)
	}
	for _, t := range ordered {
		if len(t.Key) == 0 {
			return nil, fmt.Errorf("table %s has no primary key", t.Name)
		}
	}
	if len(ordered) == 0 {
		return nil, errors.New("there are no tables")
	}
	return ordered, nil
}
