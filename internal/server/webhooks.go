package server

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"anodyne.example/anodyne/internal/config"
	"anodyne.example/anodyne/internal/webhook"
)

// attemptGrace is how long running attempts may continue during a shutdown. A
// receiver that takes longer gets the message again from another node or after
// the restart.
const attemptGrace = 5 * time.Second

// newSender returns what connects to the addresses of webhooks, and to those
// at which clients publish their keys.
func (s *Server) newSender() (*webhook.Sender, error) {
	cfg, err := s.cfg.Webhooks()
	if err != nil {
		return nil, err
	}
	cfg.Timeout = s.limits.attempt
	sender, err := webhook.NewSender(cfg)
	if err == nil {
		s.closeSender = sender.Close
	}
	return sender, err
}

// startWebhooks starts the delivery of events to webhooks. It is stopped
// before the other workers, while requests are being finished.
func (s *Server) startWebhooks(sender *webhook.Sender, registry prometheus.Registerer) {
	w := webhook.NewWorker(webhook.Delivery{
		Store: s.store, Send: sender.Send, Grace: min(attemptGrace, s.cfg.ShutdownTimeout), Log: s.log, Registry: registry, Tracer: s.tracing.Tracer(),
		Failing: config.OpenFiles() / 4, // clients may use half of them
	})
	s.deliveries.Start("webhooks", w.Run)
}

// stopWebhooks waits until running attempts have ended and their results are
// stored.
func (s *Server) stopWebhooks() {
	s.deliveries.Stop()
	if s.closeSender != nil {
		s.closeSender()
	}
}

// checkWebhookURL checks an address to be registered with the same rules that
// apply to sending.
func (s *Server) checkWebhookURL(address string) error {
	cfg, err := s.cfg.Webhooks()
	if err != nil {
		return err
	}
	return webhook.CheckURL(address, cfg.Dev, cfg.Allow...)
}
