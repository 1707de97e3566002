package engine

import (
	"cmp"
	"context"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"anodyne.example/anodyne/internal/fault"
)

// Every wait for PostgreSQL is bounded, even if the server is down, hangs, or
// is cut off by a network that drops packets. See
// docs/decisions/0028-timeouts-of-postgresql.md.
const (
	// connectTime bounds one attempt to connect, including name resolution and
	// authentication, unless the address sets connect_timeout.
	connectTime = 5 * time.Second
	// nextServer replaces connectTime if there is another server to try.
	nextServer = 3 * time.Second
	// acquireTime bounds the wait for a connection from the pool.
	acquireTime = 10 * time.Second
	// pingTime bounds the check of an idle connection.
	pingTime = 2 * time.Second
	// LockWait is how long a request waits for the lock of another transaction.
	LockWait = 5 * time.Second
	// WriteTime is the deadline of a transaction once it has begun, and
	// PostgreSQL's limit for a statement. The request's context is not used
	// inside a write: pgx would close the connection whenever a caller hangs
	// up.
	WriteTime = 30 * time.Second
	// idleTime is how long PostgreSQL waits for the next statement of a
	// transaction. Ours follow immediately.
	idleTime = 15 * time.Second
	// silence is how long to wait for the end of a statement. It is slightly
	// longer than PostgreSQL's own limit, so that the server's error arrives
	// first if possible.
	silence = WriteTime + 5*time.Second
	// signOfLife is how long a connection may go without a response from the
	// peer. A machine that lost power does not close its connections.
	signOfLife = 8 * time.Second
)

// timeLimits are those of the limits above that a test can replace.
type timeLimits struct{ acquire, lock, write, idle, silence time.Duration }

// limitsWith returns the limits; patience, if not zero, replaces all of them.
func limitsWith(patience time.Duration) timeLimits {
	or := func(limit time.Duration) time.Duration { return cmp.Or(patience, limit) }
	return timeLimits{or(acquireTime), or(LockWait), or(WriteTime), or(idleTime), or(silence)}
}

// keepAlive probes idle connections for that response.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: signOfLife / 2, Interval: signOfLife / 8, Count: 4}

// acquire takes a connection from the pool, or explains why it cannot.
func (e *postgresEngine) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	limited, cancel := context.WithTimeout(ctx, e.limits.acquire)
	defer cancel()
	lent := e.lent.Load()
	e.acquiring.Add(1)
	conn, err := e.pool.Acquire(limited)
	e.acquiring.Add(-1)
	switch {
	case err == nil:
		e.lent.Add(1)
		return conn, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() == nil:
		e.drop(err)
		return nil, postgresError(err)
	}
	// If others acquired one in the meantime, or all are in use, the database
	// responds and there are too few connections. A connection just released
	// may already belong to a caller that has waited longer.
	if stat := e.pool.Stat(); e.lent.Load() != lent || stat.AcquiredConns() >= stat.MaxConns() {
		return nil, fault.Away("All connections to the database are in use.", err)
	}
	e.pool.Reset() // the remaining ones do not respond either
	return nil, postgresError(err)
}

// release returns a connection to the pool, or closes it if the caller has
// gone. In that case pgx has set a read deadline in the past, and a background
// read may keep the error for the next user of the connection, even though the
// statement itself completed.
func (e *postgresEngine) release(ctx context.Context, conn *pgxpool.Conn) {
	if ctx.Err() != nil {
		_ = conn.Conn().Close(context.WithoutCancel(ctx))
	}
	if conn.Conn().IsClosed() && e.watch.silence() {
		// Before pgx closes a connection whose statement was cancelled, it waits for
		// the coordinator, which may wait for the worker. Meanwhile, others
		// need a place in the pool.
		conn.Hijack()
		return
	}
	conn.Release()
}

// drop closes all connections after one was lost: otherwise, each of them would
// fail a request, even after the server has come back. New ones fail quickly.
func (e *postgresEngine) drop(err error) {
	if isLost(err) {
		for _, pool := range e.pools() {
			pool.Reset()
		}
	}
}

// pools returns all pools of connections; the first is that of transactions.
func (e *postgresEngine) pools() []*pgxpool.Pool {
	all := []*pgxpool.Pool{e.pool, e.rounds}
	if e.apart != nil {
		all = append(all, e.apart.pool)
		all = append(all, e.apart.direct.pools()...)
	}
	return all
}

// tx returns a Tx on a connection. It does not begin a transaction.
func (e *postgresEngine) tx(ctx context.Context, conn *pgx.Conn) *postgresTx {
	return &postgresTx{e: e, ctx: ctx, conn: conn}
}

// limited returns the context for statements that are sent together, and a
// function that must be called with their error; it returns the error to report.
// It returns an error if they cannot be sent, because a worker of a Citus cluster
// does not respond.
func (t *postgresTx) limited(stmts ...Stmt) (_ context.Context, end func(error) error, err error) {
	if t.ctx.Value(unhurriedKey{}) != nil {
		return t.ctx, func(err error) error { return err }, nil
	}
	ctx, cancel := context.WithTimeout(t.ctx, t.e.limits.silence)
	if t.e.watch == nil {
		return ctx, func(err error) error {
			cancel()
			return err
		}, nil
	}
	for i := range stmts {
		t.reach.add(t.e, &stmts[i])
	}
	ctx, answered, err := t.e.watch.begin(ctx, t.reach)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	return ctx, func(err error) error {
		defer cancel()
		return answered(err)
	}, nil
}

type unhurriedKey struct{}

// unhurried lifts the time limit of statements, for backups and migrations,
// which process whole tables. Keep-alive detects a lost connection.
func unhurried(ctx context.Context) context.Context {
	return context.WithValue(ctx, unhurriedKey{}, true)
}
