package cohort

import "github.com/prometheus/client_golang/prometheus"

// metrics are labelled by the kind of read model.
type metrics struct {
	bytes    *prometheus.GaugeVec
	models   *prometheus.GaugeVec
	loads    *prometheus.CounterVec
	streamed prometheus.Counter

	// Of the gate.
	waiting, running prometheus.Gauge
	passes           prometheus.Histogram
	refused          *prometheus.CounterVec

	// Of slices.
	slices prometheus.Gauge
	asked  *prometheus.CounterVec
}

func newMetrics(registry prometheus.Registerer) *metrics {
	byModel := []string{"model"}
	m := &metrics{
		bytes: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "anodyne_cohort_bytes", Help: "Memory used by the organisations' read models.",
		}, byModel),
		models: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "anodyne_cohort_organizations", Help: "Organisations whose read model is in memory.",
		}, byModel),
		loads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anodyne_cohort_loads_total", Help: "Full loads of an organisation into memory.",
		}, byModel),
		streamed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "anodyne_cohort_streamed_total", Help: "Searches and analytics read from the database because the organisation does not fit into --cohort-memory.",
		}),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anodyne_cohort_waiting", Help: "Requests waiting for a database read because the organisation does not fit into --cohort-memory.",
		}),
		running: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anodyne_cohort_passes_running", Help: "Running passes over all patients of an organisation.",
		}),
		passes: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "anodyne_cohort_pass_seconds", Help: "Duration of passes over all patients of an organisation. One pass serves all requests waiting for it.",
			Buckets: []float64{.01, .03, .1, .3, 1, 3, 10, 30, 100, 300},
		}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anodyne_cohort_refused_total", Help: "Searches and analytics rejected with 503 because the organisation does not fit into --cohort-memory and could not be read in time, by reason.",
		}, []string{"reason"}),
		slices: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anodyne_cohort_slices", Help: "Slices of organisations larger than memory that this node holds.",
		}),
		asked: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anodyne_cohort_node_queries_total", Help: "Queries sent to other nodes for their slices of an organisation, by result.",
		}, []string{"result"}),
	}
	// Export zeros from the start, not only after the first load.
	for _, result := range []string{resultAnswered, resultPartial, resultFailed, resultBusy, resultSkipped} {
		m.asked.WithLabelValues(result)
	}
	for _, model := range []string{names.name, charts.name, sliced} {
		m.bytes.WithLabelValues(model)
		m.models.WithLabelValues(model)
		m.loads.WithLabelValues(model)
	}
	for reason := range refusals {
		m.refused.WithLabelValues(reason)
	}
	if registry != nil {
		registry.MustRegister(m.bytes, m.models, m.loads, m.streamed, m.waiting, m.running, m.passes, m.refused, m.slices, m.asked)
	}
	return m
}
