package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// SQLite never shrinks the write-ahead log on its own: a log that grew to
// gigabytes, because a backup or another long read prevented checkpoints, would
// keep its size. There are two remedies: the writer truncates the log to
// logKeep when it restarts it, and a keeper shrinks it if nobody writes or if
// readers never let the writer restart it.
const (
	// logKeep is the size that stays on disk. Overwriting is faster than
	// growing the file, and an ordinary log has 16 MB.
	logKeep = 64 << 20
	// logPages is the size of the log, in pages, from which the writer copies it
	// into the file. bulkPages is that of a process that writes much: pages that
	// it changes again and again are copied less often.
	logPages  = 4000
	bulkPages = logKeep / framePage
	// logRound is how often the keeper checks the log.
	logRound = 10 * time.Second
	// logPause bounds how long writes wait for current readers while the log is
	// truncated. New readers do not need it.
	logPause = 25 * time.Millisecond
)

// logKeeper keeps the write-ahead log of an engine small.
type logKeeper struct {
	path string // of the log
	stop context.CancelFunc
	done sync.WaitGroup
}

func (e *sqliteEngine) keepLog(path string) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // SQLite places the log next to the target of a symbolic link
	}
	ctx, stop := context.WithCancel(context.Background())
	e.keeper = &logKeeper{path: path + "-wal", stop: stop}
	e.keeper.done.Go(func() {
		rounds := time.NewTicker(logRound)
		defer rounds.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-rounds.C:
				_ = e.shrinkLog(ctx) // retried in the next round
			}
		}
	})
}

// close waits for the round in progress.
func (k *logKeeper) close() {
	k.stop()
	k.done.Wait()
}

// size returns the size of the log, or 0 if there is none.
func (k *logKeeper) size() int64 {
	info, err := os.Stat(k.path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// shrinkLog truncates a log that is larger than logKeep. A reader does the
// copying, concurrently with writes; the writer only truncates what has been
// copied, and gives up if a reader still needs it.
func (e *sqliteEngine) shrinkLog(ctx context.Context) error {
	if e.keeper.size() <= logKeep {
		return nil
	}
	r, err := e.readers.take(ctx, 0)
	if err != nil {
		return err
	}
	copied, err := r.checkpoint("PASSIVE")
	e.readers.give(r)
	if err != nil || !copied {
		return err // a reader needs an older state
	}
	return e.writer.aside(ctx, func(w *sqliteConn) error {
		err := w.BusyTimeout(logPause)
		if err == nil {
			_, err = w.checkpoint("TRUNCATE")
		}
		return errors.Join(err, w.BusyTimeout(busyTimeout))
	})
}

// checkpoint copies the log into the file as far as readers allow, and reports
// whether that was all of it.
func (c *sqliteConn) checkpoint(mode string) (all bool, err error) {
	tx := &sqliteTx{conn: c}
	err = tx.Query(`PRAGMA wal_checkpoint(`+mode+`)`, func(r Row) error {
		busy, frames, copied := r.Int(0), r.Int(1), r.Int(2)
		all = busy == 0 && frames == copied
		return nil
	})
	if errors.Is(err, sqlite3.BUSY) || errors.Is(err, sqlite3.LOCKED) {
		return false, nil
	}
	return all, err
}

// copyAt returns the pragma that copies the log into the file when it has a
// number of pages.
func copyAt(pages int) string { return fmt.Sprintf("wal_autocheckpoint = %d", pages) }

// expectBulk prepares the writer for much data.
func (e *sqliteEngine) expectBulk(ctx context.Context) error {
	return e.writer.aside(ctx, func(w *sqliteConn) error {
		w.bulk = true
		return w.pragma(copyAt(bulkPages))
	})
}

// keepOf returns the pragma that truncates the log to size bytes when it is
// restarted.
func keepOf(size int) string { return fmt.Sprintf("journal_size_limit = %d", size) }
