package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"anodyne.example/anodyne/internal/fault"
)

// bench is a writer on a file with a few tables, and a second connection that
// sees what is committed.
type bench struct {
	*writer
	t    *testing.T
	eyes *sqliteConn
}

// always allows writes.
func always() error { return nil }

// newBench returns a writer that does not run: the test calls batch itself, so
// that it controls the members of a batch. No batch ends because time is up.
func newBench(t *testing.T) *bench {
	t.Helper()
	path := filepath.Join(t.TempDir(), "writer.db")
	conn, err := openConn(path, sqlite3.OPEN_READWRITE|sqlite3.OPEN_CREATE, "journal_mode = wal", "foreign_keys = on")
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Exec(`
		CREATE TABLE kept (name TEXT PRIMARY KEY);
		CREATE TABLE child (parent TEXT REFERENCES kept DEFERRABLE INITIALLY DEFERRED);
		CREATE TRIGGER poison BEFORE INSERT ON kept WHEN new.name = 'poison' BEGIN SELECT RAISE(ROLLBACK, 'poisoned'); END`); err != nil {
		t.Fatal(err)
	}
	eyes, err := openConn(path, sqlite3.OPEN_READWRITE)
	if err != nil {
		t.Fatal(err)
	}
	lock, err := shareDatabase(path)
	if err != nil {
		t.Fatal(err)
	}
	w := &writer{conn: conn, allowed: always, turns: newTurns(lock), jobs: make(chan *job, 1024), closing: make(chan struct{}), done: make(chan struct{}), accepts: time.Hour, metrics: newWriterMetrics(nil)}
	t.Cleanup(func() {
		if err := errors.Join(conn.close(), eyes.close(), lock.Close()); err != nil {
			t.Error(err)
		}
	})
	return &bench{w, t, eyes}
}

// queue queues a write.
func (b *bench) queue(ctx context.Context, fn func(Tx) error) *job {
	j := &job{ctx: ctx, fn: fn, answer: make(chan error, 1)}
	b.jobs <- j
	return j
}

// work runs all queued writes.
func (b *bench) work() {
	for len(b.jobs) > 0 {
		b.batch(<-b.jobs)
	}
	if !b.conn.GetAutocommit() {
		b.t.Error("a transaction is left open")
	}
}

// answer returns the result that the job's caller got.
func (b *bench) answer(j *job) error {
	b.t.Helper()
	select {
	case err := <-j.answer:
		return err
	default:
		b.t.Error("a write was not answered")
		return nil
	}
}

// kept lists what the second connection sees.
func (b *bench) kept() (names []string) {
	b.t.Helper()
	tx := sqliteTx{conn: b.eyes}
	if err := tx.Query(`SELECT name FROM kept ORDER BY name`, func(r Row) error {
		names = append(names, r.Text(0))
		return nil
	}); err != nil {
		b.t.Fatal(err)
	}
	return names
}

func keep(name string) func(Tx) error {
	return func(tx Tx) error {
		_, err := tx.Exec(`INSERT INTO kept (name) VALUES ($1)`, name)
		return err
	}
}

// Each of these runs after and before a successful write and affects neither,
// wherever it is in a batch.
func TestBatchMemberHarmsNobody(t *testing.T) {
	refused := errors.New("refused")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		fn      func(b *bench, run int) func(Tx) error
		failure string // part of the member's error; "" if it succeeds
		ends    bool   // whether it runs to its end first
	}{
		"fails after writing": {func(*bench, int) func(Tx) error {
			return func(tx Tx) error { return errors.Join(keep("bad")(tx), refused) }
		}, "refused", false},
		"panics after writing": {func(*bench, int) func(Tx) error {
			return func(tx Tx) error { _ = keep("bad")(tx); panic("a bug") }
		}, "panic in a write: a bug", false},
		"panics in the middle of a statement": {func(*bench, int) func(Tx) error {
			return func(tx Tx) error {
				return tx.Query(`INSERT INTO kept (name) VALUES ('bad'), ('worse') RETURNING name`, func(Row) error { panic("a bug") })
			}
		}, "panic in a write: a bug", false},
		"breaks off in the middle of a statement": {func(*bench, int) func(Tx) error {
			return func(tx Tx) error {
				return tx.Query(`INSERT INTO kept (name) VALUES ('bad'), ('worse') RETURNING name`, func(Row) error { return refused })
			}
		}, "refused", false},
		"fails in what it put off": {func(*bench, int) func(Tx) error {
			return func(tx Tx) error {
				tx.Last(Stmt{SQL: `INSERT INTO kept (name) VALUES ('bad')`}, Stmt{SQL: `INSERT INTO kept (name) VALUES ('first')`})
				return nil
			}
		}, "UNIQUE", false},
		"kills the transaction": {func(*bench, int) func(Tx) error {
			return func(tx Tx) error { return errors.Join(keep("bad")(tx), keep("poison")(tx)) }
		}, "poisoned", false},
		"fails only at the commit": {func(*bench, int) func(Tx) error {
			return func(tx Tx) error {
				_, err := tx.Exec(`INSERT INTO child (parent) VALUES ('nobody')`)
				return errors.Join(keep("bad")(tx), err)
			}
		}, "FOREIGN KEY", false},
		"runs into the deadline": {func(b *bench, run int) func(Tx) error {
			return func(tx Tx) error {
				if run == 1 {
					b.conn.SetInterrupt(cancelled)
				}
				return keep("good")(tx)
			}
		}, "", false},
		"runs into the deadline at its end": {func(b *bench, run int) func(Tx) error {
			return func(tx Tx) error {
				err := keep("good")(tx)
				if run == 1 {
					b.conn.SetInterrupt(cancelled)
				}
				return err
			}
		}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, batch := range []string{"between", "first", "alone"} {
				b := newBench(t)
				want := []string{"first", "last"}
				var first, last *job
				first = b.queue(t.Context(), keep("first"))
				if batch != "between" {
					b.work()
				}
				runs := 0
				member := b.queue(t.Context(), func(tx Tx) error {
					if len(first.answer) > 0 != (batch != "between") {
						t.Error("a write was answered before its batch was committed")
					}
					runs++
					return c.fn(b, runs)(tx)
				})
				if batch == "alone" {
					b.work()
				}
				last = b.queue(t.Context(), keep("last"))
				b.work()

				if err := errors.Join(b.answer(first), b.answer(last)); err != nil {
					t.Errorf("the others got %v", err)
				}
				err := b.answer(member)
				switch {
				case c.failure != "":
					if err == nil || !strings.Contains(err.Error(), c.failure) {
						t.Errorf("it got %v, want %q", err, c.failure)
					}
				case batch == "alone" || batch == "first" && !c.ends: // there are no other members yet, with which it would run again
					if !errors.Is(err, sqlite3.INTERRUPT) {
						t.Errorf("it got %v, want an interrupt", err)
					}
				default:
					want = append(want, "good")
					if err != nil {
						t.Errorf("it got %v", err)
					}
				}
				slices.Sort(want)
				if got := b.kept(); !slices.Equal(got, want) {
					t.Errorf("%s: kept %v, want %v", batch, got, want)
				}
			}
		})
	}
}

