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

// The coordinator of a Citus cluster plans each statement again, and can combine
// lookups of one organisation only. If a node can connect to the workers, it
// therefore sends lookups to the worker that has the rows, in rounds for all
// organisations there. If that fails in any way, or the rows have moved, the
// lookup is made by the coordinator, as if there were no connection.

// findAgain is how long the shard of an organisation is not looked for again.
const findAgain = 10 * time.Second

// errDetour is the error of lookups that the coordinator has to make.
var errDetour = errors.New("the coordinator has to be asked")

// direct makes lookups on the workers.
type direct struct {
	e    *postgresEngine
	cfg  *pgxpool.Config // of connections to the coordinator
	ctx  context.Context // ends when the engine is closed
	stop context.CancelFunc
	done sync.WaitGroup

	mu      sync.Mutex
	orgs    map[int64]*home
	shards  map[int64]*shard
	workers map[string]*workerLink
	wanted  []int64 // organisations whose shards find looks for
	finding bool
}

// home is where the rows of an organisation are.
type home struct {
	shard *shard    // nil if not known
	again time.Time // when to look for it again, if its worker cannot be asked, or it has moved
}

func newDirect(e *postgresEngine, cfg *pgxpool.Config) *direct {
	d := &direct{e: e, cfg: cfg, orgs: map[int64]*home{}, shards: map[int64]*shard{}, workers: map[string]*workerLink{}}
	d.ctx, d.stop = context.WithCancel(context.Background())
	return d
}

// close waits until nothing is under way, and closes all connections.
func (d *direct) close() {
	d.mu.Lock()
	d.stop()
	d.mu.Unlock()
	d.done.Wait()
	for _, w := range d.workers {
		w.pool.Close()
	}
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
		all = append(all, w.pool)
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
	q.sql, q.shard = sql, s.id
	f, err = s.worker.rounds.Do(ctx, q)
	return f, cmp.Or(err, f.err)
}

// shardOf returns the shard of an organisation if its worker can be asked.
// Otherwise, it may start to look for it.
func (d *direct) shardOf(org int64) *shard {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.orgs[org]
	if at == nil {
		at = &home{}
		d.orgs[org] = at
	}
	if at.shard != nil && at.shard.worker.usable() {
		return at.shard
	}
	if time.Now().After(at.again) { // another server may have taken the place of the worker
		at.again = time.Now().Add(findAgain)
		if d.wanted = append(d.wanted, org); !d.finding {
			d.finding = true
			d.begin(d.find)
		}
	}
	return nil
}

// find looks for the shards of organisations, as long as any are wanted.
func (d *direct) find() {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer func() { d.finding = false }()
	for len(d.wanted) > 0 && d.ctx.Err() == nil {
		orgs := d.wanted
		d.wanted = nil
		d.mu.Unlock()
		err := d.findShards(orgs)
		d.mu.Lock()
		if err != nil {
			d.e.log.Debug("cannot find out where organisations are on the Citus cluster; it is tried again", "error", err)
		}
	}
}

// findShards looks for the shards of some organisations.
func (d *direct) findShards(orgs []int64) error {
	ctx, cancel := context.WithTimeout(d.ctx, connectTime)
	defer cancel()
	shards, err := d.e.shardsOf(ctx, orgs)
	if err != nil {
		return err
	}
	unknown := d.unknown(shards)
	places, err := d.e.locate(ctx, unknown)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, id := range unknown {
		delete(d.shards, id)
	}
	for id, at := range places {
		if at.address == "" {
			continue
		}
		w, err := d.workerAt(at.address)
		if err != nil {
			return err
		}
		d.shards[id] = &shard{id: id, worker: w, tables: at.tables}
	}
	for org, id := range shards {
		d.orgs[org].shard = d.shards[id] // nil if it is not on one worker
	}
	return nil
}

// unknown returns the shards that are not known yet, or are on workers that cannot
// be asked.
func (d *direct) unknown(shards map[int64]int64) (ids []int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, id := range shards {
		if s := d.shards[id]; (s == nil || !s.worker.reachable) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// workerAt returns the worker with an address.
func (d *direct) workerAt(address string) (w *workerLink, err error) {
	if w = d.workers[address]; w == nil {
		if w, err = d.newWorker(address); err == nil {
			d.workers[address] = w
			w.usable() // connects
		}
	}
	return w, err
}

// forget has the shard of an organisation looked for again, because it has moved.
func (d *direct) forget(org int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if at := d.orgs[org]; at != nil && at.shard != nil {
		delete(d.shards, at.shard.id) // its tables may have changed
		at.shard = nil
	}
}
