package server

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"anodyne.example/anodyne/internal/config"
	"anodyne.example/anodyne/internal/webhook"
)

// attemptGrace is how long attempts that are under way may go on at a stop. A
// receiver that takes longer gets the message again from whoever comes next.
const attemptGrace = 5 * time.Second

// startWebhooks starts the delivery of events to webhooks. It is stopped before
// the other workers, and while requests are finished.
func (s *Server) startWebhooks(registry prometheus.Registerer) error {
	cfg, err := s.cfg.Webhooks()
	if err != nil {
		return err
	}
	sender, err := webhook.NewSender(cfg)
	if err != nil {
		return err
	}
	w := webhook.NewWorker(webhook.Delivery{
		Store: s.store, Send: sender.Send, Grace: min(attemptGrace, s.cfg.ShutdownTimeout), Log: s.log, Registry: registry, Tracer: s.tracing.Tracer(),
		Failing: config.OpenFiles() / 4, // clients may take half of them
	})
	s.closeSender = sender.Close
	s.deliveries.Start("webhooks", w.Run)
	return nil
}

// stopWebhooks waits until all is delivered, or given up, and written.
func (s *Server) stopWebhooks() {
	s.deliveries.Stop()
	if s.closeSender != nil {
		s.closeSender()
	}
}

// checkWebhookURL judges an address that is to be registered by the same
// configuration that messages are sent with.
func (s *Server) checkWebhookURL(address string) error {
	cfg, err := s.cfg.Webhooks()
	if err != nil {
		return err
	}
	return webhook.CheckURL(address, cfg.Dev, cfg.Allow...)
}
