package server

import (
	"fmt"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

// Nodes without requests hardly use the database: the elected one tells the
// others that it is alive, and they wait.
func TestIdleNodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ nodes, perSecond int64 }{{1, 2}, {10, 4}} {
		t.Run(fmt.Sprint(c.nodes), func(t *testing.T) {
			t.Parallel()
			idle(t, c.nodes, c.perSecond)
		})
	}
}

func idle(t *testing.T, count, perSecond int64) {
	cfg := storetest.Database(t, "postgres")
	watcher := storetest.Start(t, storetest.Node(t, cfg)) // has no workers
	var nodes []*store.Store
	for range count {
		nodes = append(nodes, serve(t, "--database", cfg.Database, "--data-dir", storetest.Node(t, cfg).DataDir, "--node-listen", "127.0.0.1:0").Store())
	}
	testwait.Until(t, "one node is elected and the others rely on it", func() bool {
		duties := map[engine.Duty]int64{}
		for _, s := range nodes {
			duties[s.System().Duty()]++
		}
		return duties[engine.Leading] == 1 && duties[engine.Following] == count-1
	})
	// PostgreSQL counts the transactions of a session when it has been idle for
	// ten seconds, so the first counts are those of the start.
	const measured = 5 * time.Second
	total := func() int64 {
		return storetest.Number(t, watcher, `SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()`)
	}
	began, before := time.Now(), total()
	testwait.Until(t, fmt.Sprintf("%d nodes make at most %d transactions a second", count, perSecond), func() bool {
		for time.Since(began) < measured {
			time.Sleep(measured - time.Since(began))
		}
		now := total()
		made := now - before
		began, before = time.Now(), now
		t.Logf("%d transactions in %v", made, measured)
		return made <= perSecond*int64(measured/time.Second)
	})
	own := storetest.Number(t, watcher, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND (query LIKE 'LISTEN%' OR pid IN
		(SELECT pid FROM pg_locks WHERE locktype = 'advisory'))`)
	if own > 3*count {
		t.Errorf("%d connections beside the pools of %d nodes", own, count)
	}
}
