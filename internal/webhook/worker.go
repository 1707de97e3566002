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
)

// Delivery is what a Worker needs.
type Delivery struct {
	Store *store.Store
	// Send makes one attempt; it is a Sender's.
	Send func(context.Context, Message) Attempt
	// Failing is how many endpoints that fail may have an attempt under way at
	// a time; mostFailing when zero or more than that.
	Failing int
	// Grace is how long attempts that are under way may go on when the worker
	// is stopped. What is given up then is sent again by whoever comes next.
	Grace time.Duration
	// Now is the clock, which is also the store's; time.Now when nil.
	Now func() time.Time
	// Log is slog.Default() when nil.
	Log *slog.Logger
	// Registry takes the metrics; nil keeps them to itself.
	Registry prometheus.Registerer
	// Tracer makes a span of each attempt; nil for none.
	Tracer trace.Tracer
}

const (
	// inFlight is how many first attempts, and how many retries, an endpoint
	// has under way at most. One that fails begins no more than youngFailing of
	// either at a time, and the next when one is over or has taken slowAfter:
	// a receiver that refuses is not overrun, and one that hangs is not waited
	// for.
	inFlight     = 32
	youngFailing = 4
	// An endpoint fails when its last failingAfter attempts did, or all since
	// failingFor.
	failingAfter = 8
	failingFor   = time.Minute
	// Each endpoint can have one attempt under way whatever the others do. For
	// more than one it needs room in a lane: fastLane, which an attempt leaves
	// when it is not over after slowAfter, so that slow receivers cannot fill
	// it, or failingLane for an endpoint that fails.
	fastLane    = 1024
	slowAfter   = time.Second
	failingLane = 512
	// mostFailing bounds the endpoints that fail and have an attempt under way
	// by themselves; each takes a connection.
	mostFailing = 8192
	// lookers bounds how many endpoints read from the store at once, of those
	// that fail and of the others.
	lookers = 2

	// lease is how long a node's claims are good when it is not heard of.
	lease = 15 * time.Second
	// poll is how often the worker looks without having been told to, and
	// sweep how often it looks at everything, for what a dead node left. Between
	// polls it looks for what is due, not more often than dueEvery.
	poll     = time.Second
	sweep    = 10 * time.Second
	dueEvery = 100 * time.Millisecond
	// regather is how long a node whose lock was lost, as all are when the
	// database is restarted, gives the others to take theirs again.
	regather = 5 * time.Second
	// idleFor is after how long without an attempt a claim is given up.
	idleFor = 5 * time.Minute
)

// Worker delivers events to the endpoints of all organisations. Several of
// them, in one process or in many, share the endpoints among them: each has
// those that it claimed.
type Worker struct {
	sys     store.System
	send    func(context.Context, Message) Attempt
	grace   time.Duration
	now     func() time.Time
	log     *slog.Logger
	metrics *metrics
	tracer  trace.Tracer

	// attendance names this worker to the others, and tells them that it is
	// there; unattended is why it does not. It holds its claims until held.
	attendance *store.Attendance
	unattended error
	held       time.Time

	mu        sync.Mutex
	endpoints map[store.WebhookKey]*endpoint
	nextDue   time.Time   // not after the first retry of all endpoints; zero for none
	waited    []*endpoint // could begin nothing until now
	failed    []*endpoint // could not be read; to be tried at the next poll
	missed    bool        // an endpoint may be free: sweep at the next poll

	slowAfter               time.Duration
	fast, failing, dead     chan struct{}
	looking, lookingFailing chan struct{}
	results                 chan *result
	woken                   chan struct{}
	// attempts are sent under sending, which ends Grace after the worker's.
	sending context.Context
	running sync.WaitGroup // endpoints that are served, and attempts
}

// NewWorker makes a worker, which Run starts.
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
	return &Worker{
		sys: d.Store.System(), send: d.Send, grace: d.Grace, now: d.Now, log: d.Log, metrics: newMetrics(d.Registry), tracer: d.Tracer, slowAfter: slowAfter,
		fast: make(chan struct{}, fastLane), failing: make(chan struct{}, failingLane), dead: make(chan struct{}, d.Failing),
		looking: make(chan struct{}, lookers), lookingFailing: make(chan struct{}, lookers),
		woken: make(chan struct{}, 1),
	}
}

// Run delivers until the context ends. Attempts that are under way then are
// finished, or given up after Grace; nothing is lost either way. It can be run
// again.
func (w *Worker) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	var giveUp context.CancelFunc
	w.sending, giveUp = context.WithCancel(context.WithoutCancel(ctx))
	w.endpoints, w.held, w.nextDue = map[store.WebhookKey]*endpoint{}, time.Time{}, time.Time{}
	w.results = make(chan *result, 2*batchResults)
	recorded := make(chan struct{})
	go func() {
		defer close(recorded)
		w.record()
	}()
	defer func() { // also after a panic, so that nobody is left behind
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

// dispatch finds the endpoints that have work, until the context ends.
func (w *Worker) dispatch(ctx context.Context) {
	news, stop := w.sys.Follow()
	defer stop()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	look := &looker{Worker: w, heads: map[access.OrgNo]store.Pos{}}
	for ctx.Err() == nil {
		err := look.round(ctx, news)
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

// wake has the dispatcher go round.
func (w *Worker) wake() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

// miss has the next poll look at everything.
func (w *Worker) miss() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.missed = true
}

// noteDue remembers that a retry of an endpoint is due at a time.
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

// attend tells the other nodes that this one is there.
func (w *Worker) attend(ctx context.Context) {
	if w.attendance != nil && (w.attendance.Locked() || !w.held.IsZero()) {
		return // with claims it keeps the number that they are under
	}
	w.attendance, w.unattended = w.sys.Attend(ctx)
}

// leave ends that.
func (w *Worker) leave() {
	if w.attendance != nil {
		w.attendance.Leave()
		w.attendance = nil
	}
}

// release gives the claims up.
func (w *Worker) release(ctx context.Context) {
	if w.held.IsZero() {
		return
	}
	w.held = time.Time{}
	if err := w.sys.ReleaseWebhooks(ctx, w.attendance.Node); err != nil {
		w.log.Warn("could not release webhook leases; they expire by themselves", "error", err)
	}
}

// newToken makes a number that nobody else makes; 0 stands for none.
func newToken() int64 { return rand.Int64N(1<<62) + 1 }
