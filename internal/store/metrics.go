package store

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/worker"
)

type metrics struct {
	measured
	rounds
	// workers counts those of a Citus cluster; there are none on other databases.
	// lost is the number of workers that do not respond.
	workers *prometheus.GaugeVec
	lost    atomic.Int64
}

// measured are the metrics that KeepMeasured updates.
type measured struct {
	pending, pendingAge       prometheus.Gauge
	unsealed, unsealedAge     prometheus.Gauge
	backup                    prometheus.Gauge
	spoolBytes, spoolSegments prometheus.Gauge
	spoolAge                  prometheus.Gauge
	databaseBytes, walBytes   prometheus.Gauge
	diskFree, diskSize        *prometheus.GaugeVec
}

// rounds counts the rounds of the store's workers.
type rounds struct {
	purged, measures, erases *worker.Rounds
}

func newMetrics(registry prometheus.Registerer, db *engine.DB) *metrics {
	m := &metrics{
		measured: newMeasured(),
		rounds: rounds{
			purged:   worker.NewRounds(registry, "purge", purgeEvery),
			measures: worker.NewRounds(registry, "measure", measureEvery),
			erases:   worker.NewRounds(registry, "erasures", eraseWithin),
		},
	}
	m.workers = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "anodyne_store_workers",
		Help: "Workers of the Citus cluster, up and down; 0 without one. Requests of organisations on a worker that is down fail."}, []string{"state"})
	for _, state := range []string{"up", "down"} {
		m.workers.WithLabelValues(state)
	}
	if registry != nil {
		registry.MustRegister(m.workers)
		m.register(registry, db)
		registerDuty(registry, db)
	}
	return m
}

// registerDuty registers what this node does in the background, if it shares the
// database with others.
func registerDuty(registry prometheus.Registerer, db *engine.DB) {
	if !db.Shared() {
		return
	}
	for name, duty := range map[string]engine.Duty{"alone": engine.Alone, "leading": engine.Leading, "following": engine.Following} {
		registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "anodyne_node_duty", Help: "1 for this node's role in background work: elected (leading), relying on the elected node (following), or hearing from none and doing all of it (alone).",
			ConstLabels: prometheus.Labels{"duty": name},
		}, func() float64 {
			if db.Duty() == duty {
				return 1
			}
			return 0
		}))
	}
}

func newMeasured() measured {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	byVolume := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"volume"})
	}
	return measured{
		pending:       gauge("anodyne_journal_pending_entries", "Committed journal entries without a position, counted up to 10000 (PostgreSQL; 0 on SQLite)."),
		pendingAge:    gauge("anodyne_journal_oldest_pending_seconds", "Age of the oldest journal entry without a position; 0 if there is none."),
		unsealed:      gauge("anodyne_journal_unsealed_entries", "Journal entries without a seal."),
		unsealedAge:   gauge("anodyne_journal_oldest_unsealed_seconds", "Age of the oldest journal entry without a seal; 0 if there is none."),
		backup:        gauge("anodyne_backup_last_success_timestamp_seconds", "Time of the latest backup created with anodyne backup; 0 if there is none."),
		spoolBytes:    gauge("anodyne_spool_bytes", "Size of the audit lines of reads that are not in the database yet."),
		spoolSegments: gauge("anodyne_spool_segments", "Files in the audit spool."),
		spoolAge:      gauge("anodyne_spool_oldest_seconds", "Age of the oldest file in the audit spool; 0 if there is none."),
		databaseBytes: gauge("anodyne_database_bytes", "Size of the database."),
		walBytes:      gauge("anodyne_database_wal_bytes", "Size of the write-ahead log (SQLite)."),
		diskFree:      byVolume("anodyne_disk_free_bytes", "Free disk space for the data directory and for the SQLite file."),
		diskSize:      byVolume("anodyne_disk_size_bytes", "Size of the disk of the data directory and of the SQLite file."),
	}
}

func (m *measured) register(registry prometheus.Registerer, db *engine.DB) {
	registry.MustRegister(m.pending, m.pendingAge, m.unsealed, m.unsealedAge, m.backup,
		m.spoolBytes, m.spoolSegments, m.spoolAge, m.databaseBytes, m.diskFree, m.diskSize)
	if db.Files().Log != "" { // PostgreSQL's own exporter covers its log
		registry.MustRegister(m.walBytes)
	}
}
