package engine

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/ncruces/go-sqlite3"
)

// stuckFor is how long a write that failed for want of space, or on a disk
// that cannot be written, speaks for the state of the database. Others may
// succeed meanwhile: a full disk still has room in pages that are there.
const stuckFor = 5 * time.Second

// stuck remembers the last such write.
type stuck struct{ last atomic.Pointer[stuckWrite] }

type stuckWrite struct {
	at  time.Time // of the process, not of the store's clock
	err error
}

// note looks at what became of a write; told is what its caller learns.
func (s *stuck) note(err, told error) {
	if isStuck(err) {
		s.last.Store(&stuckWrite{time.Now(), told})
	}
}

// now gives the fault of such a write, if there was one just now.
func (s *stuck) now() error {
	if w := s.last.Load(); w != nil && time.Since(w.at) < stuckFor {
		return w.err
	}
	return nil
}

func (e *postgresEngine) failing() error { return e.stuck.now() }

// isStuck reports a write that cannot be done before somebody has mended the
// disk, or made it writable.
func isStuck(err error) bool {
	if err == nil {
		return false
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code == "53100" || pg.Code == "25006" || pg.Code[:2] == "58"
	}
	return errors.Is(err, sqlite3.FULL) || errors.Is(err, sqlite3.READONLY) || errors.Is(err, sqlite3.IOERR)
}
