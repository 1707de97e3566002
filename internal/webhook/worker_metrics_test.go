package webhook

import (
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"anodyne/internal/event"
	"anodyne/internal/store"
	"anodyne/internal/store/storetest"
)

// figures reads the counters and gauges of a registry, with their label.
func figures(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, label := range m.GetLabel() {
				name += " " + label.GetValue()
			}
			list[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return list
}

func TestMetrics(t *testing.T) {
	eachService(t, func(t *testing.T, s *service) {
		failing, fine := newInbox(t, func(string, int) int { return http.StatusTeapot }), newInbox(t, nil)
		w := storetest.AddWebhook(t, s.org, failing.url, event.PatientCreated)
		storetest.AddWebhook(t, s.org, fine.url, event.PatientCreated)
		off := storetest.AddWebhook(t, s.org, fine.url)
		storetest.SwitchWebhook(t, s.org, off.ID, false)
		registry := prometheus.NewRegistry()
		worker := s.start(NewWorker(Delivery{
			Store: s.store, Send: newSender(t, Config{}).Send, Grace: time.Minute, Now: s.clock.now, Log: slog.New(slog.DiscardHandler), Registry: registry,
		}))
		s.event()
		s.eventually("both are written", func() bool {
			got := figures(t, registry)
			return got["anodyne_webhook_attempts_total delivered"] == 1 && got["anodyne_webhook_attempts_total pending"] == 1
		})
		s.clock.pass(sweep)
		worker.poke()
		s.eventually("the gauges are set", func() bool {
			got := figures(t, registry)
			age := got["anodyne_webhook_oldest_undelivered_seconds"]
			return got["anodyne_webhook_pending_deliveries"] == 1 && got["anodyne_webhook_disabled_endpoints"] == 1 &&
				got["anodyne_webhook_attempt_seconds"] >= 2 && age > 0
		})
		if got := figures(t, registry); got["anodyne_webhook_claims_lost_total"] != 0 {
			t.Errorf("claims were lost: %v", got)
		}
		if s.statuses(w)[store.Pending] != 1 {
			t.Error("the one that failed is not pending")
		}
	})
}
