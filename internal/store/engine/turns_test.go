package engine

import (
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"anodyne.example/anodyne/internal/testneed"
)

// otherWriter starts a writer like that of another process.
func otherWriter(t *testing.T, busy *bench, allowed func() error) *writer {
	t.Helper()
	path := busy.eyes.Filename("main").String()
	conn, err := openConn(path, sqlite3.OPEN_READWRITE)
	if err != nil {
		t.Fatal(err)
	}
	lock, err := shareDatabase(path)
	if err != nil {
		t.Fatal(err)
	}
	other := startWriter(conn, lock, allowed, busy.metrics, nil)
	t.Cleanup(func() {
		if err := errors.Join(other.close(), lock.Close()); err != nil {
			t.Error(err)
		}
	})
	return other
}

// A write of another process that waits gets its turn before the next one of a
// process that writes without a pause.
func TestTurns(t *testing.T) {
	busy := newBench(t)
	other := otherWriter(t, busy, always)
	if !hasByteLocks {
		testneed.Skip(t, "this system does not support open file description locks")
	}
	busy.turns.patience = time.Minute
	go busy.loop()
	defer func() {
		close(busy.closing)
		<-busy.done
	}()
	done := make(chan error, 1)
	err := busy.do(t.Context(), func(Tx) error {
		go func() { done <- other.do(t.Context(), keep("other")) }()
		for !busy.turns.othersWait() {
			runtime.Gosched()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	found := false
	err = busy.do(t.Context(), func(tx Tx) (err error) {
		found, err = One(tx, `SELECT 1 FROM kept WHERE name = 'other'`, func(Row) {})
		return err
	})
	if !found || err != nil {
		t.Errorf("the other process had its turn: %v; %v", found, err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A process that is stopped while it waits delays the others only now and then,
// and hides from them for a short time only that another one is waiting too.
func TestStoppedProcessInLine(t *testing.T) {
	b := newBench(t)
	lock, err := shareDatabase(b.eyes.Filename("main").String())
	if err != nil {
		t.Fatal(err)
	}
	if !hasByteLocks {
		testneed.Skip(t, "this system does not support open file description locks")
	}
	if err := holdByte(lock, waitingByte); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	b.turns.yield()
	first := b.turns.ignore
	if first.Before(began.Add(b.turns.patience + ignoreTime)) {
		t.Error("the next write would wait for it again")
	}
	b.turns.ignore = first.Add(time.Hour)
	if b.turns.yield(); b.turns.ignore != first.Add(time.Hour) {
		t.Error("it was not ignored")
	}
	b.turns.ignore = time.Time{} // later
	if b.turns.yield(); !b.turns.ignore.After(first) {
		t.Error("it gets no other chance")
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	b.turns.ignore = time.Time{}
	if b.turns.yield(); !b.turns.ignore.IsZero() {
		t.Error("it is waited for although it is gone")
	}
}

// A write that waits for another process is not made if the file is replaced
// meanwhile: nobody would find it again.
func TestReplacedWhileWaiting(t *testing.T) {
	busy := newBench(t)
	var replaced atomic.Bool
	other := otherWriter(t, busy, func() error {
		if replaced.Load() {
			return errReplaced
		}
		return nil
	})
	if !hasByteLocks {
		testneed.Skip(t, "this system does not support open file description locks")
	}
	done := make(chan error, 2)
	first := busy.queue(t.Context(), func(Tx) error {
		for _, name := range []string{"first", "second"} {
			go func() { done <- other.do(t.Context(), keep(name)) }()
		}
		for !busy.turns.othersWait() || len(other.jobs) == 0 { // one waits for the lock, the other behind it
			runtime.Gosched()
		}
		replaced.Store(true)
		return nil
	})
	busy.work()
	if err := busy.answer(first); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := <-done; !errors.Is(err, errReplaced) {
			t.Errorf("a write to a file that was replaced: %v", err)
		}
	}
	replaced.Store(false) // the file is back
	if err := other.do(t.Context(), keep("third")); err != nil {
		t.Error(err)
	}
	if names := busy.kept(); !slices.Equal(names, []string{"third"}) {
		t.Errorf("kept: %v", names)
	}
}
