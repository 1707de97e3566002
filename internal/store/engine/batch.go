package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

const (
	// batchTime is how long a batch accepts more writes. It bounds the latency
	// of the first one.
	batchTime = 10 * time.Millisecond
	// batchLimit bounds the number of writes to repeat after a failed COMMIT.
	batchLimit = 512
	// statementTime is the writer's deadline for a transaction. The contexts of
	// requests are not used inside it: a cancelled statement would roll back
	// the whole transaction, including the writes of others.
	statementTime = 30 * time.Second
)

// beginWriting takes the write lock immediately, so that no later statement can
// find the file locked by another process.
const beginWriting = "BEGIN IMMEDIATE"

var errLostTransaction = errors.New("the database ended the transaction")

// batch runs a write and those queued behind it in one transaction, and sends
// each its result.
func (w *writer) batch(first *job) {
	if !first.take() {
		return
	}
	members := []*job{first}
	began := false
	err := w.limited(first.ctx, func() error {
		if err := w.begin(); err != nil {
			return err
		}
		began = true
		return w.together(&members)
	})
	switch {
	case err == nil:
	case !began:
		// Writes queued in the meantime would wait just as long for the same
		// error.
		for w.next(time.Now(), &members) != nil {
		}
		for _, j := range members {
			j.err = err
		}
	case len(members) == 1:
		first.err = cmp.Or(first.err, err) // the write's own error is more specific
	default:
		// One statement aborted the transaction. Run each write on its own, so
		// that each fails or succeeds independently.
		for _, j := range members {
			j.err = w.alone(j)
		}
	}
	writes := 0
	for _, j := range members {
		writes += j.writes
		j.answer <- j.err
	}
	w.metrics.batchSize.Observe(float64(writes))
}

// limited runs a transaction with the writer's deadline, unless its caller is
// [unhurried]. It leaves no transaction open.
func (w *writer) limited(caller context.Context, fn func() error) error {
	if caller.Value(unhurriedKey{}) == nil {
		ctx, cancel := context.WithTimeout(context.Background(), statementTime)
		defer cancel()
		w.conn.SetInterrupt(ctx)
	}
	err := fn()
	w.conn.SetInterrupt(context.Background())
	if !w.conn.GetAutocommit() {
		_ = w.exec("ROLLBACK") // on failure, too, no transaction is left open
	}
	return err
}

// together runs the first write and those waiting, and commits. If it returns
// an error, the state of the transaction is unknown.
//
// The first write needs no savepoint: if it fails, there is nothing else in the
// transaction, which ends, and the others are run in the next one. A savepoint
// is expensive for a large write, such as a chunk of an import: SQLite copies
// every page before the first change after it.
func (w *writer) together(members *[]*job) error {
	start, first := time.Now(), (*members)[0]
	first.err = w.call(first)
	if w.conn.GetAutocommit() {
		return errLostTransaction
	}
	if first.err != nil {
		return nil // without a COMMIT, it is rolled back
	}
	for j := w.next(start, members); j != nil; j = w.next(start, members) {
		if err := w.member(j); err != nil {
			return err
		}
	}
	return w.exec("COMMIT")
}

// next returns the next waiting write, or nil if there is none or the batch is
// full or out of time.
func (w *writer) next(start time.Time, members *[]*job) *job {
	for len(*members) < batchLimit && time.Since(start) < w.accepts {
		select {
		case j := <-w.jobs:
			if j.take() {
				*members = append(*members, j)
				return j
			}
		default:
			return nil
		}
	}
	return nil
}

// member runs a further write of a batch inside a savepoint. It stores the write's
// error in the job and returns only errors that affect the whole batch.
func (w *writer) member(j *job) error {
	if err := w.exec("SAVEPOINT member"); err != nil {
		return err
	}
	j.err = w.call(j)
	if w.conn.GetAutocommit() {
		return errLostTransaction
	}
	if j.err != nil {
		if err := w.exec("ROLLBACK TO member"); err != nil {
			return err
		}
	}
	return w.exec("RELEASE member")
}

// alone runs one write in its own transaction.
func (w *writer) alone(j *job) error {
	return w.limited(j.ctx, func() error {
		if err := w.begin(); err != nil {
			return err
		}
		if err := w.call(j); err != nil {
			return err
		}
		return w.exec("COMMIT")
	})
}

// call runs a write and its deferred statements. It converts a panic to an
// error of this write, so that the rest of the batch is unaffected.
func (w *writer) call(j *job) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a write: %v\n%s", p, debug.Stack())
		}
	}()
	tx := &sqliteTx{conn: w.conn, ctx: j.ctx, observe: w.observe}
	if err := j.fn(tx); err != nil {
		return err
	}
	j.writes = max(1, tx.writes)
	return tx.Many(tx.last...)
}

func (w *writer) exec(sql string) error {
	tx := sqliteTx{conn: w.conn}
	return tx.run(Stmt{SQL: sql})
}
