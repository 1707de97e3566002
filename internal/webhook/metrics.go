package webhook

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"anodyne/internal/store"
)

type metrics struct {
	results    *prometheus.CounterVec
	latency    prometheus.Histogram
	inFlight   prometheus.Gauge
	pending    prometheus.Gauge
	oldest     prometheus.Gauge
	disabled   prometheus.Gauge
	claimsLost prometheus.Counter
}

func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{
		results: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anodyne_webhook_attempts_total", Help: "Attempts by what became of the delivery: delivered, pending (to be tried again) or failed.",
		}, []string{"result"}),
		latency: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "anodyne_webhook_attempt_seconds", Help: "Time of an attempt, answered or not.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 15),
		}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anodyne_webhook_attempts_in_flight", Help: "Attempts under way in this process.",
		}),
		pending: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anodyne_webhook_pending_deliveries", Help: "Deliveries that wait for another attempt, of all organisations.",
		}),
		oldest: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anodyne_webhook_oldest_pending_seconds", Help: "Age of the oldest event that waits for another attempt; 0 when none does.",
		}),
		disabled: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anodyne_webhook_disabled_endpoints", Help: "Endpoints that are disabled, of all organisations.",
		}),
		claimsLost: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "anodyne_webhook_claims_lost_total", Help: "Times that results were refused because another node had taken the endpoint up, or it was changed.",
		}),
	}
	// From the start, so that the first failure is seen as an increase.
	for _, result := range []store.DeliveryStatus{store.Delivered, store.Pending, store.Failed} {
		m.results.WithLabelValues(result.String())
	}
	if registry != nil {
		registry.MustRegister(m.results, m.latency, m.inFlight, m.pending, m.oldest, m.disabled, m.claimsLost)
	}
	return m
}

// measure looks at what all endpoints together have to do.
func (w *Worker) measure(ctx context.Context) {
	b, err := w.sys.WebhookBacklog(ctx)
	if err != nil {
		return // the next look says why
	}
	w.metrics.pending.Set(float64(b.Pending))
	w.metrics.disabled.Set(float64(b.Disabled))
	age := 0.0
	if !b.OldestPending.IsZero() {
		age = w.now().Sub(b.OldestPending).Seconds()
	}
	w.metrics.oldest.Set(age)
}
