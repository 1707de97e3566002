package engine

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// openReaders opens the given number of readers on a new file.
func openReaders(t *testing.T, most int) *readers {
	t.Helper()
	path := filepath.Join(t.TempDir(), "readers.db")
	r := newReaders(most)
	for range most {
		c, err := openConn(path, sqlite3.OPEN_READWRITE|sqlite3.OPEN_CREATE)
		if err != nil {
			t.Fatal(err)
		}
		r.give(c)
	}
	return r
}

func (r *readers) must(t *testing.T) *sqliteConn {
	t.Helper()
	c, err := r.take(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestReaderGivenBackLastIsTakenFirst(t *testing.T) {
	r := openReaders(t, 3)
	a, b := r.must(t), r.must(t)
	if a == b {
		t.Fatal("one reader was given to two")
	}
	r.give(b)
	r.give(a)
	if first, second, third := r.must(t), r.must(t), r.must(t); first != a || second != b || third == a || third == b {
		t.Errorf("took %p, %p, %p after %p and %p were given back", first, second, third, b, a)
	} else {
		r.give(first)
		r.give(second)
		r.give(third)
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
}

func TestWaitForReaderEnds(t *testing.T) {
	r := openReaders(t, 1)
	only := r.must(t)

	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := r.take(gone, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("one who has gone got %v", err)
	}
	if _, err := r.take(t.Context(), time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one who waited long enough got %v", err)
	}

	taken := make(chan *sqliteConn)
	go func() {
		c, err := r.take(context.Background(), 0)
		if err != nil {
			t.Error(err)
		}
		taken <- c
	}()
	r.give(only)
	if c := <-taken; c != only {
		t.Errorf("took %p, want %p", c, only)
	}
	r.give(only)

	if err := r.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.take(t.Context(), 0); !errors.Is(err, errClosed) {
		t.Errorf("after the end: %v", err)
	}
}
