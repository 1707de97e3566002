package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
)

// writesPerRound bounds the number of writes in one transaction.
const writesPerRound = 128

// together combines writes by group. A group exists while it has writes.
type together struct {
	mu     sync.Mutex
	groups map[int64]*group
}

type group struct {
	*Rounds[[]Stmt, error]
	writes int
}

// do makes a write in the next round of its group.
func (g *together) do(ctx context.Context, number int64, stmts []Stmt, run func(context.Context, [][]Stmt, []error) error) error {
	g.mu.Lock()
	if g.groups == nil {
		g.groups = make(map[int64]*group)
	}
	own := g.groups[number]
	if own == nil {
		own = &group{Rounds: NewRounds(RoundsConfig{Lanes: 1, Most: writesPerRound, Binding: true}, run)}
		g.groups[number] = own
	}
	own.writes++
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if own.writes--; own.writes == 0 {
			delete(g.groups, number)
		}
	}()
	failed, err := own.Do(ctx, stmts)
	if err != nil {
		return err
	}
	return failed
}

func (e *postgresEngine) writeTogether(ctx context.Context, number int64, fn func(Tx) error) error {
	tx := &deferring{}
	if err := tx.collect(fn); tx.refused {
		return e.write(ctx, fn)
	} else if err != nil || len(tx.last) == 0 {
		return err
	}
	err := e.together.do(ctx, number, tx.last, e.commitTogether)
	if errors.Is(err, ErrAlone) {
		return e.write(ctx, fn)
	}
	return err
}

// commitTogether runs the statements of all writes of a round in one
// transaction and one message.
func (e *postgresEngine) commitTogether(ctx context.Context, writes [][]Stmt, failed []error) error {
	conn, err := e.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	ctx, cancel := context.WithTimeout(ctx, WriteTime)
	defer cancel()
	err = e.transaction(ctx, conn.Conn(), "BEGIN", func(tx Tx) error {
		for i, stmts := range writes {
			for _, s := range stmts {
				if s.Each != nil {
					s.Each = ownFailure(s.Each, &failed[i])
				}
				tx.Last(s)
			}
		}
		return nil
	})
	if concernsSome(err) {
		return fmt.Errorf("%w: %w", ErrAlone, err) // PostgreSQL has rolled back
	}
	if isReadOnly(err) {
		_ = conn.Conn().Close(ctx) // as in write
	}
	e.drop(err)
	told := postgresError(err)
	e.stuck.note(err, told)
	return told
}

// ownFailure keeps an error or a panic of each from ending the transaction of
// others. As the COMMIT was sent with the statement, it cannot be undone.
func ownFailure(each func(Row) error, failed *error) func(Row) error {
	return func(r Row) error {
		defer func() {
			if p := recover(); p != nil {
				*failed = fmt.Errorf("panic in a transaction: %v\n%s", p, debug.Stack())
			}
		}()
		if err := each(r); err != nil && *failed == nil {
			*failed = err
		}
		return nil
	}
}

// deferring is a Tx that collects deferred statements. It refuses all others.
type deferring struct {
	last    []Stmt
	refused bool
}

var errRefused = errors.New("only deferred statements can be combined")

func (t *deferring) collect(fn func(Tx) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a transaction: %v\n%s", p, debug.Stack())
		}
	}()
	return fn(t)
}

func (t *deferring) refuse() error {
	t.refused = true
	return errRefused
}

func (t *deferring) Exec(string, ...any) (int64, error)          { return 0, t.refuse() }
func (t *deferring) Query(string, func(Row) error, ...any) error { return t.refuse() }
func (t *deferring) Many(...Stmt) error                          { return t.refuse() }
func (t *deferring) Last(stmts ...Stmt)                          { t.last = append(t.last, stmts...) }
