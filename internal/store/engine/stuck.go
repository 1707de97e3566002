package engine

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/ncruces/go-sqlite3"
)

// stuckFor is how long a write that failed because the disk is full or not
// writable marks the database as failing. Other writes may still succeed: even
// on a full disk, existing pages have room.
const stuckFor = 5 * time.Second

// stuck remembers the last such write.
type stuck struct{ last atomic.Pointer[stuckWrite] }

type stuckWrite struct {
	at  time.Time // process time, not the store's clock
	err error
}

// note records the result of a write; told is the error returned to its caller.
func (s *stuck) note(err, told error) {
	if isStuck(err) {
		s.last.Store(&stuckWrite{time.Now(), told})
	}
}

// now returns the error of such a write if it was recent.
func (s *stuck) now() error {
	if w := s.last.Load(); w != nil && time.Since(w.at) < stuckFor {
		return w.err
	}
	return nil
}

func (e *postgresEngine) failing() error { return e.stuck.now() }

// isStuck reports whether writes cannot succeed until somebody fixes the disk
// or makes it writable.
func isStuck(err error) bool {
	if err == nil {
		return false
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code == "53100" || pg.Code == "25006" || pg.Code[:2] == "58"
	}
	return errors.Is(err, sqlite3.FULL) || errors.Is(err, sqlite3.READONLY) || errors.Is(err, sqlite3.IOERR)
}
