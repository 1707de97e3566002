package engine

import (
	"cmp"
	"errors"
	"os"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// SQLite has no queue for its write lock: a process that waits for it polls,
// and one that writes without a pause, such as an import, would hardly ever
// leave it free at that moment. So a process that has to wait locks a byte of
// PATH.lock, and a process that is about to write again lets the waiting ones go
// first.
const (
	// waitingByte is that byte. The bytes of nodes are numbered much lower.
	waitingByte = 1 << 40
	// yieldTime bounds how long a process that writes waits for another one to
	// take the lock, which takes about a millisecond.
	yieldTime = 20 * time.Millisecond
	// yieldPoll is how often it checks that.
	yieldPoll = 100 * time.Microsecond
	// ignoreTime is how long it does not wait any more if nobody took the lock.
	ignoreTime = 10 * yieldTime
)

// turns is how the writer of a process takes turns with other processes.
type turns struct {
	lock     *os.File
	patience time.Duration // yieldTime, unless a test has changed it
	// ignore is until when waiting processes are ignored, because one did not
	// take the lock. It may be suspended, or just slow on a busy machine: then
	// it needs another chance, even if some process is waiting all the time.
	ignore time.Time
}

func newTurns(lock *os.File) turns { return turns{lock: lock, patience: yieldTime} }

// othersWait reports whether another process waits for the write lock.
func (t *turns) othersWait() bool { return hasByteLocks && byteHeld(t.lock, waitingByte) }

// yield lets processes that are waiting take the write lock.
func (t *turns) yield() {
	for start := time.Now(); start.After(t.ignore); time.Sleep(yieldPoll) {
		if !t.othersWait() {
			return
		}
		if now := time.Now(); now.Sub(start) > t.patience {
			t.ignore = now.Add(ignoreTime)
		}
	}
}

// begin begins a transaction, if writing is allowed. It asks last, because the
// file can be replaced while begin waits for another process.
func (w *writer) begin() error {
	err := w.take()
	return cmp.Or(w.allowed(), err)
}

// take takes the write lock immediately, so that no later statement can find
// the file locked by another process. If one has it, take says that this
// process is waiting, and waits.
func (w *writer) take() error {
	w.turns.yield()
	err := w.conn.BusyTimeout(0)
	if err == nil {
		err = w.exec(beginWriting)
	}
	if err := w.conn.BusyTimeout(busyTimeout); err != nil {
		return err
	}
	if !errors.Is(err, sqlite3.BUSY) {
		return err
	}
	if hasByteLocks && holdByte(w.turns.lock, waitingByte) == nil {
		defer releaseByte(w.turns.lock, waitingByte)
	}
	return w.exec(beginWriting)
}
