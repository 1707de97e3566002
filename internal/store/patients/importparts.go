package patients

import (
	"context"

	"anodyne.example/anodyne/internal/store/engine"
)

const (
	// partLines is the number of lines after which an import looks whether
	// another process wants to write. It takes some milliseconds.
	partLines = 250
	// importLines is the number of lines in one transaction if none does. The
	// more there are, the less often the same pages of the indexes are written.
	importLines = 8000
)

// ImportLines is the number of lines that it is worth to gather for
// [Org.ImportPatients] and [Org.ImportRecords]. It is 0 where transactions
// should be short, because other nodes need rows that they lock.
func (o Org) ImportLines() int {
	if o.db.Shared() {
		return 0
	}
	return importLines
}

// ExpectImport prepares the process for an import.
func (o Org) ExpectImport(ctx context.Context) error { return o.db.ExpectBulk(ctx) }

// inParts runs something in one transaction, and returns how much of it. On
// SQLite it does so part by part, and ends the transaction early if another
// process wants to write: it can hold the lock for long, but not against
// others. What is run is some items, each one or more lines: size(n) is the
// number of lines of the first n. part does the items from one up to, not
// including, another one. What it defers is done before the next part.
func (o Org) inParts(ctx context.Context, items int, size func(n int) int, part func(tx engine.Tx, from, to int) error) (done int, err error) {
	err = o.journal.Change(ctx, o.org, func(tx engine.Tx) error {
		done = 0 // the transaction may run again
		if o.db.Shared() {
			done = items
			return part(tx, 0, items)
		}
		for done < items && (done == 0 || !o.db.Awaited()) {
			p, to := partTx{Tx: tx}, done+1
			for to < items && size(to)-size(done) < partLines {
				to++
			}
			if err := part(&p, done, to); err != nil {
				return err
			}
			if err := tx.Many(p.last...); err != nil {
				return err
			}
			done = to
		}
		return nil
	})
	return done, err
}

// partTx is a part of a transaction, with its own deferred statements.
type partTx struct {
	engine.Tx
	last []engine.Stmt
}

func (p *partTx) Last(stmts ...engine.Stmt) { p.last = append(p.last, stmts...) }
