package engine

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// citusDialect is that of a PostgreSQL database whose tables are distributed
// over a Citus cluster.
var citusDialect = func() Dialect {
	d := postgresDialect
	d.Distributed = true
	return d
}()

// spreadTables returns the names of the tables that are distributed over a Citus
// cluster, or nil. A process learns them when it opens the database. If they are
// distributed later, its statements stay correct, but cost more.
func spreadTables(ctx context.Context, pool *pgxpool.Pool) (map[string]bool, error) {
	var citus bool
	if err := pool.QueryRow(ctx, `SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL`).Scan(&citus); err != nil || !citus {
		return nil, postgresError(err)
	}
	rows, err := pool.Query(ctx, placedTables)
	if err != nil {
		return nil, postgresError(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(names) == 0 {
		return nil, postgresError(err)
	}
	spread := make(map[string]bool, len(names))
	for _, name := range names {
		spread[name] = true
	}
	return spread, nil
}
