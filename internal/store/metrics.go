package store

import (
	"github.com/prometheus/client_golang/prometheus"

	"anodyne.example/anodyne/internal/worker"
)

type metrics struct {
	batchSize prometheus.Histogram
	writeWait prometheus.Histogram
	// sealBroken counts organisations, witnessLost times.
	sealBroken  prometheus.Gauge
	witnessLost prometheus.Counter
	// underived counts patients.
	underived prometheus.Gauge
	measured
	rounds
}

// measured is what KeepMeasured looks at.
type measured struct {
	pending, pendingAge       prometheus.Gauge
	unsealed, unsealedAge     prometheus.Gauge
	backup                    prometheus.Gauge
	spoolBytes, spoolSegments prometheus.Gauge
	spoolAge                  prometheus.Gauge
	databaseBytes, walBytes   prometheus.Gauge
	diskFree, diskSize        *prometheus.GaugeVec
}

// rounds are those of the store's workers.
type rounds struct {
	sequenced, shipped, sealed, purged, swept, derived, measures *worker.Rounds
}

func newMetrics(registry prometheus.Registerer, engine string) *metrics {
	m := &metrics{
		batchSize: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "anodyne_writer_batch_size", Help: "Writes committed together (SQLite).",
			Buckets: prometheus.ExponentialBuckets(1, 2, 10),
		}),
		writeWait: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "anodyne_writer_wait_seconds", Help: "Time from submitting a write until it is durable (SQLite).",
			Buckets: prometheus.ExponentialBuckets(0.0001, 2, 16),
		}),
		sealBroken: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anodyne_audit_seal_broken", Help: "Organisations whose audit log does not match this node's record of seals.",
		}),
		witnessLost: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "anodyne_audit_witness_lost_total", Help: "Times the record of sealed heads in the data directory was removed or changed by another process.",
		}),
		underived: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anodyne_derivation_patients_left", Help: "Patients whose medications this node has yet to recalculate by this version's rules and the organisations' aliases.",
		}),
		measured: newMeasured(),
		rounds: rounds{
			shipped:  worker.NewRounds(registry, "spool", sealEvery),
			sealed:   worker.NewRounds(registry, "sealer", sealEvery),
			purged:   worker.NewRounds(registry, "purge", purgeEvery),
			swept:    worker.NewRounds(registry, "alerts", sweepEvery),
			derived:  worker.NewRounds(registry, "derivation", deriveEvery),
			measures: worker.NewRounds(registry, "measure", measureEvery),
		},
	}
	if engine == postgresDialect.name { // on SQLite there is no sequencer
		m.sequenced = worker.NewRounds(registry, "sequencer", sequenceEvery)
	}
	if registry != nil {
		registry.MustRegister(m.batchSize, m.writeWait, m.sealBroken, m.witnessLost, m.underived)
		m.register(registry, engine)
	}
	return m
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

func (m *measured) register(registry prometheus.Registerer, engine string) {
	registry.MustRegister(m.pending, m.pendingAge, m.unsealed, m.unsealedAge, m.backup,
		m.spoolBytes, m.spoolSegments, m.spoolAge, m.databaseBytes, m.diskFree, m.diskSize)
	if engine == sqliteDialect.name { // PostgreSQL's own exporter knows about PostgreSQL's log
		registry.MustRegister(m.walBytes)
	}
}
