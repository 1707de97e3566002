package engine

import (
	"context"
	"errors"
	"regexp"
	"sync"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
)

// The rows of a Citus cluster are on several servers. While one of them is
// unavailable, a statement over all organisations fails, although most of them
// can be read. [DB.EachPart] then does the work of each server's organisations
// separately.

// Part is the organisations whose rows are on one server, or all of them. On a
// database that is not distributed, parts are arbitrary.
type Part struct {
	orgs []int64 // nil for all
}

// ofPart matches the condition of a statement that limits it to a part.
var ofPart = regexp.MustCompile(`/\*((?:(?:AND|WHERE) [\w.]+ = ANY\(\$\d+\) ?)+)\*/`)

// SQL returns a statement about the organisations of the part. The statement
// has the conditions for that in comments, such as /*AND h.org_no = ANY($3)*/ or
// /*WHERE org_no = ANY($1)*/, with the number after that of the last argument. It
// needs one for each table, because PostgreSQL does not infer them.
func (p Part) SQL(sql string) string {
	if p.orgs == nil {
		return sql
	}
	return ofPart.ReplaceAllString(sql, "$1")
}

// Args returns the arguments of such a statement.
func (p Part) Args(args ...any) []any {
	if p.orgs == nil {
		return args
	}
	return append(args[:len(args):len(args)], p.orgs)
}

// ErrPart is wrapped by the error of work that was done for some organisations
// only, because a part of the database is unavailable.
var ErrPart = errors.New("a part of the database is unavailable")

// partError is the error of some parts.
type partError struct {
	orgs []access.OrgNo
	err  error
}

func (e *partError) Error() string   { return ErrPart.Error() + ": " + e.err.Error() }
func (e *partError) Unwrap() []error { return []error{ErrPart, e.err} }

// Missing returns the organisations for which work was not done, if err wraps
// [ErrPart].
func Missing(err error) []access.OrgNo {
	if e, ok := errors.AsType[*partError](err); ok {
		return e.orgs
	}
	return nil
}

// IgnorePart returns nil if err wraps [ErrPart], for workers that count their
// failures: what is missing is counted by organisation.
func IgnorePart(err error) error {
	if errors.Is(err, ErrPart) {
		return nil
	}
	return err
}

const (
	// partTime bounds the work of one part. Without a bound, a server that hangs
	// would delay the others.
	partTime = 5 * time.Second
	// firstPartPause and longestPartPause bound how long a part that failed is not
	// tried again.
	firstPartPause   = time.Second
	longestPartPause = 10 * time.Second
)

// EachPart calls do for all organisations together. If that fails because the
// database is unavailable, it calls do for each part of the database, except for parts
// that failed a moment ago. If some of them fail, the error wraps [ErrPart], and
// what do did for the others stands.
func (db *DB) EachPart(ctx context.Context, do func(context.Context, Part) error) error {
	var together error
	if !db.parts.broken() {
		together = do(ctx, Part{})
		if db.dialect().parts == "" || !fault.Is(together, fault.Unavailable) || ctx.Err() != nil {
			return together
		}
	}
	list, err := db.listParts(ctx)
	if err != nil {
		return errors.Join(together, err)
	}
	if len(list) < 2 && together != nil {
		return together
	}
	db.parts.keep(list)
	failed, missing := 0, &partError{}
	for key, part := range list {
		err := db.parts.pausing(key)
		if err == nil {
			within, cancel := context.WithTimeout(ctx, partTime)
			err = do(within, part)
			cancel()
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil && db.Ping(ctx) != nil {
				return err // nothing is available
			}
			switch db.parts.done(key, err) {
			case lost:
				db.Log.Error("a part of the database is unavailable; the background work of its organisations waits, that of others continues", "organizations", len(part.orgs), "error", err)
			case back:
				db.Log.Info("a part of the database is available again", "organizations", len(part.orgs))
			}
		}
		if err != nil {
			failed, missing.err = failed+1, err
			for _, org := range part.orgs {
				missing.orgs = append(missing.orgs, access.OrgNo(org))
			}
		}
	}
	switch failed {
	case 0:
		return nil
	case len(list):
		return missing.err
	}
	return missing
}

// List returns the rows of a statement over all organisations, in the form of
// [Part.SQL]. If a part of the database is unavailable, it returns the rows of
// the others, in any order, together with an error that wraps [ErrPart].
func List[T any](ctx context.Context, db *DB, sql string, scan func(Row) (T, error), args ...any) (list []T, err error) {
	err = db.EachPart(ctx, func(ctx context.Context, p Part) error {
		some, err := Get(ctx, db, func(tx Tx) (some []T, err error) {
			err = tx.Query(p.SQL(sql), func(r Row) error {
				one, err := scan(r)
				some = append(some, one)
				return err
			}, p.Args(args...)...)
			return some, err
		})
		if err == nil {
			list = append(list, some...)
		}
		return err
	})
	return list, err
}

// listParts returns the organisations of each part.
func (db *DB) listParts(ctx context.Context) (map[int64]Part, error) {
	sql := db.dialect().parts
	if db.Distributed() {
		sql = citusParts
	}
	return Get(ctx, db, func(tx Tx) (map[int64]Part, error) {
		list := map[int64]Part{}
		err := tx.Query(sql, func(r Row) error {
			p := list[r.Int(0)]
			p.orgs = append(p.orgs, r.Int(1))
			list[r.Int(0)] = p
			return nil
		})
		return list, err
	})
}

// citusParts selects the worker of every organisation. Only the coordinator is
// asked.
const citusParts = `SELECT CAST(p.groupid AS BIGINT), o.org_no FROM org o
	JOIN pg_dist_placement p ON p.shardid = get_shard_id_for_distribution_column('` + lead + `', o.org_no) ORDER BY 1, 2`

// parts remembers the parts of the database that failed.
type parts struct {
	mu     sync.Mutex
	failed map[int64]*failedPart
}

type failedPart struct {
	err   error
	pause time.Duration
	next  time.Time
}

// broken reports whether a part failed when it was last tried.
func (s *parts) broken() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.failed) > 0
}

// keep forgets parts that no longer exist.
func (s *parts) keep(list map[int64]Part) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.failed {
		if _, exists := list[key]; !exists {
			delete(s.failed, key)
		}
	}
}

// pausing returns the last error of a part that is not to be tried yet.
func (s *parts) pausing(key int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.failed[key]; f != nil && time.Now().Before(f.next) {
		return f.err
	}
	return nil
}

// turn is a change in the state of a part.
type turn int

const (
	same turn = iota
	lost
	back
)

// done records the result of a part.
func (s *parts) done(key int64, err error) (changed turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.failed[key]
	if err == nil {
		if f != nil {
			changed = back
		}
		delete(s.failed, key)
		return changed
	}
	if f == nil {
		f, changed = &failedPart{}, lost
		if s.failed == nil {
			s.failed = map[int64]*failedPart{}
		}
		s.failed[key] = f
	}
	f.err, f.pause = err, min(max(2*f.pause, firstPartPause), longestPartPause)
	f.next = time.Now().Add(f.pause)
	return changed
}
