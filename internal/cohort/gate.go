package cohort

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"anodyne.example/anodyne/internal/fault"
)

const (
	// mostPasses is how many passes may run at a time. Passes without a
	// deadline, such as those of reports, may use one fewer, so that requests
	// are not blocked.
	mostPasses = 2
	// mostWaiting is how many callers with a deadline may wait for a pass to
	// start, half of them from one organisation.
	mostWaiting = 256
	// mostAsked is the maximum number of queries per pass.
	mostAsked = 64
	// leastWorking is the minimum memory for the queries of a pass, whatever
	// the limit.
	leastWorking = 4 << 20
	// logEvery is the minimum time between log messages about refused queries.
	logEvery = time.Minute
)

// gate admits passes. A pass reads all patients of an organisation that does
// not fit into memory. A limited number runs at a time; others wait. Callers
// whose query can be answered by a waiting pass join it, so that many
// concurrent queries are answered by one pass.
//
// A caller is refused if its deadline would expire; see [gate.startBy].
type gate struct {
	working int64 // memory for the queries of a pass, in bytes
	metrics *metrics

	mu      sync.Mutex
	log     *slog.Logger
	queue   []*pass // waiting passes, in order of arrival
	running map[*pass]struct{}
	// took is the minimum duration of the last pass.
	took map[place]time.Duration
	// refused counts refusals since the last log message.
	refused map[string]int
	logged  time.Time
}

// pass reads all patients once, for some queries. The fields after read are
// guarded by gate.mu.
type pass struct {
	place
	ctx    context.Context
	cancel context.CancelFunc
	read   func(ctx context.Context, jobs []any) error

	asked   []*asked // fixed once it runs
	bytes   int64
	callers int
	hurried bool // a caller has a deadline
	begun   bool
}

// asked is a query in a pass, from one or more callers.
type asked struct {
	key     string
	job     any // holds the result
	bytes   int64
	callers int
	done    chan struct{} // closed when the result or err is set
	err     error
}

func newGate(limit int64, m *metrics) *gate {
	return &gate{
		working: max(limit, leastWorking), metrics: m, log: slog.New(slog.DiscardHandler),
		running: map[*pass]struct{}{}, took: map[place]time.Duration{}, refused: map[string]int{},
	}
}

// demand describes a query.
type demand struct {
	place
	key   string // equal keys mean equal queries
	bytes int64  // approximate memory for the result
	job   func() any
	read  func(ctx context.Context, jobs []any) error
}

// ask answers a query with a pass that starts after the call, and returns its
// job. If all callers of a pass leave, the pass is cancelled.
func (g *gate) ask(ctx context.Context, d demand) (job any, err error) {
	p, a, err := g.join(ctx, d)
	if err != nil {
		return nil, err
	}
	var late <-chan time.Time
	if deadline, ok := ctx.Deadline(); ok {
		timer := time.NewTimer(time.Until(g.startBy(d.place, deadline)))
		defer timer.Stop()
		late = timer.C
	}
	for {
		select {
		case <-a.done:
			return a.job, a.err
		case <-late:
			if late = nil; g.leave(p, a, true) {
				return nil, g.refuse(d.place, waitedTooLong)
			}
		case <-ctx.Done():
			g.leave(p, a, false)
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return nil, g.refuse(d.place, tookTooLong)
			}
			return nil, ctx.Err()
		}
	}
}

// join finds a waiting pass that can also answer the query, or creates one.
func (g *gate) join(ctx context.Context, d demand) (*pass, *asked, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	_, hurried := ctx.Deadline()
	ours := func(p *pass) bool { return p.place.org == d.place.org }
	if hurried && (g.waiting(anyPass) >= mostWaiting || g.waiting(ours) >= mostWaiting/2) {
		return nil, nil, g.refused503(d.place, tooManyWait)
	}
	p, a := g.find(&d)
	if a == nil {
		a = &asked{key: d.key, job: d.job(), bytes: d.bytes, done: make(chan struct{})}
		if p == nil {
			p = &pass{place: d.place, read: d.read}
			// The pass keeps the values of the request's context, but not its
			// cancellation.
			p.ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
			g.queue = append(g.queue, p)
		}
		p.asked = append(p.asked, a)
		p.bytes += a.bytes
	}
	p.hurried = p.hurried || hurried
	p.callers++
	a.callers++
	g.metrics.streamed.Inc()
	g.dispatch()
	return p, a, nil
}

// find returns a pass that already has the query, or one with room for it.
func (g *gate) find(d *demand) (with *pass, a *asked) {
	for _, p := range g.queue {
		if p.place != d.place {
			continue
		}
		if i := slices.IndexFunc(p.asked, func(a *asked) bool { return a.key == d.key }); i >= 0 {
			return p, p.asked[i]
		}
		if with == nil && len(p.asked) < mostAsked && p.bytes+d.bytes <= g.working {
			with = p
		}
	}
	return with, nil
}

