package engine

import (
	"context"
	"errors"
	"fmt"
)

const (
	// writesPerRound bounds the number of writes in one transaction.
	writesPerRound = 128
	// aloneAtOnce is how many writes of a group run on their own at a time. The
	// reason may be a lock for which all of them wait, and other groups need
	// connections, too.
	aloneAtOnce = 4
)

// Together combines writes of one kind: those of a group that wait at the same
// time are carried out together, in one transaction. If that is rolled back, each
// is made again on its own, so that no write fails because of another.
type Together[W any] struct {
	db   *DB
	run  func(tx Tx, group int64, writes []W)
	made func(group int64)
	// groups are those that have writes.
	groups *inUse[*group[W]]
}

type group[W any] struct {
	*Rounds[W, struct{}]
	alone chan struct{} // room for writes on their own
}

// NewTogether returns a Together whose writes run carries out. run may only defer
// statements with Tx.Last, and may be called more than once for a write. The
// writes of a group must lock rows in the same order: there may be only one row
// that several of them lock. made, if not nil, is called once for all writes of a
// group that became durable together, before their callers continue.
func NewTogether[W any](db *DB, run func(tx Tx, group int64, writes []W), made func(group int64)) *Together[W] {
	t := &Together[W]{db: db, run: run, made: made}
	t.groups = newInUse(t.newGroup)
	return t
}

// Do makes a write and returns once it is durable. The context is honoured until
// its round starts.
func (t *Together[W]) Do(ctx context.Context, number int64, write W) error {
	if t.db.tracer == nil {
		return t.do(ctx, number, write)
	}
	return t.db.traced(ctx, "store.write", func(ctx context.Context) error { return t.do(ctx, number, write) })
}

func (t *Together[W]) do(ctx context.Context, number int64, write W) error {
	own := t.groups.join(number)
	defer t.groups.leave(number)
	if _, err := own.Do(ctx, write); !errors.Is(err, ErrAlone) {
		return err
	}
	select {
	case own.alone <- struct{}{}:
		defer func() { <-own.alone }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return t.commit(ctx, number, []W{write})
}

func (t *Together[W]) newGroup(number int64) *group[W] {
	return &group[W]{Rounds: NewRounds(RoundsConfig{Lanes: 1, Most: writesPerRound, Binding: true}, func(ctx context.Context, writes []W, _ []struct{}) error {
		err := t.commit(ctx, number, writes)
		if len(writes) > 1 && concernsSome(err) { // it was rolled back
			return fmt.Errorf("%w: %w", ErrAlone, err)
		}
		return err
	}), alone: make(chan struct{}, aloneAtOnce)}
}

// commit makes writes in one transaction.
func (t *Together[W]) commit(ctx context.Context, number int64, writes []W) error {
	err := t.db.engine.write(ctx, func(tx Tx) (err error) {
		if len(writes) > 1 {
			defer func() {
				if p := recover(); p != nil { // nothing was sent
					err = fmt.Errorf("%w: panic: %v", ErrAlone, p)
				}
			}()
		}
		t.run(tx, number, writes)
		if tx, ok := tx.(*sqliteTx); ok {
			tx.writes = len(writes)
		}
		return nil
	})
	if err == nil && t.made != nil {
		t.made(number)
	}
	return err
}
