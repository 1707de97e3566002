package engine

import (
	"context"
	"errors"
)

// SQLite has no round trips, and its writer combines writes.

func (e *sqliteEngine) lookup(ctx context.Context, sql string, each func(Row) error, args ...any) error {
	return e.readWithin(ctx, readerTime, func(tx Tx) error { return tx.Query(sql, each, args...) })
}

func (e *sqliteEngine) tally(_ context.Context, _ string, _ []int64, tell func(Row, error)) {
	tell(nil, errors.ErrUnsupported)
}

func (e *sqliteEngine) startTallies() {}
