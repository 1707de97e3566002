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

// SQLite never gives space in the write-ahead log back by itself: a log that
// grew to gigabytes, because a backup or another long reader kept it from being
// copied into the file, would stay as large. Two things make it small again:
// the writer cuts it to logKeep when it begins it anew, and a keeper looks
// after it where nobody writes, or readers never leave the writer a moment to
// begin anew.
const (
	// logKeep is what stays on the disk. Writing over what is there is faster
	// than growing the file, and an ordinary log has 16 MB.
	logKeep = 64 << 20
	// logRound is how often the keeper looks.
	logRound = 10 * time.Second
	// logPause bounds how long writes wait for the readers of the moment while
	// the log is emptied. Those that come meanwhile do not need it.
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
		path = real // SQLite keeps it beside the file, not beside a link to it
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
				_ = e.shrinkLog(ctx) // the next round tries again
			}
		}
	})
}

// close waits for the round under way.
func (k *logKeeper) close() {
	k.stop()
	k.done.Wait()
}

// size is that of the log, and 0 when there is none.
func (k *logKeeper) size() int64 {
	info, err := os.Stat(k.path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// shrinkLog empties a log that is larger than it should stay. The copying is
// done by a reader, beside those who write; the writer only empties what has
// been copied, and gives up where a reader needs it.
func (e *sqliteEngine) shrinkLog(ctx context.Context) error {
	if e.keeper.size() <= logKeep {
		return nil
	}
	r, err := e.readers.take(ctx)
	if err != nil {
		return err
	}
	copied, err := r.checkpoint("PASSIVE")
	e.readers.give(r)
	if err != nil || !copied {
		return err // somebody reads what is older than all of it
	}
	return e.writer.aside(ctx, func(w *sqliteConn) error {
		err := w.BusyTimeout(logPause)
		if err == nil {
			_, err = w.checkpoint("TRUNCATE")
		}
		return errors.Join(err, w.BusyTimeout(busyTimeout))
	})
}

// checkpoint copies the log into the file, as far as readers allow it, and
// reports whether that was all of it.
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

// keepOf is the pragma for a log that is cut to so many bytes when it is begun
// anew.
func keepOf(size int) string { return fmt.Sprintf("journal_size_limit = %d", size) }
