package ratelimit

import (
	"context"
	"sync"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
)

// Limiter counts requests by client. Allowance that this process has reserved
// in the store is spent from memory, and requests in an exhausted window are
// refused from memory. Only otherwise does a request wait for the store,
// together with all others of its client.
type Limiter struct {
	reserve  Reserve
	giveBack Return
	ahead    func(limit int64) int64
	now      func() time.Time
	warn     Warn           // may be nil
	rounds   sync.WaitGroup // goroutines that call the store
	shards   [64]shard
}

// shard holds every 64th client, so that CPUs serving different clients rarely
// share a lock. The lock also guards the accounts: it is never held during
// I/O, and a request takes it once.
type shard struct {
	mu       sync.Mutex
	accounts map[access.ClientNo]*account
	sweepAt  int
	closed   bool
	_        [64]byte // avoids false sharing of the cache line
}

// sweepFloor is the number of accounts below which a shard is not swept.
const sweepFloor = 32

// New returns a limiter. ahead returns how many requests to reserve beyond
// those waiting: some if commits are expensive and one process serves; none if
// several nodes share the allowance and must be exact together. A process that
// is killed loses what it reserved in advance, at the client's expense.
func New(reserve Reserve, giveBack Return, ahead func(limit int64) int64, now func() time.Time) *Limiter {
	l := &Limiter{reserve: reserve, giveBack: giveBack, ahead: ahead, now: now}
	for i := range l.shards {
		l.shards[i].accounts = make(map[access.ClientNo]*account)
		l.shards[i].sweepAt = sweepFloor
	}
	return l
}

// Take counts one request of the client against limit. An error means that the
// store could not be reached, or that ctx ended while waiting; the request is
// then neither allowed nor counted, as far as this process can tell.
func (l *Limiter) Take(ctx context.Context, client access.ClientNo, limit int64) (Decision, error) {
	now := l.now()
	sh := l.shard(client)
	sh.mu.Lock()
	a := sh.accounts[client]
	if a != nil {
		if d, known := a.take(limit, now); known {
			if a.news != 0 {
				l.tell(ctx, sh, client, a)
			}
			sh.mu.Unlock()
			return d, nil
		}
	}
	return l.wait(ctx, sh, client, a, limit, now)
}

// Peek returns the state of the client's window as far as this process knows,
// for responses that are not counted. It never calls the store.
func (l *Limiter) Peek(client access.ClientNo, limit int64) Decision {
	now := l.now()
	sh := l.shard(client)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	a := sh.accounts[client]
	if a == nil || !now.Before(a.end) {
		return unopened(limit, now)
	}
	return decide(a.spent() < limit, limit, a.spent(), endOf(a.end, now), now)
}

// wait joins the client's next round and waits for its outcome. It must be
// called with the shard locked, and unlocks it.
func (l *Limiter) wait(ctx context.Context, sh *shard, client access.ClientNo, a *account, limit int64, now time.Time) (Decision, error) {
	if err := ctx.Err(); err != nil {
		sh.mu.Unlock()
		return Decision{}, err
	}
	if sh.closed {
		sh.mu.Unlock()
		return Decision{}, fault.Away("The service is shutting down.", nil)
	}
	if a == nil {
		a = sh.open(client, now)
	}
	r, i := a.join(limit)
	if !a.served {
		a.served = true
		// Detached: the first caller may leave, which must not fail the others
		// of the round.
		detached := context.WithoutCancel(ctx)
		l.rounds.Go(func() { l.serve(detached, sh, client, a) })
	}
	sh.mu.Unlock()

	select {
	case <-r.done:
		return r.outcome(i)
	case <-ctx.Done():
		sh.mu.Lock()
		a.leave(r, i)
		sh.mu.Unlock()
		return Decision{}, ctx.Err()
	}
}

func (l *Limiter) shard(client access.ClientNo) *shard {
	return &l.shards[uint64(client)%uint64(len(l.shards))]
}

// open adds an account. Expired ones are swept whenever the shard has doubled
// since the last sweep, which costs O(1) per new account and keeps at most
// twice the live ones.
func (sh *shard) open(client access.ClientNo, now time.Time) *account {
	if len(sh.accounts) >= sh.sweepAt {
		for c, a := range sh.accounts {
			if !a.served && !now.Before(a.end) {
				delete(sh.accounts, c)
			}
		}
		sh.sweepAt = max(sweepFloor, 2*len(sh.accounts))
	}
	a := new(account)
	sh.accounts[client] = a
	return a
}
