package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// The coordinator of a Citus cluster plans every statement anew, and can combine
// lookups of one organisation only. If a node can connect to the workers, it
// therefore sends lookups to the worker that has the rows, in rounds for all
// organisations there. If that fails in any way, or the rows have moved, the
// lookup is made by the coordinator, as if there were no connection.

const (
	// searchPause is the least time between two searches for shards, and findAgain
	// that between two for the same shard.
	searchPause, findAgain = time.Second, 10 * time.Second
)

// errDetour is the error of lookups that the coordinator has to make.
var errDetour = errors.New("the coordinator has to be asked")

// direct makes lookups on the workers.
type direct struct {
	e    *postgresEngine
	cfg  *pgxpool.Config // of connections to the coordinator
	ctx  context.Context // ends when the engine is closed
	stop context.CancelFunc
	done sync.WaitGroup

	mu        sync.Mutex
	homes     map[int64]int64 // the shards of organisations, or 0
	homeless  []int64         // organisations whose shard is not known
	shards    map[int64]*shard
	workers   map[string]*workerLink // nil for those that cannot be used
	searching bool
	next      time.Time // when to search again
}

func newDirect(e *postgresEngine, cfg *pgxpool.Config) *direct {
	d := &direct{e: e, cfg: cfg, homes: map[int64]int64{}, shards: map[int64]*shard{}, workers: map[string]*workerLink{}}
	d.ctx, d.stop = context.WithCancel(context.Background())
	return d
}

// close waits until nothing is under way. The pools are closed with the others.
func (d *direct) close() {
	d.mu.Lock()
	d.stop()
	d.mu.Unlock()
	d.done.Wait()
}

// begin runs a function beside the caller, unless the engine is closed. It must
// be called with the lock held.
func (d *direct) begin(fn func()) {
	if d.ctx.Err() == nil {
		d.done.Go(fn)
	}
}

// pools returns the pools of connections to the workers.
func (d *direct) pools() (all []*pgxpool.Pool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range d.workers {
		if w != nil {
			all = append(all, w.pool)
		}
	}
	return all
}

// do makes a lookup, whose first argument is the organisation, in the next round
// of its worker. It returns errDetour if the coordinator has to make it.
func (d *direct) do(ctx context.Context, org int64, q ask) (f found, err error) {
	s := d.shardOf(org)
	if s == nil {
		return f, errDetour
	}
	sql, ok := s.statement(q.sql)
	if !ok {
		return f, errDetour
	}
	q.sql, q.shard = sql, s
	f, err = s.worker.rounds.Do(ctx, q)
	return f, cmp.Or(err, f.err)
}

// shardOf returns the shard of an organisation if its worker can be asked.
// Otherwise, it may start a search.
func (d *direct) shardOf(org int64) *shard {
	d.mu.Lock()
	defer d.mu.Unlock()
	id, seen := d.homes[org]
	s := d.shards[id]
	if s != nil && s.usable() {
		return s
	}
	if !seen {
		d.homes[org] = 0
		d.homeless = append(d.homeless, org)
	}
	if now := time.Now(); !d.searching && now.After(d.next) && (s == nil || s.due(now)) {
		d.searching = true
		d.begin(d.search)
	}
	return nil
}

// search looks for the shards that organisations need and that are not known or
// cannot be used.
func (d *direct) search() {
	err := d.find()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.searching, d.next = false, time.Now().Add(searchPause)
	if err != nil && d.ctx.Err() == nil {
		d.next = time.Now().Add(findAgain)
		d.e.log.Info("cannot find out where organisations are on the Citus cluster; lookups are made by the coordinator, which costs more", "error", err)
	}
}

func (d *direct) find() error {
	ctx, cancel := context.WithTimeout(d.ctx, connectTime)
	defer cancel()
	d.mu.Lock()
	orgs := slices.Clone(d.homeless)
	d.mu.Unlock()
	homes, err := d.e.homes(ctx, orgs)
	if err != nil {
		return err
	}
	wanted := d.wanted(homes)
	places, err := d.e.locate(ctx, wanted)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for org, id := range homes {
		d.homes[org] = id
	}
	d.homeless = slices.DeleteFunc(d.homeless, func(org int64) bool { return d.homes[org] != 0 })
	for _, id := range wanted {
		if at := places[id]; at != nil {
			d.shards[id] = &shard{id: id, version: at.version, tables: at.tables, worker: d.workerAt(at.address), found: time.Now()}
		} else {
			d.leave(id)
		}
	}
	return nil
}

// wanted returns the shards of organisations that are not known yet, and those
// that are due.
func (d *direct) wanted(homes map[int64]int64) (ids []int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, id := range homes {
		if d.shards[id] == nil {
			ids = append(ids, id)
		}
	}
	now := time.Now()
	for id, s := range d.shards {
		if !s.usable() && s.due(now) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// leave forgets a shard that no longer exists. Its organisations are in others.
func (d *direct) leave(id int64) {
	delete(d.shards, id)
	for org, home := range d.homes {
		if home == id {
			d.homes[org] = 0
			d.homeless = append(d.homeless, org)
		}
	}
}

// workerAt returns the worker with an address, or nil if it cannot be used.
func (d *direct) workerAt(address string) *workerLink {
	if address == "" {
		return nil
	}
	w, known := d.workers[address]
	if !known {
		var err error
		if w, err = d.newWorker(address); err != nil {
			d.e.log.Info("lookups on a worker of the Citus cluster are made by the coordinator, which costs more", "worker", address, "error", err)
			w = nil
		}
		d.workers[address] = w
	}
	return w
}

// moved has a shard looked for again.
func (d *direct) moved(s *shard) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s.outdated = true
}
