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
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/reports"
)

// Config holds the dependencies and settings of a worker.
type Config struct {
	Store   *store.Store
	Analyst Analyst
	// Retention is how long files are kept.
	Retention time.Duration
	Log       *slog.Logger
	// Registry may be nil.
	Registry prometheus.Registerer
	// Lease is how long a claimed report is reserved for its node without
	// renewal; the default is 15 s. Tests shorten it.
	Lease time.Duration
}

const (
	// atOnce is how many reports a node generates in parallel.
	atOnce = 2
	// poll is how often the queue is checked without a notification, for
	// reports queued or abandoned by other nodes and for expired files.
	poll = time.Second
	// goodbye is how long a stopping node takes to release its reports.
	goodbye = 5 * time.Second
)

// Worker generates the requested reports.
type Worker struct {
	Config
	node    string
	metrics *metrics
}

// NewWorker returns a worker; Run starts it.
func NewWorker(cfg Config) *Worker {
	if cfg.Lease == 0 {
		cfg.Lease = 15 * time.Second
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return &Worker{Config: cfg, node: fmt.Sprintf("%s/%d/%s", host, os.Getpid(), rand.Text()[:6]), metrics: newMetrics(cfg.Registry)}
}

// Run takes reports from the queue until the context ends. Reports queued by
// this process are taken immediately. Unfinished reports are released at the
// end.
func (w *Worker) Run(ctx context.Context) error {
	var under sync.WaitGroup
	defer under.Wait()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	room := make(chan struct{}, atOnce)
	for {
		queued := w.Store.System().ReportQueued()
		err := errors.Join(w.takeAll(ctx, room, &under), w.sweep(ctx))
		if ctx.Err() == nil {
			w.metrics.rounds.Done(err)
		}
		select {
		case <-queued:
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// takeAll starts reports while there is room.
func (w *Worker) takeAll(ctx context.Context, room chan struct{}, under *sync.WaitGroup) error {
	for {
		select {
		case room <- struct{}{}:
		default:
			return nil // a finishing report checks again
		}
		claim, err := w.Store.System().ClaimReport(ctx, w.node, w.Lease)
		if err != nil && ctx.Err() == nil {
			w.Log.Warn("could not read the report queue; trying again", "error", err)
		}
		if claim == nil {
			<-room
			return err
		}
		under.Go(func() {
			w.work(ctx, claim)
			<-room
			_ = w.takeAll(ctx, room, under) // logged; the next round counts it
		})
	}
}

// sweep expires reports after the retention.
func (w *Worker) sweep(ctx context.Context) error {
	sys := w.Store.System()
	err := errors.Join(sys.ExpireReports(ctx), sys.PurgeReports(ctx))
	if err != nil && ctx.Err() == nil {
		w.Log.Warn("could not remove old reports; trying again", "error", err)
	}
	return err
}

// work generates one report and records the result.
func (w *Worker) work(ctx context.Context, claim *reports.ReportClaim) {
	began := time.Now()
	err := w.produce(ctx, claim)
	result := "completed"
	// The result must be recorded even if the service is about to stop.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer cancel()
	switch {
	case err == nil:
	case errors.Is(err, reports.ErrClaimLost):
		result, err = "lost", nil // taken over by another node, or deleted
	case ctx.Err() != nil:
		result, err = "released", claim.Release(last, 0, false)
	case fault.Is(err, fault.Unavailable), errors.Is(err, context.DeadlineExceeded):
		w.Log.Warn("report postponed", "report", claim.ID, "error", err)
		result, err = "put_off", claim.Release(last, time.Duration(claim.Tries)*5*time.Second, true)
	default:
		w.Log.Error("report failed", "report", claim.ID, "type", claim.Type, "format", claim.Format, "error", err)
		result, err = "failed", claim.Fail(last, reasonOf(err))
	}
	if err != nil && !errors.Is(err, reports.ErrClaimLost) {
		// The lease will expire, and another attempt follows.
		w.Log.Warn("could not save the report's status", "report", claim.ID, "result", result, "error", err)
	}
	w.metrics.done(result, time.Since(began))
}

// reasonOf returns the error message for the caller. Internal errors are only
// logged.
func reasonOf(err error) string {
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code != fault.Internal {
		return f.Message
	}
	return "Something went wrong on our side. Give the operator the report ID."
}

// produce reads the data, writes the file and completes the report. It renews
// the lease meanwhile, and stops if the lease is lost.
func (w *Worker) produce(ctx context.Context, claim *reports.ReportClaim) (err error) {
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
		w.keepLease(ctx, claim, &progress, cancel)
	}()
	defer func() {
		lost := context.Cause(ctx)
		cancel(nil)
		<-renewing
		if errors.Is(lost, reports.ErrClaimLost) {
			err = lost
		}
	}()
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
func (w *Worker) keepLease(ctx context.Context, claim *reports.ReportClaim, progress *atomic.Int32, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(w.Lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		err := claim.Renew(ctx, w.Lease, int(progress.Load()))
		if errors.Is(err, reports.ErrClaimLost) {
			cancel(err)
			return
		}
		if err != nil && ctx.Err() == nil {
			w.Log.Warn("could not renew a report's lease", "report", claim.ID, "error", err)
		}
	}
}
