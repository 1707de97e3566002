package report

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"anodyne.example/anodyne/internal/worker"
)

// metrics counts reports by result: completed, failed, put_off, released or
// lost.
type metrics struct {
	made    *prometheus.CounterVec
	seconds prometheus.Histogram
	rounds  *worker.Rounds
}

func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{
		made: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anodyne_reports_total", Help: "Reports processed, by result.",
		}, []string{"result"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "anodyne_report_seconds", Help: "Time to generate a report.", Buckets: prometheus.ExponentialBuckets(0.01, 2, 14),
		}),
		rounds: worker.NewRounds(registry, "reports", poll),
	}
	for _, result := range []string{"completed", "failed", "put_off", "released", "lost"} {
		m.made.WithLabelValues(result) // starts at 0, so that the first is an increase
	}
	if registry != nil {
		registry.MustRegister(m.made, m.seconds)
	}
	return m
}

func (m *metrics) done(result string, took time.Duration) {
	m.made.WithLabelValues(result).Inc()
	m.seconds.Observe(took.Seconds())
}
