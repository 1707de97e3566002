package patients

import (
	"context"
	"time"

	"anodyne.example/anodyne/internal/store/engine"
)

const (
	// partLines is the number of lines after which an import checks whether
	// another process wants to write. Storing them takes a few milliseconds.
	partLines = 250
	// importLines is the number of lines in one transaction if no process does.
	// The more there are, the less often the same index pages are written.
	importLines = 8000
	// importTime is how long an import adds parts to a transaction, which is far
	// below the limit for a write, even if a part takes long on a busy machine.
	importTime = 3 * time.Second
)

// ImportLines is the number of lines worth collecting for [Org.ImportPatients]
// and [Org.ImportRecords]. It is 0 where transactions should be short, because
// they lock rows that other nodes need.
func (o Org) ImportLines() int {
	if o.db.Shared() {
		return 0
	}
	return importLines
}

// ExpectImport prepares the process for an import.
func (o Org) ExpectImport(ctx context.Context) error { return o.db.ExpectBulk(ctx) }

// inParts processes items in one transaction, and returns how many it processed.
// On SQLite it does so part by part, and ends the transaction early if it takes
// long or another process wants to write, which it would block. An
// item has one or more lines: size(n) is the number of lines of the first n items.
// part processes the items from `from` up to, but not including, `to`. The
// statements it defers run before the next part.
func (o Org) inParts(ctx context.Context, items int, size func(n int) int, part func(tx engine.Tx, from, to int) error) (done int, err error) {
	err = o.journal.Change(ctx, o.org, func(tx engine.Tx) error {
		done = 0 // the transaction may run again
		if o.db.Shared() {
			done = items
			return part(tx, 0, items)
		}
		p := partTx{Tx: tx}
		for end := time.Now().Add(importTime); done < items && (done == 0 || !o.db.Awaited() && time.Now().Before(end)); {
			to := done + 1
			for to < items && size(to)-size(done) < partLines {
				to++
			}
			if err := part(&p, done, to); err != nil {
				return err
			}
			if err := p.run(); err != nil {
				return err
			}
			done = to
		}
		return nil
	})
	return done, err
}

// partTx runs parts of a transaction, each with its own deferred statements.
type partTx struct {
	engine.Tx
	last []engine.Stmt
}

func (p *partTx) Last(stmts ...engine.Stmt) { p.last = append(p.last, stmts...) }

// run runs the deferred statements.
func (p *partTx) run() error {
	defer func() {
		clear(p.last)
		p.last = p.last[:0] // the next part uses the memory again
	}()
	return p.Many(p.last...)
}
