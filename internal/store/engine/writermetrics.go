package engine

import "github.com/prometheus/client_golang/prometheus"

// writerMetrics are the metrics of the SQLite writer. On PostgreSQL they stay
// empty.
type writerMetrics struct {
	batchSize, writeWait prometheus.Histogram
}

func newWriterMetrics(registry prometheus.Registerer) *writerMetrics {
	m := &writerMetrics{
		batchSize: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "anodyne_writer_batch_size", Help: "Writes committed together (SQLite).",
			Buckets: prometheus.ExponentialBuckets(1, 2, 10),
		}),
		writeWait: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "anodyne_writer_wait_seconds", Help: "Time from submitting a write, or several combined, to the writer until it is durable (SQLite).",
			Buckets: prometheus.ExponentialBuckets(0.0001, 2, 16),
		}),
	}
	if registry != nil {
		registry.MustRegister(m.batchSize, m.writeWait)
	}
	return m
}
