package engine

import "context"

// Get returns what a function reads, in a [DB.Read].
func Get[T any](ctx context.Context, db *DB, read func(Tx) (T, error)) (value T, err error) {
	err = db.Read(ctx, func(tx Tx) error {
		value, err = read(tx)
		return err
	})
	return value, err
}

// Find is [Get] for a value that may not exist.
func Find[T any](ctx context.Context, db *DB, read func(Tx) (T, bool, error)) (value T, found bool, err error) {
	err = db.Read(ctx, func(tx Tx) error {
		value, found, err = read(tx)
		return err
	})
	return value, found, err
}

// Listing is the rows of an organisation in a table, as pages in an order.
type Listing[T any] struct {
	Table, Columns, Order string
	Scan                  func(Row) (T, error)
}

// Page returns a page, counted from 1, of up to limit rows, and the total
// number of rows at the same moment.
func (l Listing[T]) Page(ctx context.Context, db *DB, org, page, limit int64) (list []T, total int64, err error) {
	err = db.Snapshot(ctx, func(tx Tx) error {
		list = nil
		tx.Last(
			Stmt{SQL: `SELECT count(*) FROM ` + l.Table + ` WHERE org_no = $1`, Args: []any{org}, Each: func(r Row) error {
				total = r.Int(0)
				return nil
			}},
			Stmt{SQL: `SELECT ` + l.Columns + ` FROM ` + l.Table + ` WHERE org_no = $1 ORDER BY ` + l.Order + ` LIMIT $2 OFFSET $3`, Args: []any{org, limit, (page - 1) * limit}, Each: func(r Row) error {
				one, err := l.Scan(r)
				list = append(list, one)
				return err
			}},
		)
		return nil
	})
	return list, total, err
}
