package webhook

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"anodyne/internal/access"
	"anodyne/internal/store"
)

// Delivery is what a Worker needs.
type Delivery struct {
	Store *store.Store
	// Send makes one attempt; it is a Sender's.
	Send func(context.Context, Message) Attempt
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
	// inFlight is how many attempts an endpoint has under way at most, and
	// inFlightFailing how many when its last failingAfter ones failed.
	inFlight        = 32
	inFlightFailing = 4
	failingAfter    = 8
	// fastLane bounds the attempts of all endpoints together. An attempt
	// leaves it when it is not over after slowAfter, so that slow receivers
	// cannot fill it. Endpoints that fail have a lane of their own.
	fastLane    = 1024
	slowAfter   = time.Second
	failingLane = 512
	// lookers bounds how many endpoints read from the store at once.
	lookers = 2

	// lease is how long a node's claims are good when it is not heard of.
	lease = 15 * time.Second
	// poll is how often the worker looks without having been told to, and
	// sweep how often it looks at everything, for what a dead node left.
	poll  = time.Second
	sweep = 10 * time.Second
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

	// node names this worker to the others. It holds its claims until held.
	node int64
	held time.Time

	mu        sync.Mutex
	endpoints map[store.WebhookKey]*endpoint
	nextDue   time.Time   // of the retries noted since the last poll; may be zero
	waited    []*endpoint // could begin nothing until now
	failed    []*endpoint // could not be read; to be tried at the next poll
	missed    bool        // an endpoint may be free: sweep at the next poll

	fast, failing, looking chan struct{}
	results                chan *result
	woken                  chan struct{}
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
	return &Worker{
		sys: d.Store.System(), send: d.Send, grace: d.Grace, now: d.Now, log: d.Log, metrics: newMetrics(d.Registry), tracer: d.Tracer,
		fast: make(chan struct{}, fastLane), failing: make(chan struct{}, failingLane), looking: make(chan struct{}, lookers),
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
	w.endpoints, w.node, w.held = map[store.WebhookKey]*endpoint{}, newToken(), time.Time{}
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
			w.log.Warn("webhooks wait", "error", err)
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
			look.polled = false
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

// noteDue remembers that something is due at a time.
func (w *Worker) noteDue(at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.nextDue.IsZero() || at.Before(w.nextDue) {
		w.nextDue = at
	}
}

// release gives the claims up.
func (w *Worker) release(ctx context.Context) {
	if w.held.IsZero() {
		return
	}
	w.held = time.Time{}
	if err := w.sys.ReleaseWebhooks(ctx, w.node); err != nil {
		w.log.Warn("claims of webhooks are not given up; they end by themselves", "error", err)
	}
}

// newToken makes a number that nobody else makes; 0 stands for none.
func newToken() int64 { return rand.Int64N(1<<62) + 1 }
