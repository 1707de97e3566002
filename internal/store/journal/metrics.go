package journal

import (
	"github.com/prometheus/client_golang/prometheus"

	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/worker"
)

type metrics struct {
	// sealBroken counts organisations, witnessLost occurrences.
	sealBroken  prometheus.Gauge
	witnessLost prometheus.Counter
	scanned     prometheus.Gauge // seconds
	// Rounds of the workers.
	sequenced, shipped, sealed *worker.Rounds
}

func newMetrics(registry prometheus.Registerer, db *engine.DB) *metrics {
	m := &metrics{
		sealBroken: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anodyne_audit_seal_broken", Help: "Organisations whose audit log does not match this node's record of seals.",
		}),
		witnessLost: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "anodyne_audit_witness_lost_total", Help: "Times the record of sealed heads in the data directory was removed or changed by another process.",
		}),
		scanned: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anodyne_audit_scan_seconds", Help: "Duration of the last complete scan of all sealed audit logs by this node.",
		}),
		shipped: worker.NewRounds(registry, "spool", sealEvery),
		sealed:  worker.NewRounds(registry, "sealer", sealEvery),
	}
	if db.Dialect().Sequenced { // there is no sequencer on SQLite
		m.sequenced = worker.NewRounds(registry, "sequencer", sequenceEvery)
	}
	if registry != nil {
		registry.MustRegister(m.sealBroken, m.witnessLost, m.scanned)
	}
	return m
}