func TestCancelledMembers(t *testing.T) {
	b := newBench(t)
	running, cancelRunning := context.WithCancel(t.Context())
	queued, cancelQueued := context.WithCancel(t.Context())
	first := b.queue(t.Context(), keep("first"))
	second := b.queue(running, func(tx Tx) error {
		cancelRunning()
		cancelQueued()
		return keep("running")(tx)
	})
	third := b.queue(queued, func(Tx) error {
		t.Error("a write whose caller had gone was run")
		return nil
	})
	last := b.queue(t.Context(), keep("last"))
	b.work()
	if err := errors.Join(b.answer(first), b.answer(second), b.answer(last)); err != nil {
		t.Error(err)
	}
	if len(third.answer) > 0 {
		t.Error("a write that was not run was answered")
	}
	if got, want := b.kept(), []string{"first", "last", "running"}; !slices.Equal(got, want) {
		t.Errorf("kept %v, want %v", got, want)
	}
}

// A caller that leaves while the writer is busy with others returns at once,
// and one whose context has ended is not queued.
func TestCallerGoesWhileQueued(t *testing.T) {
	b := newBench(t)
	go b.loop()
	ctx, cancel := context.WithCancel(t.Context())
	never := func(Tx) error {
		t.Error("the write was run")
		return nil
	}
	err := b.do(t.Context(), func(tx Tx) error {
		time.AfterFunc(0, func() {
			for len(b.jobs) == 0 {
				runtime.Gosched()
			}
			cancel()
		})
		if err := b.do(ctx, never); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if err := b.do(ctx, never); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		return keep("first")(tx)
	})
	if err != nil {
		t.Error(err)
	}
	close(b.closing)
	<-b.done
}

func TestCloseFinishesWhatIsQueued(t *testing.T) {
	b := newBench(t)
	var names []string
	var jobs []*job
	for i := range 700 { // more than a batch
		names = append(names, fmt.Sprintf("%03d", i))
		jobs = append(jobs, b.queue(t.Context(), keep(names[i])))
	}
	go b.loop()
	close(b.closing)
	<-b.done
	for _, j := range jobs {
		if err := b.answer(j); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.kept(); !slices.Equal(got, names) {
		t.Errorf("%d of %d are kept", len(got), len(names))
	}
	if err := b.do(t.Context(), keep("late")); !fault.Is(err, fault.Unavailable) {
		t.Errorf("after the end: %v", err)
	}
}

func TestCloseTwiceWhileWriting(t *testing.T) {
	b := newBench(t)
	conn, err := openConn(b.eyes.Filename("main").String(), sqlite3.OPEN_READWRITE)
	if err != nil {
		t.Fatal(err)
	}
	w := startWriter(conn, b.turns.lock, always, b.metrics, nil)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var acknowledged []string
	for i := range 32 {
		wg.Go(func() {
			for j := range 1000 {
				name := fmt.Sprint(i, "-", j)
				err := w.do(t.Context(), keep(name))
				if err != nil {
					if !fault.Is(err, fault.Unavailable) {
						t.Error(err)
					}
					return
				}
				mu.Lock()
				acknowledged = append(acknowledged, name)
				mu.Unlock()
			}
		})
	}
	for { // until they are running
		mu.Lock()
		n := len(acknowledged)
		mu.Unlock()
		if n > 40 {
			break
		}
		runtime.Gosched()
	}
	for range 2 {
		if err := w.close(); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
	slices.Sort(acknowledged)
	if got := b.kept(); !slices.Equal(got, acknowledged) {
		t.Errorf("%d are kept, %d were acknowledged", len(got), len(acknowledged))
	}
}

// Acknowledged writes are visible to everybody at once.
func TestAnsweredIsCommitted(t *testing.T) {
	b := newBench(t)
	go b.loop()
	var wg sync.WaitGroup
	var mu sync.Mutex
	for i := range 64 {
		wg.Go(func() {
			for j := range 5 {
				name := fmt.Sprint(i, "-", j)
				if err := b.do(t.Context(), keep(name)); err != nil {
					t.Error(err)
				}
				mu.Lock()
				if !slices.Contains(b.kept(), name) {
					t.Errorf("%s was answered, but is not there", name)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	close(b.closing)
	<-b.done
}
