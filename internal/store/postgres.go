package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

var postgresDialect = dialect{
	name:        "postgres",
	dumpDialect: postgresDump,
	journal: []string{
		`INSERT INTO journal_pending (org_no, at, subject, event_id, event_type, event_data, audit, packed)
		 VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
	},
	hasTable: `SELECT 1 FROM pg_class WHERE oid = to_regclass($1)`,
	// One statement, so one snapshot: an entry is seen either pending or in
	// its place, never neither.
	changed: `SELECT pos, subject FROM journal WHERE org_no = $1 AND pos > $2 AND subject IS NOT NULL
		UNION ALL SELECT 0, subject FROM journal_pending WHERE org_no = $1 AND subject IS NOT NULL
		UNION ALL SELECT pos, NULL FROM journal_head WHERE org_no = $1`,
}

// postgresEngine is a pool of connections. Several processes on one database
// are one service.
type postgresEngine struct {
	pool  *pgxpool.Pool
	sql   sync.Map // SQL as written -> as PostgreSQL gets it
	stuck stuck
}

func (e *postgresEngine) failing() error { return e.stuck.now() }

const (
	// lockWait is the short wait after which a request that stands behind
	// another one's lock gives up.
	lockWait = 5 * time.Second
	// writeTime is the deadline of a transaction once it has begun. The
	// request's context is not used inside: pgx would close the connection
	// for every caller who hangs up.
	writeTime = 30 * time.Second
)

func openPostgres(ctx context.Context, dsn string, log *slog.Logger) (engine, error) {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("database address: " + redactDSN(err.Error(), dsn))
	}
	if !strings.Contains(dsn, "pool_max_conns") {
		cfg.MaxConns = int32(max(16, 4*runtime.GOMAXPROCS(0)))
	}
	boundWaits(cfg)
	params := cfg.ConnConfig.RuntimeParams
	for name, value := range map[string]string{
		"application_name": "anodyne", "timezone": "UTC",
		"lock_timeout": fmt.Sprint(lockWait.Milliseconds()), "statement_timeout": fmt.Sprint(writeTime.Milliseconds()),
		// Of a node that is gone without a word, PostgreSQL must not keep the locks.
		"idle_in_transaction_session_timeout": fmt.Sprint(idleTime.Milliseconds()),
		"tcp_keepalives_idle":                 fmt.Sprint(int(keepAlive.Idle.Seconds())),
		"tcp_keepalives_interval":             fmt.Sprint(int(keepAlive.Interval.Seconds())), "tcp_keepalives_count": fmt.Sprint(keepAlive.Count),
	} {
		if _, set := params[name]; !set {
			params[name] = value
		}
	}
	cfg.ConnConfig.StatementCacheCapacity = 256
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, postgresError(err)
	}
	if err := checkPostgres(ctx, pool); err != nil {
		pool.Close()
		return nil, err
	}
	log.Debug("connected to PostgreSQL", "max_connections", cfg.MaxConns)
	return &postgresEngine{pool: pool}, nil
}

// checkPostgres refuses a server that is too old for the SQL we write.
func checkPostgres(ctx context.Context, pool *pgxpool.Pool) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var version int
	if err := pool.QueryRow(ctx, `SELECT current_setting('server_version_num')::int`).Scan(&version); err != nil {
		return postgresError(err)
	}
	if version < 130000 {
		return fmt.Errorf("PostgreSQL %d is too old; Anodyne needs 13 or newer", version/10000)
	}
	return nil
}

// redactDSN takes the address, which may hold a password, out of a message.
func redactDSN(message, dsn string) string { return strings.ReplaceAll(message, dsn, "postgres://...") }

func (e *postgresEngine) dialect() *dialect { return &postgresDialect }

func (e *postgresEngine) read(ctx context.Context, fn func(Tx) error) error {
	conn, err := e.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	return e.failed(ctx, fn(e.tx(ctx, conn.Conn())))
}

func (e *postgresEngine) snapshot(ctx context.Context, fn func(Tx) error) error {
	conn, err := e.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release() // a connection that is still in a transaction is dropped
	tx := e.tx(ctx, conn.Conn())
	if _, err := tx.Exec("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"); err != nil {
		return e.failed(ctx, err)
	}
	if err := fn(tx); err != nil {
		_, _ = tx.Exec("ROLLBACK") // nothing was written
		return e.failed(ctx, err)
	}
	_, err = tx.Exec("COMMIT")
	return e.failed(ctx, err)
}

func (e *postgresEngine) write(ctx context.Context, fn func(Tx) error) error {
	conn, err := e.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	inside, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer cancel()
	for try := 1; ; try++ {
		err := e.transaction(inside, conn.Conn(), fn)
		if err == nil || try == 5 || !retryable(err) {
			e.drop(err)
			told := postgresError(err)
			e.stuck.note(err, told)
			return told
		}
	}
}

// transaction runs fn once. What fn put off goes out in one message with the
// COMMIT.
func (e *postgresEngine) transaction(ctx context.Context, conn *pgx.Conn, fn func(Tx) error) (err error) {
	if _, err := conn.Exec(ctx, "BEGIN"); err != nil {
		return err
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a write: %v", p)
		}
		if err != nil && !conn.IsClosed() {
			_, _ = conn.Exec(ctx, "ROLLBACK") // a broken connection is dropped by the pool
		}
	}()
	tx := e.tx(ctx, conn)
	if err := fn(tx); err != nil {
		return err
	}
	if conn.PgConn().TxStatus() != 'T' {
		return errLostTransaction // a COMMIT would be answered, and roll back
	}
	if len(tx.last) == 0 {
		_, err := conn.Exec(ctx, "COMMIT")
		return err
	}
	return tx.Many(append(tx.last, Stmt{SQL: "COMMIT"})...)
}

// retryable errors are those that PostgreSQL asks to be run again.
func retryable(err error) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code == "40001" || pg.Code == "40P01"
	}
	return false
}

// migrate holds a lock that only one node can have.
func (e *postgresEngine) migrate(ctx context.Context, fn func(Tx) error) error {
	return e.write(ctx, func(tx Tx) error {
		const waitForOthers = `SET LOCAL lock_timeout = 0`
		if _, err := tx.Exec(waitForOthers); err != nil {
			return err
		}
		if err := tx.Query(`SELECT pg_advisory_xact_lock($1)`, nil, int64(migrationLock)); err != nil {
			return err
		}
		return fn(tx)
	})
}

// failed prefers the caller's own reason to the driver's.
func (e *postgresEngine) failed(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	e.drop(err)
	return postgresError(err)
}

func (e *postgresEngine) close() error {
	e.pool.Close()
	return nil
}

// locking is what means nothing on SQLite, where there is one writer.
var locking = strings.NewReplacer("/*FOR UPDATE*/", "FOR UPDATE", "/*FOR UPDATE SKIP LOCKED*/", "FOR UPDATE SKIP LOCKED")

// rewrite gives the SQL that PostgreSQL gets.
func (e *postgresEngine) rewrite(sql string) string {
	if !strings.Contains(sql, "/*FOR UPDATE") {
		return sql
	}
	if done, ok := e.sql.Load(sql); ok {
		return done.(string)
	}
	done := locking.Replace(sql)
	e.sql.Store(sql, done)
	return done
}
