package webhook

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/webhooks"
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
		if s.statuses(w)[webhooks.Pending] != 1 {
			t.Error("the one that failed is not pending")
		}
	})
}

// Log lines about a webhook have its identifier and organisation.
func TestLogNamesTheWebhook(t *testing.T) {
	eachService(t, func(t *testing.T, s *service) {
		gone, failing := newInbox(t, func(string, int) int { return http.StatusGone }), newInbox(t, nil)
		hook := storetest.AddWebhook(t, s.org, gone.url, event.PatientCreated)
		panics := storetest.AddWebhook(t, s.org, failing.url, event.PatientCreated)
		send := newSender(t, Config{}).Send
		var log syncBuffer
		s.start(NewWorker(Delivery{
			Store: s.store, Grace: time.Minute, Now: s.clock.now, Log: slog.New(slog.NewTextHandler(&log, nil)),
			Send: func(ctx context.Context, m Message) Attempt {
				if m.URL == failing.url {
					panic("in a test")
				}
				return send(ctx, m)
			},
		}))
		s.event()
		for what, id := range map[string]string{"webhook disabled": hook.ID.String(), "panic in a webhook attempt": panics.ID.String()} {
			var line string
			s.eventually(what, func() bool {
				for line = range strings.Lines(log.String()) {
					if strings.Contains(line, what) {
						return true
					}
				}
				return false
			})
			if !strings.Contains(line, "webhook_id="+id) || !strings.Contains(line, "organization_id="+s.who.OrgID.String()) {
				t.Errorf("%s does not name %s of %s", line, id, s.who.OrgID)
			}
		}
	})
}

// syncBuffer takes a log that is read while it is written.
type syncBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
