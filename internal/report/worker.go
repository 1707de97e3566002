package report

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/reports"
)

// Config holds the dependencies and settings of a worker.
type Config struct {
	Store   *store.Store
	Analyst Analyst
	// Mapping maps data to FHIR, for bulk exports.
	Mapping fhir.Mapping
	// Retention is how long files are kept.
	Retention time.Duration
	Log       *slog.Logger
	// Registry may be nil.
	Registry prometheus.Registerer
	// Now is the clock. The default is time.Now.
	Now func() time.Time
	// Lease is how long a claimed report is reserved for its node without
	// renewal; the default is 15 s. Tests shorten it.
	Lease time.Duration
	// Goodbye is how long a node takes to save the result of a report when it is
	// about to stop; the default is 5 s.
	Goodbye time.Duration
}

const (
	// atOnce is how many reports a node generates in parallel. Exports take
	// longer and have a place of their own, so that reports do not wait for
	// them.
	atOnce        = 2
	exportsAtOnce = 1
	// poll is how often the queue is checked without a notification, for
	// reports queued or abandoned by other nodes and for expired files, unless
	// another node is elected to do that.
	poll = time.Second
)

// Worker generates the requested reports and exports.
type Worker struct {
	Config
	node    string
	metrics *metrics
	lines   []line
}

// line is a part of the queue with its own limit of jobs at a time.
type line struct {
	what    string
	results *results
	room    chan struct{}
	// claim claims the next job, or returns nil.
	claim func(ctx context.Context) (*task, error)
}

// task is a claimed job with the way to do it.
type task struct {
	*reports.Claim
	produce func(ctx context.Context, progress *atomic.Int32) error
}

