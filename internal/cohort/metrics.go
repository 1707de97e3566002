package cohort

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	bytes         prometheus.Gauge
	organisations prometheus.Gauge
	loads         prometheus.Counter
}

func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{
		bytes: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anodyne_cohort_bytes", Help: "Memory that the organisations' read models take.",
		}),
		organisations: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anodyne_cohort_organizations", Help: "Organisations whose read model is in memory.",
		}),
		loads: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "anodyne_cohort_loads_total", Help: "Times an organisation was loaded from the start.",
		}),
	}
	if registry != nil {
		registry.MustRegister(m.bytes, m.organisations, m.loads)
	}
	return m
}
