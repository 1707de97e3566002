package cohort

import "github.com/prometheus/client_golang/prometheus"

// metrics are by the kind of read model.
type metrics struct {
	bytes    *prometheus.GaugeVec
	models   *prometheus.GaugeVec
	loads    *prometheus.CounterVec
	streamed prometheus.Counter
}

func newMetrics(registry prometheus.Registerer) *metrics {
	byModel := []string{"model"}
	m := &metrics{
		bytes: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "anodyne_cohort_bytes", Help: "Memory that the organisations' read models take.",
		}, byModel),
		models: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "anodyne_cohort_organizations", Help: "Organisations whose read model is in memory.",
		}, byModel),
		loads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anodyne_cohort_loads_total", Help: "Times an organisation was loaded from the start.",
		}, byModel),
		streamed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "anodyne_cohort_streamed_total", Help: "Analytics read from the database because the organisation does not fit into --cohort-memory.",
		}),
	}
	// They begin at 0, not when the first organisation is loaded.
	for _, model := range []string{names.name, charts.name} {
		m.bytes.WithLabelValues(model)
		m.models.WithLabelValues(model)
		m.loads.WithLabelValues(model)
	}
	if registry != nil {
		registry.MustRegister(m.bytes, m.models, m.loads, m.streamed)
	}
	return m
}
