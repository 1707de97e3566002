package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"anodyne.example/anodyne/internal/fault"
)

// isRemote reports whether the coordinator of a Citus cluster returned the error
// of a worker, or could not reach one.
func isRemote(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return false
	}
	const protocolViolation = "08P01"
	return pg.Code[:2] == "08" && pg.Code != protocolViolation || lostWorker(pg) || onWorker(pg)
}

// onWorker reports whether an error occurred on a worker.
func onWorker(pg *pgconn.PgError) bool {
	return strings.Contains(pg.Where, "while executing command on ")
}

// lostWorker reports whether a worker was lost during a statement or a
// transaction. Citus often has no code for that, and may only pass on what libpq says.
func lostWorker(pg *pgconn.PgError) bool {
	const internalError = "XX000"
	begins := func(text string) bool { return strings.HasPrefix(pg.Message, text) }
	return pg.Code == internalError && (slices.ContainsFunc(lostByCitus, begins) || onWorker(pg) && slices.ContainsFunc(lostByLibpq, begins))
}

// lostByCitus and lostByLibpq are how messages about a lost worker begin. As no
// constraint is deferred, a commit fails on a worker only if that is lost.
var lostByCitus = []string{
	"failure on connection marked as essential",
	"could not commit transaction for shard",
	"could not connect to any active placements",
	"execution cannot recover from multiple connection failures",
}

var lostByLibpq = []string{
	"server closed the connection unexpectedly",
	"could not receive data from server",
	"could not send data to server",
	"no connection to the server",
	"connection not open",
	"SSL SYSCALL error",
	"SSL connection has been closed unexpectedly",
	"SSL error: ",
	"lost synchronization with server",
}

// told returns the error of a transaction or a round for its caller, and records
// what it shows about the database: a worker is unavailable, or writes fail.
func (e *postgresEngine) told(err error) error {
	told := postgresError(err)
	if isRemote(err) {
		e.noteRemote(err)
	} else {
		e.stuck.note(err, told)
	}
	return told
}

// noteRemote records that a worker is unavailable.
func (e *postgresEngine) noteRemote(err error) {
	if isRemote(err) && !IsLockTimeout(err) && fault.Is(postgresError(err), fault.Unavailable) { // not the fault of the statement
		e.remote.Store(time.Now().UnixNano())
		e.watch.suspected()
	}
}

func (e *postgresEngine) workerFailed() time.Time { return time.Unix(0, e.remote.Load()) }
func (e *sqliteEngine) workerFailed() time.Time   { return time.Time{} }

// WorkerFailed returns when a statement last failed because a worker of a Citus
// cluster was unavailable. It is long ago if none ever was.
func (db *DB) WorkerFailed() time.Time { return db.engine.workerFailed() }

// checkWorkers checks which workers respond. It uses a connection of its own: all
// of those in the pools may be waiting for a worker, or have a connection to it
// that does not respond.
func (e *postgresEngine) checkWorkers(ctx context.Context) (state workerState, err error) {
	conn, err := pgx.ConnectConfig(ctx, e.pool.Config().ConnConfig)
	if err != nil {
		return state, e.failed(ctx, err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	tx, away := e.tx(ctx, conn), map[int64]bool{}
	err = tx.Many(
		Stmt{SQL: `SET citus.max_cached_conns_per_worker = 0`},
		Stmt{SQL: `SET citus.node_connection_timeout = ` + fmt.Sprint(workerTime.Milliseconds())},
		Stmt{SQL: `SELECT CAST(groupid AS BIGINT), citus_check_connection_to_node(nodename, nodeport) FROM pg_dist_node
			WHERE groupid > 0 AND isactive AND noderole = 'primary'`, Each: func(r Row) error {
			if r.Int(1) == 1 {
				state.up++
			} else {
				state.down++
				away[r.Int(0)] = true
			}
			return nil
		}},
	)
	if err == nil && state.down > 0 {
		e.remote.Store(time.Now().UnixNano())
		state.silent = map[int64]bool{}
		err = tx.Query(citusParts, func(r Row) error {
			if away[r.Int(0)] {
				state.silent[r.Int(1)] = true
			}
			return nil
		})
	}
	return state, e.failed(ctx, err)
}

func (e *postgresEngine) workers(ctx context.Context) (state workerState, err error) {
	if e.watch == nil {
		return state, nil
	}
	return e.watch.now(ctx)
}

func (e *sqliteEngine) workers(context.Context) (state workerState, err error) { return state, nil }

// Workers returns how many workers of a Citus cluster respond to the
// coordinator, and how many do not. Both are 0 if the tables are not distributed.
func (db *DB) Workers(ctx context.Context) (up, down int, err error) {
	state, err := db.engine.workers(ctx)
	return state.up, state.down, err
}

// shardsTampered is Dialect.tampered for the shards on a worker.
const shardsTampered = `SELECT string_agg(found.what || ' on ' || c.relname, ', ') FROM pg_class c JOIN (
		SELECT tgrelid AS table_oid, 'a trigger named ' || tgname AS what FROM pg_trigger WHERE NOT tgisinternal
		UNION ALL SELECT ev_class, 'a rule named ' || rulename FROM pg_rewrite) AS found ON found.table_oid = c.oid
	WHERE c.relname ~ '^(journal|journal_pending|journal_head|journal_seal)_[0-9]+$'`

// Tampered calls found with a description of each trigger, rule or view that could
// alter the audit log unnoticed, on all servers.
func (db *DB) Tampered(tx Tx, found func(what string)) error {
	stmts := []Stmt{{SQL: db.dialect().tampered, Each: func(r Row) error {
		found(r.Text(0))
		return nil
	}}}
	if db.Distributed() {
		stmts = append(stmts, Stmt{SQL: `SELECT nodename || ':' || nodeport, success, result FROM run_command_on_workers($1) ORDER BY 1`, Args: []any{shardsTampered}, Each: func(r Row) error {
			if r.Int(1) == 0 {
				return fault.Away("A worker of the Citus cluster is not available.", fmt.Errorf("%s: %s", r.Text(0), r.Text(2)))
			}
			if what := r.Text(2); what != "" {
				found("on worker " + r.Text(0) + ", " + what)
			}
			return nil
		}})
	}
	return tx.Many(stmts...)
}

// Size returns the size of a PostgreSQL database, in bytes. Of a Citus cluster,
// it includes the workers. It fails while one of them is known not to respond.
func (db *DB) Size(ctx context.Context) (bytes int64, err error) {
	sql := `SELECT pg_database_size(current_database())`
	if db.Distributed() {
		sql = `SELECT pg_database_size(current_database()) + coalesce((SELECT CAST(sum(CAST(result AS BIGINT)) AS BIGINT)
			FROM run_command_on_workers('SELECT pg_database_size(current_database())') WHERE success), 0)`
	}
	err = db.Read(ctx, func(tx Tx) error {
		_, err := One(tx, sql, func(r Row) { bytes = r.Int(0) })
		return err
	})
	return bytes, err
}
