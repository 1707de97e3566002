package engine

import (
	"errors"
	"slices"
)

// Late is an integer argument of a statement deferred with [Tx.Last]: one that
// depends on what an earlier statement of the transaction returns. It is called
// after that statement, and reports whether it is known.
type Late func() (number int64, known bool)

var errNotKnown = errors.New("a statement needs a number that no earlier one has returned")

// sendLast sends the deferred statements and COMMIT, in one message unless some
// arguments are late.
func (t *postgresTx) sendLast() error {
	stmts := append(t.last, Stmt{SQL: "COMMIT"})
	returns := false // whether a statement that is not sent yet returns rows
	for i := 0; i < len(stmts); i++ {
		if slices.ContainsFunc(stmts[i].Args, isLate) {
			if returns {
				if err := t.Many(stmts[:i:i]...); err != nil {
					return err
				}
				stmts, i, returns = stmts[i:], 0, false
			}
			args, known := arrived(stmts[i].Args)
			if !known {
				return errNotKnown
			}
			stmts[i].Args = args
		}
		returns = returns || stmts[i].Each != nil
	}
	return t.Many(stmts...)
}

func isLate(arg any) bool {
	_, late := arg.(Late)
	return late
}

// arrived returns arguments with the values of those that are late.
func arrived(args []any) (_ []any, known bool) {
	args = slices.Clone(args)
	for i, arg := range args {
		if late, ok := arg.(Late); ok {
			if args[i], known = late(); !known {
				return nil, false
			}
		}
	}
	return args, true
}
