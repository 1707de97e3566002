package store

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	batchSize  prometheus.Histogram
	writeWait  prometheus.Histogram
	logSize    prometheus.Gauge
	journalLag prometheus.Gauge
	sealLag    prometheus.Gauge
	// sealBroken counts organisations, witnessLost times.
	sealBroken  prometheus.Gauge
	witnessLost prometheus.Counter
}

func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{
		batchSize: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "anodyne_writer_batch_size", Help: "Writes committed together (SQLite).",
			Buckets: prometheus.ExponentialBuckets(1, 2, 10),
		}),
		writeWait: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "anodyne_writer_wait_seconds", Help: "Time a write waits from being handed in until it is durable (SQLite).",
			Buckets: prometheus.ExponentialBuckets(0.0001, 2, 16),
		}),
		logSize: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anodyne_sqlite_log_bytes", Help: "Size of the write-ahead log on the disk, looked at every 10 seconds (SQLite).",
		}),
		journalLag: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anodyne_journal_pending_entries", Help: "Journal entries that the last round of the sequencer found without a position (PostgreSQL).",
		}),
		sealLag: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anodyne_journal_unsealed_entries", Help: "Journal entries that the last round of the sealer found without a seal.",
		}),
		sealBroken: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anodyne_audit_seal_broken", Help: "Organisations whose audit log is not what this node remembers as sealed.",
		}),
		witnessLost: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "anodyne_audit_witness_lost_total", Help: "Times the record of sealed heads in the data directory was removed or changed by somebody else.",
		}),
	}
	if registry != nil {
		registry.MustRegister(m.batchSize, m.writeWait, m.logSize, m.journalLag, m.sealLag, m.sealBroken, m.witnessLost)
	}
	return m
}
