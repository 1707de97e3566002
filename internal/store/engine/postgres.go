package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

var postgresDialect = Dialect{
	name:        "postgres",
	system:      "postgresql",
	Sequenced:   true,
	Shared:      true,
	Hurried:     `SET LOCAL synchronous_commit = off`,
	Gathers:     true,
	DumpDialect: postgresDump,
	Journal: `INSERT INTO journal_pending (org_no, at, subject, event_id, event_type, event_data, audit, packed)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
	hasTable:     `SELECT 1 FROM pg_class WHERE oid = to_regclass($1)`,
	hasExtension: `SELECT 1 FROM pg_extension WHERE extname = $1`,
	// Without statistics, PostgreSQL assumes that an organisation is small, and
	// for a join would read all of its patients to find a hundred. Lateral
	// lookups avoid that.
	Numbered: `SELECT p.patient_no, p.id, p.created_at, p.name, p.date_of_birth FROM json_array_elements_text(CAST($2 AS json)) WITH ORDINALITY AS wanted (no, place)
		CROSS JOIN LATERAL (SELECT * FROM patient WHERE org_no = $1 AND patient_no = CAST(wanted.no AS BIGINT) LIMIT 1) AS p ORDER BY wanted.place`,
	Timed: `SELECT r.id, r.recorded_at, r.data_type, r.value FROM json_array_elements_text(CAST($3 AS json)) AS wanted (at)
		CROSS JOIN LATERAL (SELECT id, recorded_at, data_type, value FROM clinical_record WHERE org_no = $1 AND patient_no = $2 AND recorded_at = CAST(wanted.at AS BIGINT)
			AND (CAST(1 AS BIGINT) << CAST(data_type AS INTEGER)) & $4 <> 0 AND status <= $5 OFFSET 0) AS r`,
	Named: `SELECT p.patient_no, p.id FROM json_array_elements_text(CAST($2 AS json)) AS wanted
		CROSS JOIN LATERAL (SELECT patient_no, id FROM patient WHERE org_no = $1 AND id = decode(wanted, 'hex') LIMIT 1 FOR UPDATE) AS p`,
	AddMembers: `INSERT INTO cohort_member (org_no, cohort_id, patient_no) SELECT $1, $2, CAST(no AS BIGINT) FROM json_array_elements_text(CAST($3 AS json)) AS no`,
	LockKey:    `SELECT pg_advisory_xact_lock($1)`,
	ShareKey:   `SELECT pg_advisory_xact_lock_shared($1)`,
	// objsubid is 1 for keys of one number, and 2 for those of two.
	Locks: `SELECT CAST(classid AS BIGINT) << 32 | CAST(objid AS BIGINT) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
	// A single statement sees one snapshot: an entry is either pending or has
	// its position, never neither.
	Changed: `SELECT pos, subject FROM journal WHERE org_no = $1 AND pos > $2 AND subject IS NOT NULL
		UNION ALL SELECT 0, subject FROM journal_pending WHERE org_no = $1 AND subject IS NOT NULL
		UNION ALL SELECT pos, NULL FROM journal_head WHERE org_no = $1`,
	parts: `SELECT org_no % 64, org_no FROM org ORDER BY 1, 2`,
	tampered: `SELECT found.what FROM pg_class c JOIN (
			SELECT tgrelid AS table_oid, 'a trigger named ' || tgname AS what FROM pg_trigger WHERE NOT tgisinternal
			UNION ALL SELECT oid, 'something else in the place of table ' || relname FROM pg_class WHERE relkind NOT IN ('r', 'p')
			UNION ALL SELECT ev_class, 'a rule named ' || rulename FROM pg_rewrite) AS found ON found.table_oid = c.oid
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relname IN ('journal', 'journal_pending', 'journal_head', 'journal_seal', 'seal_acceptance') ORDER BY 1`,
	Pending: `SELECT count(*), coalesce(min(at), 0) FROM (SELECT at FROM journal_pending /*WHERE org_no = ANY($2)*/ ORDER BY seq LIMIT $1) AS oldest`,
	Identified: `SELECT r.id, r.recorded_at, r.data_type, r.status, r.corrects, r.created_at, r.value, r.notes, r.source, r.author, r.encounter_id,
			wanted.n - 1, p.id FROM json_array_elements_text(CAST($2 AS json)) WITH ORDINALITY AS wanted (id, n)
		CROSS JOIN LATERAL (SELECT * FROM clinical_record WHERE org_no = $1 AND id = decode(wanted.id, 'hex')
			AND (CAST(1 AS BIGINT) << CAST(data_type AS INTEGER)) & $3 <> 0 LIMIT 1) AS r
		CROSS JOIN LATERAL (SELECT id FROM patient WHERE org_no = $1 AND patient_no = r.patient_no LIMIT 1) AS p ORDER BY wanted.n LIMIT $4`,
}

