package webhook

import (
	"context"
	"errors"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/webhooks"
	background "anodyne.example/anodyne/internal/worker"
)

type metrics struct {
	results    *prometheus.CounterVec
	latency    prometheus.Histogram
	inFlight   prometheus.Gauge
	pending    prometheus.Gauge
	behind     prometheus.Gauge
	oldest     prometheus.Gauge
	disabled   prometheus.Gauge
	claimsLost prometheus.Counter
	disables   prometheus.Counter
	rounds     *background.Rounds
	orgs       *background.Orgs // whose endpoints could not be claimed or read, or whose results not stored
}

func newMetrics(registry prometheus.Registerer, log *slog.Logger, sys store.System) *metrics {
	m := &metrics{
		results: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anodyne_webhook_attempts_total", Help: "Attempts, by the resulting status of the delivery: delivered, pending (will be retried) or failed.",
		}, []string{"result"}),
		latency: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "anodyne_webhook_attempt_seconds", Help: "Duration of an attempt, with or without a response.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 15),
		}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anodyne_webhook_attempts_in_flight", Help: "Attempts in progress in this process.",
		}),
		pending: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anodyne_webhook_pending_deliveries", Help: "Deliveries waiting for another attempt, in all organisations.",
		}),
		behind: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anodyne_webhook_behind_entries", Help: "Journal entries that the endpoints of this process have not yet read, or whose result is not yet saved.",
		}),
		oldest: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anodyne_webhook_oldest_undelivered_seconds", Help: "Age of the oldest event being delivered by this process or waiting for another attempt; 0 if there is none.",
		}),
		disabled: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anodyne_webhook_disabled_endpoints", Help: "Disabled endpoints, in all organisations.",
		}),
		claimsLost: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "anodyne_webhook_claims_lost_total", Help: "Times that results were discarded because another node had taken over the endpoint, or it was changed.",
		}),
		disables: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "anodyne_webhook_disables_total", Help: "Endpoints that this process disabled because deliveries kept failing.",
		}),
		rounds: background.NewRounds(registry, "webhooks", poll),
		orgs:   background.NewOrgs(registry, log, "webhooks", sys.OrgID),
	}
	// Export zeros from the start, so that the first failure is an increase.
	for _, result := range []webhooks.DeliveryStatus{webhooks.Delivered, webhooks.Pending, webhooks.Failed} {
		m.results.WithLabelValues(result.String())
	}
	if registry != nil {
		registry.MustRegister(m.results, m.latency, m.inFlight, m.pending, m.behind, m.oldest, m.disabled, m.claimsLost, m.disables)
	}
	return m
}

// measure exports the backlog: pending deliveries of all organisations, and
// the lag of this worker's endpoints.
func (l *looker) measure(ctx context.Context) error {
	b, err := l.sys.WebhookBacklog(ctx)
	if err != nil && !errors.Is(err, engine.ErrPart) {
		return err
	}
	oldest, behind := b.OldestPending, int64(0)
	l.mu.Lock()
	for key, e := range l.endpoints {
		n, since := e.lag(l.heads[key.Org])
		behind += n
		if oldest.IsZero() || !since.IsZero() && since.Before(oldest) {
			oldest = since
		}
	}
	l.mu.Unlock()
	age := 0.0
	if !oldest.IsZero() {
		age = l.now().Sub(oldest).Seconds()
	}
	l.metrics.pending.Set(float64(b.Pending))
	l.metrics.disabled.Set(float64(b.Disabled))
	l.metrics.behind.Set(float64(behind))
	l.metrics.oldest.Set(age)
	return err
}
