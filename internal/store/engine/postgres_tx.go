package engine

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// postgresTx is a Tx on one connection.
type postgresTx struct {
	e    *postgresEngine
	ctx  context.Context
	conn *pgx.Conn
	// begin is the statement that begins the transaction, or "" if it has been
	// sent or is not needed.
	begin string
	last  []Stmt
	// reach is the organisations of what was sent, on a Citus cluster.
	reach reach
}

// begun reports whether the transaction has begun on the server.
func (t *postgresTx) begun() bool { return t.begin == "" }

func (t *postgresTx) Exec(sql string, args ...any) (int64, error) {
	if !t.begun() {
		return t.send(Stmt{SQL: sql, Args: args})
	}
	ctx, end, err := t.limited(Stmt{SQL: sql, Args: args})
	if err != nil {
		return 0, err
	}
	tag, err := t.conn.Exec(ctx, t.e.rewrite(sql), args...)
	return tag.RowsAffected(), end(err)
}

func (t *postgresTx) Query(sql string, each func(Row) error, args ...any) (err error) {
	if !t.begun() {
		_, err := t.send(Stmt{SQL: sql, Args: args, Each: each})
		return err
	}
	ctx, end, err := t.limited(Stmt{SQL: sql, Args: args})
	if err != nil {
		return err
	}
	defer func() { err = end(err) }()
	rows, err := t.conn.Query(ctx, t.e.rewrite(sql), args...)
	if err != nil {
		return err
	}
	return walk(rows, each)
}

func (t *postgresTx) Many(stmts ...Stmt) error {
	_, err := t.send(stmts...)
	return err
}

// send sends statements in one message, preceded by the one that begins the
// transaction if it has not been sent yet. It returns the number of rows that
// the last one changed.
func (t *postgresTx) send(stmts ...Stmt) (changed int64, err error) {
	ctx, end, err := t.limited(stmts...)
	if err != nil {
		return 0, err
	}
	batch := &pgx.Batch{}
	stmts = t.e.combined(stmts)
	if !t.begun() {
		stmts = slices.Insert(stmts, 0, Stmt{SQL: t.begin})
		t.begin = ""
	}
	for _, s := range stmts {
		batch.Queue(t.e.rewrite(s.SQL), s.Args...)
	}
	answers := t.conn.SendBatch(ctx, batch)
	defer func() { err = end(cmp.Or(err, answers.Close())) }() // usually the same error again
	for _, s := range stmts {
		if s.Each == nil {
			var tag pgconn.CommandTag
			tag, err = answers.Exec()
			if changed = tag.RowsAffected(); err == nil && s.Changed != nil {
				s.Changed(changed)
			}
		} else {
			var rows pgx.Rows
			if rows, err = answers.Query(); err == nil {
				err = walk(rows, s.Each)
			}
		}
		if err != nil {
			return changed, err
		}
	}
	return changed, nil
}

func (t *postgresTx) Last(stmts ...Stmt) { t.last = append(t.last, stmts...) }

func walk(rows pgx.Rows, each func(Row) error) error {
	defer rows.Close()
	for rows.Next() {
		if each == nil {
			continue
		}
		if err := each(postgresRow(rows.RawValues())); err != nil {
			return err
		}
	}
	return rows.Err()
}

// postgresRow reads values as received. Statements are always described first,
// so integers are in binary format.
type postgresRow [][]byte

func (r postgresRow) Int(i int) int64 {
	switch v := r[i]; len(v) {
	case 8:
		return int64(binary.BigEndian.Uint64(v))
	case 4:
		return int64(int32(binary.BigEndian.Uint32(v)))
	case 2:
		return int64(int16(binary.BigEndian.Uint16(v)))
	case 1:
		return int64(v[0])
	}
	return 0
}

func (r postgresRow) Text(i int) string { return string(r[i]) }
func (r postgresRow) Raw(i int) []byte  { return r[i] }
func (r postgresRow) IsNull(i int) bool { return r[i] == nil }