// postgresEngine is a pool of connections. Several processes may use the same
// database.
type postgresEngine struct {
	pool   *pgxpool.Pool
	limits timeLimits
	log    *slog.Logger
	sql    sync.Map // rewritten SQL by SQL as written
	stuck  stuck
	// spread has the distributed tables of a Citus cluster; it is nil on a single
	// server. uses caches how statements use them, apart makes lookups in them, and
	// watch watches what uses them.
	spread map[string]bool
	uses   sync.Map
	apart  *apart
	watch  *workerWatch
	// remote is when a worker of a Citus cluster last failed, in nanoseconds of Unix time.
	remote atomic.Int64
	// rounds are the connections for rounds; asks makes the rounds.
	rounds    *pgxpool.Pool
	asks      *Rounds[ask, found]
	observe   Observe
	sqlForAll sync.Map // SQL of rounds by SQL as written
	// acquiring is the number of callers waiting for a connection.
	acquiring atomic.Int64
	// lent is the number of connections acquired so far.
	lent atomic.Int64
}

func openPostgres(ctx context.Context, of *Config) (engine, error) {
	limits, log := limitsWith(of.Patience), of.Log
	cfg, err := postgresConfig(of.Database, limits)
	if err != nil {
		return nil, err
	}
	if of.Observe != nil {
		cfg.ConnConfig.Tracer = of.Observe
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, postgresError(err)
	}
	if err := awaitPostgres(ctx, pool, of.Wait, log); err != nil {
		pool.Close()
		return nil, err
	}
	lanes := roundLanes()
	rounds, err := pgxpool.NewWithConfig(ctx, roundsConfig(cfg, lanes))
	if err != nil {
		pool.Close()
		return nil, postgresError(err)
	}
	log.Debug("connected to PostgreSQL", "max_connections", cfg.MaxConns)
	e := &postgresEngine{pool: pool, rounds: rounds, limits: limits, log: log, observe: of.Observe}
	e.asks = NewRounds(RoundsConfig{Lanes: lanes, Spare: spareLanes, Most: callsPerRound}, e.answer)
	if e.spread, err = spreadTables(ctx, pool); err == nil && e.spread != nil {
		e.watch = watchWorkers(log, e.checkWorkers)
		err = e.openApart(ctx, cfg)
	}
	if err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

// checkPostgres returns an error if the server is too old for our SQL.
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

func (e *postgresEngine) dialect() *Dialect {
	if e.spread != nil {
		return &citusDialect
	}
	return &postgresDialect
}

func (e *postgresEngine) read(ctx context.Context, fn func(Tx) error) error {
	conn, err := e.acquire(ctx)
	if err != nil {
		return err
	}
	defer e.release(ctx, conn)
	return e.failed(ctx, fn(e.tx(ctx, conn.Conn())))
}

func (e *postgresEngine) snapshot(ctx context.Context, fn func(Tx) error) error {
	conn, err := e.acquire(ctx)
	if err != nil {
		return err
	}
	defer e.release(ctx, conn)
	return e.failed(ctx, e.transaction(ctx, conn.Conn(), "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", fn))
}

func (e *postgresEngine) write(ctx context.Context, fn func(Tx) error) error {
	conn, err := e.acquire(ctx)
	if err != nil {
		return err
	}
	inside, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.limits.write)
	defer cancel()
	defer e.release(inside, conn)
	for try := 1; ; try++ {
		err := e.transaction(inside, conn.Conn(), "BEGIN", fn)
		if isReadOnly(err) {
			// The server was demoted while connected. The next connection is
			// made to one that accepts writes.
			_ = conn.Conn().Close(inside)
		}
		if err == nil || try == 5 || !retryable(err) {
			e.drop(err)
			return e.told(err)
		}
	}
}

