package engine_test

import (
	"sync"
	"sync/atomic"
	"testing"

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
	})
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
