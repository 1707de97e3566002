package report

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics counts reports by how their making ended: completed, failed,
// put_off, released or lost.
type metrics struct {
	made    *prometheus.CounterVec
	seconds prometheus.Histogram
}

func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{
		made: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anodyne_reports_total", Help: "Reports that were worked on, by how that ended.",
		}, []string{"result"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "anodyne_report_seconds", Help: "Time to make a report.", Buckets: prometheus.ExponentialBuckets(0.01, 2, 14),
		}),
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
