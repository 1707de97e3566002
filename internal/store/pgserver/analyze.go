package pgserver

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// Analyze updates the planner's statistics of a database at once. PostgreSQL
// does so by itself about a minute after many changes.
func Analyze(ctx context.Context, dsn string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "ANALYZE")
	return errors.Join(err, conn.Close(ctx))
}
