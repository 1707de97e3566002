package webhook

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/webhooks"
)

// Delivery holds the dependencies and settings of a Worker.
type Delivery struct {
	Store *store.Store
	// Send makes one attempt; see [Sender.Send].
	Send func(context.Context, Message) Attempt
	// Failing limits how many failing endpoints may have an attempt in
	// progress. Zero, or a larger value, means mostFailing.
	Failing int
	// Grace is how long running attempts may continue when the worker is
	// stopped. Aborted ones are sent again by the next node.
	Grace time.Duration
	// Now is the clock, which must be that of the store; it defaults to
	// time.Now.
	Now func() time.Time
	// Log defaults to slog.Default().
	Log *slog.Logger
	// Registry is for the metrics; if nil, they are not published.
	Registry prometheus.Registerer
	// Tracer creates a span for each attempt; nil means none.
	Tracer trace.Tracer
}

const (
	// inFlight limits the first attempts, and the retries, in progress per
	// endpoint. A failing endpoint starts at most youngFailing of either at a
	// time, and the next one when one has ended or has taken slowAfter. So a
	// receiver that refuses is not overloaded, and one that hangs does not
	// block.
	inFlight     = 32
	youngFailing = 4
	// An endpoint is failing if its last failingAfter attempts failed, or all
	// since failingFor.
	failingAfter = 8
	failingFor   = time.Minute
	// Each endpoint can have one attempt in progress regardless of the others.
	// For more, it needs a place in a lane: in fastLane, which an attempt
	// leaves if it is not over after slowAfter, so that slow receivers cannot
	// fill it, or in failingLane if it is failing.
	fastLane    = 1024
	slowAfter   = time.Second
	failingLane = 512
	// mostFailing limits the failing endpoints with an attempt in progress;
	// each takes a connection.
	mostFailing = 8192
	// lookers limits how many endpoints read from the store at once, for
	// failing ones and for the others.
	lookers = 2

	// lease is how long a node's claims remain valid without renewal.
	lease = 15 * time.Second
	// poll is how often the worker checks without a notification, and sweep how
	// often it checks everything, for work left by a dead node. Between polls
	// it checks for due work, at most every dueEvery.
	poll     = time.Second
	sweep    = 10 * time.Second
	dueEvery = 100 * time.Millisecond
	// regather is how long a node that lost its lock, as all do when the
	// database restarts, waits for the others to reacquire theirs.
	regather = 5 * time.Second
	// idleFor is how long a claim without an attempt is kept.
	idleFor = time.Minute
	// followerPoll is how often a node polls while another one is elected to do
	// so, to notice that it has lost its lock.
	followerPoll = 2 * time.Minute
)

// Worker delivers events to the endpoints of all organisations. Several
// workers, in one or more processes, share the endpoints: each serves those it
// has claimed.
type Worker struct {
	sys     store.System
	send    func(context.Context, Message) Attempt
	grace   time.Duration
	now     func() time.Time
	log     *slog.Logger
	metrics *metrics
	tracer  trace.Tracer

	// attendance identifies this worker to the others and signals its presence;
	// unattended is why it could not. Claims are valid until held.
	attendance *webhooks.Attendance
	unattended error
	held       time.Time

	mu        sync.Mutex
	endpoints map[webhooks.Key]*endpoint
	nextDue   time.Time              // not after the first retry of any endpoint; zero for none
	waited    []*endpoint            // could not start anything until now
	failed    map[*endpoint]struct{} // could not be read; retried at a later poll
	missed    bool                   // an endpoint may be free: sweep at the next poll

	slowAfter               time.Duration
	fast, failing, dead     chan struct{}
	looking, lookingFailing chan struct{}
	results                 chan *result
	woken                   chan struct{}
	// aside has the results that could not be stored. Only record uses it.
	aside map[access.OrgNo][]*result
	// sending is the context of attempts. It ends Grace after that of the
	// worker.
	sending context.Context
	running sync.WaitGroup // endpoints being served, and attempts
}

