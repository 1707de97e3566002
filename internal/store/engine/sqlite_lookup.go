package engine

import "context"

// SQLite has no round trips, and its writer combines writes.

func (e *sqliteEngine) lookup(ctx context.Context, sql string, each func(Row) error, args ...any) error {
	return e.read(ctx, func(tx Tx) error { return tx.Query(sql, each, args...) })
}

func (e *sqliteEngine) writeTogether(ctx context.Context, _ int64, fn func(Tx) error) error {
	return e.write(ctx, fn)
}

func (e *sqliteEngine) hurried(ctx context.Context, sql string, each func(Row) error, args ...any) error {
	return e.write(ctx, func(tx Tx) error { return tx.Query(sql, each, args...) })
}
