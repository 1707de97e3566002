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
	claim    Claim
	start    func() // starts claims
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
	return NewClaiming(reserve.claim, func() {}, giveBack, ahead, now)
}

// NewClaiming is New for a store that makes claims together. start starts those
// that it has held back.
func NewClaiming(claim Claim, start func(), giveBack Return, ahead func(limit int64) int64, now func() time.Time) *Limiter {
	l := &Limiter{claim: claim, start: start, giveBack: giveBack, ahead: ahead, now: now}
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
	return l.TakeAll(ctx, client, limit, 1)
}

// TakeAll counts n requests of the client, all or none of them.
func (l *Limiter) TakeAll(ctx context.Context, client access.ClientNo, limit, n int64) (Decision, error) {
	t, err := l.Begin(ctx, client, limit, n)
	if err != nil {
		return Decision{}, err
	}
	return t.Await(ctx)
}

// Ticket stands for requests that are being counted. The zero value stands for
// none.
type Ticket struct {
	limiter  *Limiter
	shard    *shard
	account  *account
	round    *round // nil if the decision is known
	place    int
	decision Decision
}

// Begin begins to count n requests without waiting for the store. The caller must
// call Await, which may be what makes the store count. Lookups that are made in
// the meantime are sent in the same message.
func (l *Limiter) Begin(ctx context.Context, client access.ClientNo, limit, n int64) (Ticket, error) {
	now := l.now()
	sh := l.shard(client)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	a := sh.accounts[client]
	if a != nil {
		if d, known := a.take(limit, n, now); known {
			if a.news != 0 {
				l.tell(ctx, sh, client, a)
			}
			return Ticket{decision: d}, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return Ticket{}, err
	}
	if sh.closed {
		return Ticket{}, fault.Away("The service is shutting down.", nil)
	}
	if a == nil {
		a = sh.open(client, now)
	}
	r, i := a.join(limit, n)
	if !a.served {
		a.served = true
		l.serve(ctx, sh, client, a)
	}
	return Ticket{limiter: l, shard: sh, account: a, round: r, place: i}, nil
}

// Known reports whether Await will not wait for the store.
func (t *Ticket) Known() bool { return t.round == nil }

// Await returns the decision, as Take does.
func (t *Ticket) Await(ctx context.Context) (Decision, error) {
	if t.round == nil {
		return t.decision, nil
	}
	select {
	case <-t.round.done: // with what was asked in the meantime
		return t.round.outcome(t.place)
	default:
	}
	t.limiter.start()
	select {
	case <-t.round.done:
		return t.round.outcome(t.place)
	case <-ctx.Done():
		t.shard.mu.Lock()
		t.account.leave(t.round, t.place)
		t.shard.mu.Unlock()
		return Decision{}, ctx.Err()
	}
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