// NewWorker returns a worker; Run starts it.
func NewWorker(d Delivery) *Worker {
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.Log == nil {
		d.Log = slog.Default()
	}
	if d.Failing <= 0 || d.Failing > mostFailing {
		d.Failing = mostFailing
	}
	sys := d.Store.System()
	return &Worker{
		sys: sys, send: d.Send, grace: d.Grace, now: d.Now, log: d.Log, metrics: newMetrics(d.Registry, d.Log, sys), tracer: d.Tracer, slowAfter: slowAfter,
		fast: make(chan struct{}, fastLane), failing: make(chan struct{}, failingLane), dead: make(chan struct{}, d.Failing),
		looking: make(chan struct{}, lookers), lookingFailing: make(chan struct{}, lookers),
		woken: make(chan struct{}, 1),
	}
}

// Run delivers events until the context ends. Running attempts are then
// finished, or aborted after Grace; nothing is lost in either case. It can be
// run again.
func (w *Worker) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	var giveUp context.CancelFunc
	w.sending, giveUp = context.WithCancel(context.WithoutCancel(ctx))
	w.endpoints, w.held, w.nextDue = map[webhooks.Key]*endpoint{}, time.Time{}, time.Time{}
	w.failed, w.aside = nil, map[access.OrgNo][]*result{}
	w.results = make(chan *result, 2*batchResults)
	recorded := make(chan struct{})
	go func() {
		defer close(recorded)
		w.record()
	}()
	defer func() { // also after a panic, so that no goroutine is left
		stop()
		patience := time.AfterFunc(w.grace, giveUp)
		w.running.Wait()
		close(w.results)
		<-recorded
		patience.Stop()
		giveUp()
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		w.release(last)
		w.leave()
	}()
	w.dispatch(ctx)
	return nil
}

// dispatch finds endpoints with work until the context ends.
func (w *Worker) dispatch(ctx context.Context) {
	news, stop := w.sys.Follow()
	defer stop()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	look := &looker{Worker: w, rest: w.sys.NewPoll(followerPoll), heads: map[access.OrgNo]journal.Pos{}}
	for ctx.Err() == nil {
		err := engine.IgnorePart(look.round(ctx, news)) // the store logs a part that is unavailable
		if err != nil && ctx.Err() == nil {
			w.log.Warn("webhook deliveries are waiting for the database; trying again", "error", err)
		}
		if ctx.Err() == nil {
			w.metrics.rounds.Done(err)
		}
		due := time.NewTimer(look.patience())
		select {
		case <-news.Woken():
		case <-w.woken:
		case <-tick.C:
			look.polled = false
		case <-due.C:
		case <-ctx.Done():
		}
		due.Stop()
	}
}

// wake triggers the next round of the dispatcher.
func (w *Worker) wake() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

// miss makes the next poll check everything.
func (w *Worker) miss() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.missed = true
}

// noteDue records the time of a retry of an endpoint.
func (w *Worker) noteDue(e *endpoint, at time.Time) {
	e.noteDue(at)
	w.mu.Lock()
	sooner := w.nextDue.IsZero() || at.Before(w.nextDue)
	if sooner {
		w.nextDue = at
	}
	w.mu.Unlock()
	if sooner {
		w.wake()
	}
}

// attend signals this node's presence to the others.
func (w *Worker) attend(ctx context.Context) {
	if w.attendance != nil && (w.attendance.Locked() || !w.held.IsZero()) {
		return // with claims it keeps the number they belong to
	}
	w.attendance, w.unattended = w.sys.Attend(ctx)
}

// leave withdraws that signal.
func (w *Worker) leave() {
	if w.attendance != nil {
		w.attendance.Leave()
		w.attendance = nil
	}
}

// release releases the claims.
func (w *Worker) release(ctx context.Context) {
	if w.held.IsZero() {
		return
	}
	w.held = time.Time{}
	if err := w.sys.ReleaseWebhooks(ctx, w.attendance.Node); err != nil {
		w.log.Warn("could not release webhook leases; they expire by themselves", "error", err)
	}
}

// newToken returns a unique nonzero number.
func newToken() int64 { return rand.Int64N(1<<62) + 1 }