// NewWorker returns a worker; Run starts it.
func NewWorker(cfg Config) *Worker {
	if cfg.Lease == 0 {
		cfg.Lease = 15 * time.Second
	}
	if cfg.Goodbye == 0 {
		cfg.Goodbye = 5 * time.Second
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	w := &Worker{Config: cfg, node: fmt.Sprintf("%s/%d/%s", host, os.Getpid(), rand.Text()[:6]), metrics: newMetrics(cfg.Registry)}
	w.lines = []line{
		{"report", w.metrics.reports, make(chan struct{}, atOnce), w.claimReport},
		{"export", w.metrics.exports, make(chan struct{}, exportsAtOnce), w.claimExport},
	}
	return w
}

func (w *Worker) claimReport(ctx context.Context) (*task, error) {
	claim, err := w.Store.System().ClaimReport(ctx, w.node, w.Lease)
	if claim == nil {
		return nil, err
	}
	return &task{claim.Claim, func(ctx context.Context, progress *atomic.Int32) error { return w.writeReport(ctx, claim, progress) }}, err
}

func (w *Worker) claimExport(ctx context.Context) (*task, error) {
	claim, err := w.Store.System().ClaimExport(ctx, w.node, w.Lease)
	if claim == nil {
		return nil, err
	}
	return &task{claim.Claim, func(ctx context.Context, progress *atomic.Int32) error { return w.writeExport(ctx, claim, progress) }}, err
}

// Run takes reports and exports from the queue until the context ends. Those
// queued by this process are taken immediately. Unfinished ones are released at
// the end.
func (w *Worker) Run(ctx context.Context) error {
	var under sync.WaitGroup
	defer under.Wait()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	rest := w.Store.System().NewPoll(0)
	look, own := false, false // there may be jobs; this process queued them
	sweep := false            // there may be something to remove
	for {
		queued, told := w.Store.System().ReportQueued()
		discarded := w.Store.System().Discarded()
		polls := rest.Due()
		var err error
		if look || polls {
			for i := range w.lines {
				err = errors.Join(err, w.takeAll(ctx, &w.lines[i], &under))
			}
		}
		if own && w.busy() {
			w.Store.System().TellQueued(ctx)
		}
		if sweep || polls {
			more, failed := w.sweep(ctx)
			sweep, err = more, errors.Join(err, failed)
		}
		if err != nil {
			rest.Again()
		}
		if ctx.Err() == nil {
			w.metrics.rounds.Done(engine.IgnorePart(err))
		}
		look, own = false, false
		select {
		case <-queued:
			look, own = true, true
		case <-told:
			look = true
		case <-discarded:
			sweep = true
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// busy reports whether jobs may be waiting for room.
func (w *Worker) busy() bool {
	for i := range w.lines {
		if l := &w.lines[i]; len(l.room) == cap(l.room) {
			return true
		}
	}
	return false
}

// takeAll starts jobs of a line while there is room.
func (w *Worker) takeAll(ctx context.Context, l *line, under *sync.WaitGroup) error {
	for {
		select {
		case l.room <- struct{}{}:
		default:
			return nil // a finishing job checks again
		}
		t, err := l.claim(ctx)
		if err != nil && ctx.Err() == nil && !errors.Is(err, engine.ErrPart) { // which the store logs
			w.Log.Warn("could not read the "+l.what+" queue; trying again", "error", err)
		}
		if t == nil {
			<-l.room
			return err
		}
		under.Go(func() {
			w.work(ctx, l, t)
			<-l.room
			_ = w.takeAll(ctx, l, under) // logged; the next round counts it
		})
	}
}

// sweep expires reports after the retention, and removes files of those that are
// gone. It reports whether there may be more to do.
func (w *Worker) sweep(ctx context.Context) (more bool, err error) {
	sys := w.Store.System()
	moreToExpire, err := sys.ExpireReports(ctx)
	moreToPurge, failed := sys.PurgeReports(ctx)
	if err = errors.Join(err, failed); err != nil && ctx.Err() == nil && !errors.Is(err, engine.ErrPart) {
		w.Log.Warn("could not remove old reports; trying again", "error", err)
	}
	return moreToExpire || moreToPurge, err
}

// work does one job and records the result.
func (w *Worker) work(ctx context.Context, l *line, t *task) {
	began := time.Now()
	err := w.produce(ctx, l, t)
	result := "completed"
	// The result must be recorded even if the service is about to stop.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.Goodbye)
	defer cancel()
	switch {
	case err == nil:
	case errors.Is(err, reports.ErrClaimLost):
		result, err = "lost", nil // taken over by another node, or deleted
	case ctx.Err() != nil:
		result, err = "released", t.Release(last, 0, false)
	case fault.Is(err, fault.Unavailable), errors.Is(err, context.DeadlineExceeded):
		w.Log.Warn(l.what+" postponed", l.what, t.Resource(), "error", err)
		result, err = "put_off", t.Release(last, time.Duration(t.Tries)*5*time.Second, true)
	default:
		w.Log.Error(l.what+" failed", l.what, t.Resource(), "error", err)
		result, err = "failed", t.Fail(last, reasonOf(err, l.what))
	}
	if err != nil && !errors.Is(err, reports.ErrClaimLost) {
		// The lease will expire, and another attempt follows.
		w.Log.Warn("could not save the "+l.what+"'s status", l.what, t.Resource(), "result", result, "error", err)
	}
	l.results.done(result, time.Since(began))
}

// reasonOf returns the error message for the caller. Internal errors are only
// logged.
func reasonOf(err error, what string) string {
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code != fault.Internal {
		return f.Message
	}
	return "Something went wrong on our side. Give the operator the " + what + " ID."
}

// produce does a job. It renews the lease meanwhile, and stops if the lease is
// lost.
func (w *Worker) produce(ctx context.Context, l *line, t *task) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	ctx, cancel := context.WithCancelCause(ctx)
	var progress atomic.Int32
	renewing := make(chan struct{})
	go func() {
		defer close(renewing)
		w.keepLease(ctx, l, t, &progress, cancel)
	}()
	defer func() {
		lost := context.Cause(ctx)
		cancel(nil)
		<-renewing
		if errors.Is(lost, reports.ErrClaimLost) {
			err = lost
		}
	}()
	return t.produce(ctx, &progress)
}

// writeReport reads the data, writes the file and completes the report.
func (w *Worker) writeReport(ctx context.Context, claim *reports.ReportClaim, progress *atomic.Int32) error {
	d, err := read(ctx, w.Analyst, w.Store.For(&access.Principal{Org: claim.OrgNo()}), &claim.ReportRequest, func(share float64) { progress.Store(int32(50 * share)) })
	if err != nil {
		return err
	}
	progress.Store(50)
	out := newChunks(ctx, claim)
	if err := writeTo(out, d, claim.Format); err != nil {
		return err
	}
	if err := out.flush(); err != nil {
		return err
	}
	return claim.Complete(ctx, out.size, out.sum.Sum(nil), w.Retention)
}

// keepLease renews the lease three times as often as necessary, and stores the
// progress with it.
func (w *Worker) keepLease(ctx context.Context, l *line, t *task, progress *atomic.Int32, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(w.Lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		err := t.Renew(ctx, w.Lease, int(progress.Load()))
		if errors.Is(err, reports.ErrClaimLost) {
			cancel(err)
			return
		}
		if err != nil && ctx.Err() == nil {
			w.Log.Warn("could not renew the "+l.what+"'s lease", l.what, t.Resource(), "error", err)
		}
	}
}
