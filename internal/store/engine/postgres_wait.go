package engine

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"anodyne.example/anodyne/internal/fault"
)

// Every wait for PostgreSQL has an end, whatever has become of it: it may be
// down, hang, or be cut off by a network that swallows packets without a word.
// See docs/decisions/0028-every-wait-ends.md.
const (
	// connectTime bounds one attempt to connect, from the name to the greeting,
	// unless the address has a connect_timeout.
	connectTime = 5 * time.Second
	// nextServer is connectTime where there is another server to try.
	nextServer = 3 * time.Second
	// acquireTime bounds the wait for a connection of the pool.
	acquireTime = 10 * time.Second
	// pingTime bounds the question to a connection that was idle whether it is
	// still there.
	pingTime = 2 * time.Second
	// LockWait is the short wait after which a request that stands behind
	// another one's lock gives up.
	LockWait = 5 * time.Second
	// WriteTime is the deadline of a transaction once it has begun, and that of
	// a statement, which PostgreSQL itself is told. The request's context is
	// not used inside a write: pgx would close the connection for every caller
	// who hangs up.
	WriteTime = 30 * time.Second
	// idleTime is how long PostgreSQL waits for the next statement of a
	// transaction. Ours follow one another at once.
	idleTime = 15 * time.Second
	// silence is how long a statement's end is waited for. It is a little
	// longer than PostgreSQL lets it run, so that it speaks first if it can.
	silence = WriteTime + 5*time.Second
	// signOfLife is how long a connection may be without one of the machine at
	// its other end: one that lost its power closes no connection.
	signOfLife = 8 * time.Second
)

// keepAlive asks for that sign of life where nothing is under way.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: signOfLife / 2, Interval: signOfLife / 8, Count: 4}

// acquire takes a connection out of the pool, or says why there is none.
func (e *postgresEngine) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	limited, cancel := context.WithTimeout(ctx, acquireTime)
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
		return nil, postgresError(err)
	}
	// Others got one meanwhile, or have them all: the database answers, there
	// are too few. One that was given back just now is not there for the taking,
	// those who wait longer come first.
	if stat := e.pool.Stat(); e.lent.Load() != lent || stat.AcquiredConns() >= stat.MaxConns() {
		return nil, fault.Away("All connections to the database are in use.", err)
	}
	e.pool.Reset() // those that are left do not answer either
	return nil, postgresError(err)
}

// release gives a connection back, unless the caller has gone. pgx then gave its
// reads a deadline in the past, and a read in the background may keep the error
// for whoever uses the connection next, though the statement itself was answered.
func release(ctx context.Context, conn *pgxpool.Conn) {
	if ctx.Err() != nil {
		_ = conn.Conn().Close(context.WithoutCancel(ctx))
	}
	conn.Release()
}

// drop lets go of all connections after one fell silent: the others have most
// likely met the same, and new ones tell at once.
func (e *postgresEngine) drop(err error) {
	if errors.Is(err, context.DeadlineExceeded) {
		e.pool.Reset()
	}
}

// tx runs statements on a connection.
func (e *postgresEngine) tx(ctx context.Context, conn *pgx.Conn) *postgresTx {
	return &postgresTx{e: e, ctx: ctx, conn: conn}
}

// limited gives the context of one statement.
func (t *postgresTx) limited() (context.Context, context.CancelFunc) {
	if t.ctx.Value(unhurriedKey{}) != nil {
		return t.ctx, func() {}
	}
	return context.WithTimeout(t.ctx, silence)
}

type unhurriedKey struct{}

// unhurried lets statements take as long as they need: those of a backup and
// of a migration, of whole tables. A connection that dies meanwhile is found by keep-alive.
func unhurried(ctx context.Context) context.Context {
	return context.WithValue(ctx, unhurriedKey{}, true)
}