// transaction runs fn once. BEGIN is sent together with the first statement,
// and the deferred statements together with COMMIT. If fn only defers
// statements, everything is sent in one message. A single statement is a
// transaction by itself.
func (e *postgresEngine) transaction(ctx context.Context, conn *pgx.Conn, begin string, fn func(Tx) error) (err error) {
	tx := e.tx(ctx, conn)
	tx.begin = begin
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a transaction: %v\n%s", p, debug.Stack())
		}
		if err != nil && tx.begun() && !conn.IsClosed() {
			_, _ = conn.Exec(ctx, "ROLLBACK") // the pool discards a broken connection
		}
	}()
	if err := fn(tx); err != nil {
		return err
	}
	if tx.begun() && conn.PgConn().TxStatus() != 'T' {
		return errLostTransaction // COMMIT would succeed but roll back
	}
	if !tx.begun() && len(tx.last) == 0 {
		return nil
	}
	forgetWarning(conn)
	if !tx.begun() && len(tx.last) == 1 && begin == "BEGIN" && encodable(tx.last[0].Args) {
		err = tx.only(&tx.last[0])
	} else {
		err = tx.sendLast()
	}
	if err == nil && warned(conn) {
		return errUnconfirmed
	}
	return err
}

// retryable reports whether PostgreSQL expects the transaction to be retried.
func retryable(err error) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code == "40001" || pg.Code == "40P01"
	}
	return false
}

// ddlWait is how long a migration step waits for a table that is in use. Other
// statements queue behind it, so it must be shorter than LockWait: otherwise a
// migration that waits for a long transaction, such as a backup, makes requests
// to running nodes fail.
const ddlWait = LockWait / 3

// migrate holds a lock that only one node can have. It may take as long as
// necessary; the deadlines of requests do not apply. If a table is in use, it
// backs off and retries until the context ends.
func (e *postgresEngine) migrate(ctx context.Context, fn func(Tx) error) error {
	conn, err := e.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	for {
		err := e.transaction(unhurried(ctx), conn.Conn(), "BEGIN", func(tx Tx) error {
			if err := tx.Many(
				Stmt{SQL: `SET LOCAL statement_timeout = 0`},
				Stmt{SQL: `SET LOCAL lock_timeout = 0`},
				Stmt{SQL: `SELECT pg_advisory_xact_lock($1)`, Args: []any{int64(MigrationLock)}},
				Stmt{SQL: fmt.Sprintf(`SET LOCAL lock_timeout = %d`, ddlWait.Milliseconds())},
			); err != nil {
				return err
			}
			return fn(tx)
		})
		if !IsLockTimeout(err) && !retryable(err) {
			return e.failed(ctx, err)
		}
		e.log.Info("the migration yields to transactions that use the tables; trying again", "reason", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(ddlWait):
		}
	}
}

// failed returns the context's error if there is one, in preference to the
// driver's.
func (e *postgresEngine) failed(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	e.drop(err)
	e.noteRemote(err)
	return postgresError(err)
}

// attend holds an advisory lock on a connection of its own, which PostgreSQL
// releases as soon as the process is gone.
func (e *postgresEngine) attend(ctx context.Context, node int64) (leave func(), err error) {
	pooled, err := e.acquire(ctx)
	if err != nil {
		return nil, err
	}
	conn := pooled.Hijack()
	leave = func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), pingTime)
		defer cancel()
		// Closing the connection releases the lock too, but slightly later.
		_ = e.tx(last, conn).Query(`SELECT pg_advisory_unlock_all()`, nil)
		_ = conn.Close(last)
	}
	if err := e.tx(ctx, conn).Query(`SELECT pg_advisory_lock($1)`, nil, node); err != nil {
		leave()
		return nil, e.failed(ctx, err)
	}
	return leave, nil
}

// attends is not used: Dialect.Locks lists the locks.
func (e *postgresEngine) attends(int64) bool { return false }

// awaited is always false: transactions do not wait for each other.
func (e *postgresEngine) awaited() bool { return false }

func (e *postgresEngine) expectBulk(context.Context) error { return nil }

func (e *postgresEngine) close() error {
	e.watch.close()
	if e.apart != nil {
		e.apart.direct.close()
	}
	for _, pool := range e.pools() {
		pool.Close()
	}
	return nil
}

// locking enables the row locks that are comments on SQLite, which has only one
// writer.
var locking = strings.NewReplacer("/*FOR UPDATE*/", "FOR UPDATE", "/*FOR UPDATE SKIP LOCKED*/", "FOR UPDATE SKIP LOCKED")

// rewrite returns the SQL to send to PostgreSQL.
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
