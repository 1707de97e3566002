package worker

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Rounds counts the rounds of a background loop by result, so that the metrics
// show a loop that stalls or fails.
type Rounds struct {
	ok, failed prometheus.Counter
	last       prometheus.Gauge
}

// NewRounds creates the metrics of a loop, starting at zero so that the first
// failure is an increase. every is the maximum time between two rounds. Loops
// of one registry share their metrics and differ by name; with a nil registry
// they are private.
func NewRounds(registry prometheus.Registerer, name string, every time.Duration) *Rounds {
	loop := []string{"worker"}
	total := shared(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "anodyne_worker_rounds_total", Help: "Rounds of background workers, by result: ok or error.",
	}, []string{"worker", "result"}))
	last := shared(registry, prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "anodyne_worker_last_success_timestamp_seconds", Help: "When the worker last finished a round without an error; before that, when it started.",
	}, loop))
	interval := shared(registry, prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "anodyne_worker_interval_seconds", Help: "Longest regular interval between two rounds of the worker.",
	}, loop))
	interval.WithLabelValues(name).Set(every.Seconds())
	r := &Rounds{ok: total.WithLabelValues(name, "ok"), failed: total.WithLabelValues(name, "error"), last: last.WithLabelValues(name)}
	r.last.SetToCurrentTime()
	return r
}

// Done counts a round that ended with err.
func (r *Rounds) Done(err error) {
	if err != nil {
		r.failed.Inc()
		return
	}
	r.ok.Inc()
	r.last.SetToCurrentTime()
}

// shared registers a collector, or returns the one already registered.
func shared[C prometheus.Collector](registry prometheus.Registerer, c C) C {
	if registry == nil {
		return c
	}
	err := registry.Register(c)
	if same, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		return same.ExistingCollector.(C)
	}
	if err != nil {
		panic(err) // the names and labels are constants
	}
	return c
}
