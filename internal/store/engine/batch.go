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
	// batchTime is when a batch stops taking more, so that the first of it
	// does not wait long.
	batchTime = 10 * time.Millisecond
	// batchLimit bounds what one failed COMMIT has to run again.
	batchLimit = 512
	// statementTime is the writer's own deadline for a transaction. The
	// requests' contexts are not used inside: a cancelled statement would
	// roll the whole transaction back, everybody's writes with it.
	statementTime = 30 * time.Second
)

// beginWriting takes the write lock at once, so that a statement in the middle
// can not find the file locked by another process.
const beginWriting = "BEGIN IMMEDIATE"

var errLostTransaction = errors.New("the database ended the transaction")

// batch runs a write and all that wait behind it in one transaction, and
// answers them.
func (w *writer) batch(first *job) {
	if !first.take() {
		return
	}
	members := []*job{first}
	began := false
	err := w.limited(func() error {
		if err := w.exec(beginWriting); err != nil {
			return err
		}
		began = true
		return w.together(&members)
	})
	switch {
	case err == nil:
	case !began:
		// Whoever came meanwhile would wait as long for the same answer.
		for w.next(time.Now(), &members) != nil {
		}
		for _, j := range members {
			j.err = err
		}
	case len(members) == 1:
		first.err = cmp.Or(first.err, err) // its own reason says more
	default:
		// Somebody's statement took the transaction down. Alone, each write
		// fails or succeeds for reasons of its own.
		for _, j := range members {
			j.err = w.alone(j)
		}
	}
	w.metrics.batchSize.Observe(float64(len(members)))
	for _, j := range members {
		j.answer <- j.err
	}
}

// limited runs a transaction under the writer's own deadline, and leaves none
// open.
func (w *writer) limited(fn func() error) error {
	ctx, cancel := context.WithTimeout(context.Background(), statementTime)
	defer cancel()
	w.conn.SetInterrupt(ctx)
	err := fn()
	w.conn.SetInterrupt(context.Background())
	if !w.conn.GetAutocommit() {
		_ = w.exec("ROLLBACK") // leaves no transaction open either way
	}
	return err
}

// together runs the first write and those that wait, and commits. An error
// means that the transaction is not to be trusted.
func (w *writer) together(members *[]*job) error {
	start := time.Now()
	for j := (*members)[0]; j != nil; j = w.next(start, members) {
		if err := w.member(j); err != nil {
			return err
		}
	}
	return w.exec("COMMIT")
}

// next takes one more waiting write while the batch has time, or nil.
func (w *writer) next(start time.Time, members *[]*job) *job {
	for len(*members) < batchLimit && time.Since(start) < batchTime {
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

// member runs one write of a batch inside a savepoint. The error is the
// batch's; that of the write is kept with it.
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

// alone runs one write in a transaction of its own.
func (w *writer) alone(j *job) error {
	return w.limited(func() error {
		if err := w.exec(beginWriting); err != nil {
			return err
		}
		if err := w.call(j); err != nil {
			return err
		}
		return w.exec("COMMIT")
	})
}

// call runs the write and what it put off. A panic is the write's error: it
// must not take the other members of the batch with it.
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
	return tx.Many(tx.last...)
}

func (w *writer) exec(sql string) error {
	tx := sqliteTx{conn: w.conn}
	return tx.run(Stmt{SQL: sql})
}