// leave removes a caller from its pass. If onlyWaiting is set, it does so only
// while the pass waits, and reports whether it did.
func (g *gate) leave(p *pass, a *asked, onlyWaiting bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p.begun && onlyWaiting {
		return false
	}
	p.callers--
	a.callers--
	if p.begun {
		if p.callers == 0 {
			p.cancel()
		}
		return true
	}
	if a.callers == 0 {
		p.asked = slices.DeleteFunc(p.asked, func(other *asked) bool { return other == a })
		p.bytes -= a.bytes
	}
	if p.callers == 0 {
		p.cancel()
		g.queue = slices.DeleteFunc(g.queue, func(other *pass) bool { return other == p })
	}
	g.dispatch()
	return true
}

// dispatch starts passes while there is room.
func (g *gate) dispatch() {
	for len(g.running) < mostPasses {
		i := g.next()
		if i < 0 {
			break
		}
		p := g.queue[i]
		g.queue = slices.Delete(g.queue, i, i+1)
		p.begun = true
		g.running[p] = struct{}{}
		go g.run(p)
	}
	g.metrics.waiting.Set(float64(g.waiting(anyPass)))
	g.metrics.running.Set(float64(len(g.running)))
}

// next returns the index of the next pass to start, or -1: the first one of an
// organisation with none running, so that an organisation with many queries
// does not block others, or else the first.
func (g *gate) next() int {
	unhurried, busy := 0, map[place]bool{}
	for p := range g.running {
		busy[p.place] = true
		if !p.hurried {
			unhurried++
		}
	}
	first := -1
	for i, p := range g.queue {
		if !p.hurried && unhurried >= mostPasses-1 {
			continue
		}
		if !busy[p.place] {
			return i
		}
		if first < 0 {
			first = i
		}
	}
	return first
}

// waiting returns the number of callers of some passes that have not started.
func (g *gate) waiting(which func(*pass) bool) (callers int) {
	for _, p := range g.queue {
		if which(p) {
			callers += p.callers
		}
	}
	return callers
}

func anyPass(*pass) bool { return true }

// run runs a pass and answers its callers.
func (g *gate) run(p *pass) {
	began := time.Now()
	jobs := make([]any, len(p.asked))
	for i, a := range p.asked {
		jobs[i] = a.job
	}
	err := contained(func() error { return p.read(p.ctx, jobs) })
	p.cancel()
	took := time.Since(began)
	g.mu.Lock()
	defer g.mu.Unlock()
	if err == nil {
		g.metrics.passes.Observe(took.Seconds())
	}
	if err == nil || took > g.took[p.place] { // a cancelled pass would take at least this long
		g.took[p.place] = took
	}
	delete(g.running, p)
	for _, a := range p.asked {
		a.err = err
		close(a.done)
	}
	g.dispatch()
}

// startBy returns when a pass must have started for a caller with a deadline,
// based on the duration of the last pass plus a margin. If the duration is
// unknown or longer than the time available, the pass is attempted anyway.
func (g *gate) startBy(at place, deadline time.Time) time.Time {
	g.mu.Lock()
	took := g.took[at]
	g.mu.Unlock()
	left := time.Until(deadline)
	return deadline.Add(-min(max(took+took/4, left/4), 3*left/4))
}

// The reasons for refusing a query.
const (
	tooManyWait   = "queue_full"
	waitedTooLong = "waited"
	tookTooLong   = "unfinished"
)

var refusals = map[string]string{
	tooManyWait:   "Too many queries for organisations that do not fit into memory are waiting; try again later, or create a report.",
	waitedTooLong: "Other queries for organisations that do not fit into memory are running; try again later, or create a report.",
	tookTooLong:   "This organisation does not fit into memory, and reading it took longer than a request may take; create a report, or try again later.",
}

// refuse returns the error for a query that cannot be answered in time.
func (g *gate) refuse(at place, reason string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.refused503(at, reason)
}

// refused503 counts a refusal and logs refusals from time to time.
func (g *gate) refused503(at place, reason string) error {
	g.metrics.refused.WithLabelValues(reason).Inc()
	g.refused[reason]++
	if now := time.Now(); now.Sub(g.logged) >= logEvery {
		g.logged = now
		args := []any{"waiting", g.waiting(anyPass), "running", len(g.running)}
		for _, reason := range slices.Sorted(maps.Keys(g.refused)) {
			args = append(args, reason, g.refused[reason])
		}
		g.log.Warn("rejecting queries for organisations that do not fit into --cohort-memory", args...)
		clear(g.refused)
	}
	e := fault.Away(refusals[reason], nil)
	e.RetryAfter = min(max(g.took[at], 5*time.Second), time.Minute)
	return e
}
