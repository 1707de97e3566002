package report

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"anodyne.example/anodyne/internal/worker"
)

// metrics counts reports and exports.
type metrics struct {
	reports, exports *results
	rounds           *worker.Rounds
}

// results counts jobs by result: completed, failed, put_off, released or lost.
type results struct {
	made    *prometheus.CounterVec
	seconds prometheus.Histogram
}

func newMetrics(registry prometheus.Registerer) *metrics {
	return &metrics{
		reports: newResults(registry, "report", "Time to generate a report.", prometheus.ExponentialBuckets(0.01, 2, 14)),
		exports: newResults(registry, "export", "Time to write an export.", prometheus.ExponentialBuckets(0.1, 2, 16)),
		rounds:  worker.NewRounds(registry, "reports", poll),
	}
}

func newResults(registry prometheus.Registerer, what, seconds string, buckets []float64) *results {
	r := &results{
		made: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anodyne_" + what + "s_total", Help: strings.ToUpper(what[:1]) + what[1:] + "s processed, by result.",
		}, []string{"result"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "anodyne_" + what + "_seconds", Help: seconds, Buckets: buckets}),
	}
	for _, result := range []string{"completed", "failed", "put_off", "released", "lost"} {
		r.made.WithLabelValues(result) // starts at 0, so that the first is an increase
	}
	if registry != nil {
		registry.MustRegister(r.made, r.seconds)
	}
	return r
}

func (r *results) done(result string, took time.Duration) {
	r.made.WithLabelValues(result).Inc()
	r.seconds.Observe(took.Seconds())
}
