package engine_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

// If the common transaction of many writes fails, they do not take all
// connections when each is made again.
func TestWritesOnTheirOwnLeaveConnections(t *testing.T) {
	t.Parallel()
	cfg := storetest.Database(t, storetest.Postgres)
	cfg.Patience = testwait.Bound
	s := storetest.Start(t, cfg)
	const writes = 40
	var alone atomic.Int64
	begun, first, rest := make(chan struct{}), make(chan struct{}), make(chan struct{})
	together := engine.NewTogether(s.Database(), func(_ engine.Tx, _ int64, list []int) {
		switch {
		case list[0] == 0:
			close(begun)
			<-first
		case len(list) > 1:
			panic("the transaction fails")
		default:
			alone.Add(1)
			<-rest
		}
	}, nil)
	var group sync.WaitGroup
	write := func(i int) {
		group.Go(func() {
			if err := together.Do(t.Context(), 1, i); err != nil {
				t.Errorf("write %d: %v", i, err)
			}
		})
	}
	write(0)
	<-begun
	for i := range writes {
		write(1 + i)
	}
	testwait.Until(t, "the others to wait", func() bool { return together.Waiting(1) == writes })
	close(first)
	testwait.Until(t, "some to be made again", func() bool { return alone.Load() >= 4 })
	for i := 0; i < 50 && alone.Load() == 4; i++ {
		storetest.Number(t, s, `SELECT count(*) FROM setting`)
	}
	if n := alone.Load(); n != 4 {
		t.Errorf("%d are made at once", n)
	}
	close(rest)
	group.Wait()
}

// A write that still waits for the writer when its context ends is not made.
func TestCombinedWritesDoNotWaitTooLong(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite)
	var made atomic.Int64
	together := engine.NewTogether(s.Database(), func(_ engine.Tx, _ int64, list []int) { made.Add(int64(len(list))) }, nil)
	err := s.Database().Write(t.Context(), func(engine.Tx) error {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		var group sync.WaitGroup
		for i := range 10 {
			group.Go(func() {
				if err := together.Do(ctx, 1, i); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("write %d: %v", i, err)
				}
			})
		}
		group.Wait()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := together.Do(t.Context(), 1, 10); err != nil || made.Load() != 1 {
		t.Errorf("%d writes were made, %v", made.Load(), err)
	}
}
