package patients

import (
	"github.com/prometheus/client_golang/prometheus"

	"anodyne.example/anodyne/internal/worker"
)

type metrics struct {
	// underived is a number of patients.
	underived prometheus.Gauge
	// Rounds of the workers.
	swept, derived *worker.Rounds
}

func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{
		underived: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anodyne_derivation_patients_left", Help: "Patients whose medications this node has yet to recalculate by this version's rules and the organisations' aliases.",
		}),
		swept:   worker.NewRounds(registry, "alerts", sweepEvery),
		derived: worker.NewRounds(registry, "derivation", deriveEvery),
	}
	if registry != nil {
		registry.MustRegister(m.underived)
	}
	return m
}
