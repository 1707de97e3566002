package engine

import (
	"context"
	"errors"
	"strings"
	"time"
)

// Rewrite removes deleted rows from the files of the database. On SQLite it
// rewrites the whole file, with which writes wait, and empties the write-ahead
// log. On PostgreSQL it vacuums the tables. It fails if a reader still needs an
// older state; try again later.
func (db *DB) Rewrite(ctx context.Context, tables ...string) error {
	return db.engine.rewriteTables(ctx, tables)
}

// errReaders is returned if the log cannot be emptied yet.
var errReaders = errors.New("readers still need an older state of the database")

// The log is emptied before the rewrite too, so that as long as somebody reads,
// the file is not rewritten in vain.
func (e *sqliteEngine) rewriteTables(ctx context.Context, _ []string) error {
	return e.writer.aside(ctx, func(w *sqliteConn) error {
		if err := w.emptyLog(); err != nil {
			return err
		}
		if err := w.Exec("VACUUM"); err != nil {
			return err
		}
		return w.emptyLog()
	})
}

func (c *sqliteConn) emptyLog() error {
	err := c.BusyTimeout(time.Second)
	if err == nil {
		var all bool
		if all, err = c.checkpoint("TRUNCATE"); err == nil && !all {
			err = errReaders
		}
	}
	return errors.Join(err, c.BusyTimeout(busyTimeout))
}

func (e *postgresEngine) rewriteTables(ctx context.Context, tables []string) (err error) {
	conn, err := e.acquire(ctx)
	if err != nil {
		return err
	}
	defer e.release(ctx, conn)
	ctx, end, err := e.watch.begin(ctx, reach{all: true}) // it has no timeout
	if err != nil {
		return err
	}
	defer func() { err = end(err) }()
	if _, err := conn.Exec(ctx, `SET statement_timeout = 0`); err != nil {
		return e.failed(ctx, err)
	}
	_, err = conn.Exec(ctx, `VACUUM `+strings.Join(tables, ", "))
	_, reset := conn.Exec(ctx, `RESET statement_timeout`)
	return e.failed(ctx, errors.Join(err, reset))
}
