package worker

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/id"
)

const (
	// firstSetback and longestSetback bound how long an organisation that failed
	// is not retried.
	firstSetback   = time.Second
	longestSetback = 10 * time.Second
	// retriesAtOnce bounds how many of them are tried again at a time.
	retriesAtOnce = 4
	// failsFor is how long an organisation counts as failing after an error. One that
	// is still tried fails again before that: the elected node polls once a minute.
	failsFor = 2 * time.Minute
	// orgsLogged is how often a worker logs that organisations fail.
	orgsLogged = 30 * time.Second
	// lookUpTime bounds the lookup of an organisation's identifier for the log.
	lookUpTime = time.Second
)

// Orgs keeps the organisations whose work failed apart from the others, so that
// an error or a lock in one organisation does not hold up the rest. It counts
// them and logs them from time to time.
type Orgs struct {
	log     *slog.Logger
	name    string
	idOf    func(context.Context, access.OrgNo) (id.Org, error)
	errors  prometheus.Counter
	failing prometheus.GaugeFunc

	mu      sync.Mutex
	late    map[access.OrgNo]*setback
	busy    int // retries in progress
	logged  time.Time
	running sync.WaitGroup
}

// setback is the state of an organisation whose work failed.
type setback struct {
	pause time.Duration
	last  time.Time // when it failed
	next  time.Time
	busy  bool // being tried
	again bool // there is new work since it was tried
}

// NewOrgs returns the organisations of a worker, none of which has failed. The
// metrics start at zero, and are shared as those of [NewRounds] are. The log names
// organisations by the identifier that idOf returns, or by number if it fails.
func NewOrgs(registry prometheus.Registerer, log *slog.Logger, name string, idOf func(context.Context, access.OrgNo) (id.Org, error)) *Orgs {
	loop := []string{"worker"}
	failures := shared(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "anodyne_worker_organization_errors_total", Help: "Errors of background workers that concerned one organisation.",
	}, loop))
	o := &Orgs{log: log, name: name, idOf: idOf, errors: failures.WithLabelValues(name), late: map[access.OrgNo]*setback{}}
	o.failing = shared(registry, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "anodyne_worker_failing_organizations", Help: "Organisations whose background work failed at the last attempt, if that was less than two minutes ago.",
		ConstLabels: prometheus.Labels{"worker": name},
	}, func() float64 {
		o.mu.Lock()
		defer o.mu.Unlock()
		return float64(o.failed())
	}))
	return o
}

// Sound returns the organisations of a list that have not failed. The others are
// tried again by Retry.
func (o *Orgs) Sound(list []access.OrgNo) (sound []access.OrgNo) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, org := range list {
		if late := o.late[org]; late != nil {
			late.again = true
		} else {
			sound = append(sound, org)
		}
	}
	return sound
}

// HasFailed reports whether the last attempt for an organisation failed.
func (o *Orgs) HasFailed(org access.OrgNo) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.late[org] != nil
}

// Ready reports whether an organisation may be tried now: it has not failed, or
// it is time to try again.
func (o *Orgs) Ready(org access.OrgNo) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	late := o.late[org]
	return late == nil || !late.busy && !time.Now().Before(late.next)
}

// Suspect makes Retry try organisations one by one, after an error that one of
// them may have caused.
func (o *Orgs) Suspect(list []access.OrgNo) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, org := range list {
		if o.late[org] == nil {
			o.late[org] = &setback{}
		}
	}
}

// Done records the result of an organisation's work, and returns it. Work that
// was interrupted because the worker is stopping has no result; work that exceeded the
// deadline of its context counts as failed.
func (o *Orgs) Done(ctx context.Context, org access.OrgNo, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return err
	}
	if failing := o.record(org, err); failing > 0 {
		o.log.Warn("background work of an organisation failed and will be retried; other organisations are not affected", "worker", o.name,
			o.nameOf(ctx, org), "failing_organizations", failing, "error", err)
	}
	return err
}

// record records a result. If it is to be logged, record returns the number of
// organisations that are failing, otherwise 0.
func (o *Orgs) record(org access.OrgNo, err error) (failing int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	late := o.late[org]
	switch {
	case err == nil && late != nil && late.again:
		*late = setback{}
	case err == nil:
		delete(o.late, org)
	default:
		if late == nil {
			late = &setback{}
			o.late[org] = late
		}
		late.pause = min(max(2*late.pause, firstSetback), longestSetback)
		late.last, late.busy = time.Now(), false
		late.next = late.last.Add(late.pause)
		o.errors.Inc()
		if time.Since(o.logged) >= orgsLogged {
			o.logged = time.Now()
			return o.failed()
		}
	}
	return 0
}

// nameOf returns the attribute that names an organisation in the log.
func (o *Orgs) nameOf(ctx context.Context, org access.OrgNo) slog.Attr {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookUpTime)
	defer cancel()
	id, err := o.idOf(ctx, org)
	if err != nil {
		return slog.Any("organization_number", org)
	}
	return slog.String("organization_id", id.String())
}

// failed counts the organisations whose own work failed recently.
func (o *Orgs) failed() (n int) {
	for _, late := range o.late {
		if late.pause > 0 && time.Since(late.last) < failsFor {
			n++
		}
	}
	return n
}

// Hasten makes all organisations that failed due, because the cause may be gone.
func (o *Orgs) Hasten() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, late := range o.late {
		late.next = time.Time{}
	}
}

// Retry retries the organisations that are due, each separately, and does not
// wait for them. The result of do is recorded.
func (o *Orgs) Retry(ctx context.Context, do func(context.Context, access.OrgNo) error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	for org, late := range o.late {
		if o.busy >= retriesAtOnce {
			return
		}
		if late.busy || now.Before(late.next) {
			continue
		}
		late.busy, late.again = true, false
		o.busy++
		o.running.Go(func() {
			err := guarded(ctx, func(ctx context.Context) error { return do(ctx, org) })
			_ = o.Done(ctx, org, err)
			o.mu.Lock()
			o.busy--
			more := err == nil && ctx.Err() == nil
			o.mu.Unlock()
			if more {
				o.Retry(ctx, do)
			}
		})
	}
}

// Wait waits for retries in progress.
func (o *Orgs) Wait() { o.running.Wait() }
