package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// PostgreSQL may not be available yet when a process starts, for example just
// after booting the machine or when its container starts at the same time. The
// process waits for it, up to Config.Wait.
const (
	// firstPause and longestPause bound the pause between two attempts.
	firstPause   = 100 * time.Millisecond
	longestPause = 2 * time.Second
	// waitReminder is how often waiting is logged.
	waitReminder = 10 * time.Second
)

// awaitPostgres returns when the server responds and is recent enough. It fails
// at once for errors that waiting does not fix, such as a wrong password.
func awaitPostgres(ctx context.Context, pool *pgxpool.Pool, wait time.Duration, log *slog.Logger) error {
	began := time.Now()
	var said time.Time
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := checkPostgres(ctx, pool)
		waited := time.Since(began)
		switch {
		case err == nil && !said.IsZero():
			log.Info("PostgreSQL is reachable", "waited", waited.Round(time.Millisecond))
			return nil
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case wait <= 0 || !worthWaiting(err):
			return err
		case waited >= wait:
			return fmt.Errorf("PostgreSQL could not be reached within %v (--database-wait): %w", wait, err)
		case said.IsZero() || time.Since(said) >= waitReminder:
			log.Warn("PostgreSQL cannot be reached yet; trying again", "waited", waited.Round(time.Second), "give_up_after", wait, "error", err)
			said = time.Now()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(pause, wait-waited)):
		}
	}
}

// errNotPrimary reports a server that does not accept writes. During a failover
// there may be no other.
var errNotPrimary = errors.New("not the primary")

// worthWaiting reports whether the server may become available soon: it cannot
// be reached, its name cannot be resolved, it is starting, or it has no free
// connection. A server that rejects us (password, database or certificate)
// would do so again.
func worthWaiting(err error) bool {
	transient, refused := false, errors.Is(err, fs.ErrPermission) // a socket without permission to use it
	eachPgError(err, func(pg *pgconn.PgError) {
		if isStarting(pg.Code) {
			transient = true
		} else {
			refused = true
		}
	})
	var netErr net.Error
	return !refused && (transient || errors.As(err, &netErr) || errors.Is(err, errNotPrimary) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF))
}

// isStarting reports whether the code means that the server does not accept
// connections now. See appendix A of the PostgreSQL manual.
func isStarting(code string) bool {
	switch code {
	case "57P01", "57P02", "57P03": // shutting down, crashed, starting up
		return true
	}
	return code[:2] == "08" || code[:2] == "53" // connection lost, too many connections
}

// eachPgError calls visit for every server response in an error. An address may
// list several servers.
func eachPgError(err error, visit func(*pgconn.PgError)) {
	if pg, ok := err.(*pgconn.PgError); ok {
		visit(pg)
		return
	}
	switch inner := err.(type) {
	case interface{ Unwrap() error }:
		if next := inner.Unwrap(); next != nil {
			eachPgError(next, visit)
		}
	case interface{ Unwrap() []error }:
		for _, next := range inner.Unwrap() {
			eachPgError(next, visit)
		}
	}
}
