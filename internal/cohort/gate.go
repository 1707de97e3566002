package cohort

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"anodyne.example/anodyne/internal/fault"
)

const (
	// mostPasses is how many passes run at a time. Of those that nobody with a
	// deadline waits for, one fewer may: a report leaves room for requests.
	mostPasses = 2
	// mostWaiting is how many callers with a deadline may wait for a pass to begin.
	mostWaiting = 256
	// mostAsked is how many questions a pass answers.
	mostAsked = 64
	// leastWorking is the memory that the questions of a pass may take at least,
	// however small the limit.
	leastWorking = 4 << 20
	// logEvery is how often refusals are logged at most.
	logEvery = time.Minute
)

// gate admits passes: readings of all patients of an organisation that does not
// fit into memory. A bounded number runs at a time, and others wait their turn.
// Callers whose question can still be answered by a pass that waits join it, so
// that many who ask at once are answered by one.
//
// A caller with a deadline is refused when it would pass; see [gate.startBy].
type gate struct {
	working int64 // bytes that the questions of a pass may take
	metrics *metrics

	mu      sync.Mutex
	log     *slog.Logger
	queue   []*pass // those that wait, in the order in which they came
	running map[*pass]struct{}
	// took is how long the last pass took, at least.
	took map[place]time.Duration
	// refused counts since the last line in the log.
	refused map[string]int
	logged  time.Time
}

// pass is one reading of all patients, for some questions. What follows read is
// guarded by gate.mu.
type pass struct {
	place
	ctx    context.Context
	cancel context.CancelFunc
	read   func(ctx context.Context, jobs []any) error

	asked   []*asked // nothing is added once it runs
	bytes   int64
	callers int
	hurried bool // somebody with a deadline asked
	begun   bool
}

// asked is a question in a pass, of one caller or several.
type asked struct {
	key     string
	job     any // keeps the answer
	bytes   int64
	callers int
	done    chan struct{} // closed when there is an answer, or err
	err     error
}

func newGate(limit int64, m *metrics) *gate {
	return &gate{
		working: max(limit, leastWorking), metrics: m, log: slog.New(slog.DiscardHandler),
		running: map[*pass]struct{}{}, took: map[place]time.Duration{}, refused: map[string]int{},
	}
}

// demand is what is asked of a pass.
type demand struct {
	place
	key   string // the same key is the same question
	bytes int64  // about what answering takes
	job   func() any
	read  func(ctx context.Context, jobs []any) error
}

// ask has a question answered by a pass that begins after the call, and gives
// its job. A caller who leaves is not waited for: a pass that nobody waits for
// is not made, or is broken off.
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

// join finds a pass that has not begun and can answer the question too, or makes
// one.
func (g *gate) join(ctx context.Context, d demand) (*pass, *asked, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	_, hurried := ctx.Deadline()
	if hurried && g.waiting() >= mostWaiting {
		return nil, nil, g.refused503(d.place, tooManyWait)
	}
	p, a := g.find(&d)
	if p == nil {
		p = &pass{place: d.place, read: d.read}
		// What a request carries along goes with the pass, but not its end.
		p.ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
		g.queue = append(g.queue, p)
	}
	if a == nil {
		a = &asked{key: d.key, job: d.job(), bytes: d.bytes, done: make(chan struct{})}
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

// find gives the pass that has the question already, or else has room for it.
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

// leave takes a caller out of its pass. If it is only to leave while the pass
// waits, it reports whether it did.
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

// dispatch begins passes while there is room.
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
	g.metrics.waiting.Set(float64(g.waiting()))
	g.metrics.running.Set(float64(len(g.running)))
}

// next is the pass whose turn it is, or -1: the first of an organisation that
// has none running, so that one with many questions does not hold up another;
// else the first.
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

// waiting is the number of callers whose pass has not begun.
func (g *gate) waiting() (callers int) {
	for _, p := range g.queue {
		callers += p.callers
	}
	return callers
}

// run makes a pass and answers those who asked.
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
	if err == nil || took > g.took[p.place] { // one that was broken off takes at least as long
		g.took[p.place] = took
	}
	delete(g.running, p)
	for _, a := range p.asked {
		a.err = err
		close(a.done)
	}
	g.dispatch()
}

// contained makes a panic an error: no request waits for this goroutine that
// could answer for it.
func contained(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a pass: %v", p)
		}
	}()
	return fn()
}

// startBy is when a pass must have begun for a caller with a deadline: by what
// the last one took, with a part to spare. What is not known, or takes longer
// than there is time, is tried all the same.
func (g *gate) startBy(at place, deadline time.Time) time.Time {
	g.mu.Lock()
	took := g.took[at]
	g.mu.Unlock()
	left := time.Until(deadline)
	return deadline.Add(-min(max(took+took/4, left/4), 3*left/4))
}

// Why a question is refused.
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

// refuse says that a question is not answered in time.
func (g *gate) refuse(at place, reason string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.refused503(at, reason)
}

// refused503 counts a refusal, and logs that there were some from time to time.
func (g *gate) refused503(at place, reason string) error {
	g.metrics.refused.WithLabelValues(reason).Inc()
	g.refused[reason]++
	if now := time.Now(); now.Sub(g.logged) >= logEvery {
		g.logged = now
		args := []any{"waiting", g.waiting(), "running", len(g.running)}
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
