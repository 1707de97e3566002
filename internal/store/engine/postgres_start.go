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

// A PostgreSQL that is not there yet when a process starts, because the machine
// was just switched on or the container beside it was started at the same time,
// is waited for, up to Config.Wait.
const (
	// firstPause and longestPause are between two attempts.
	firstPause   = 100 * time.Millisecond
	longestPause = 2 * time.Second
	// waitReminder is how often the log says that there is still nothing.
	waitReminder = 10 * time.Second
)

// awaitPostgres returns when the server answers and is new enough. It fails at
// once for what waiting does not mend, such as a wrong password.
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

// errNotPrimary is a server that takes no writes, where one that does is
// wanted: during a failover there may be none.
var errNotPrimary = errors.New("not the primary")

// worthWaiting reports a server that may be there in a moment: it cannot be
// reached, or found by its name, or is starting, or has no connection free. One
// that answers and refuses us (the password, the database, the certificate)
// would do so again.
func worthWaiting(err error) bool {
	transient, refused := false, errors.Is(err, fs.ErrPermission) // a socket that is not ours to use
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

// isStarting reports the code of a server that takes no connections now. See
// PostgreSQL's appendix A.
func isStarting(code string) bool {
	switch code {
	case "57P01", "57P02", "57P03": // being shut down, crashed, starting up
		return true
	}
	return code[:2] == "08" || code[:2] == "53" // connection lost, too many of them
}

// eachPgError walks over all answers of servers in an error: an address may
// name several.
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
