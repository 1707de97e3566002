package api

import (
	"net/http"
	"time"

	"anodyne.example/anodyne/internal/decimal"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/webhooks"
)

func (a *API) getWebhookStats(x *exchange) (answer, error) {
	webhookID, err := x.onWebhook()
	if err != nil {
		return answer{}, err
	}
	s, err := x.org.WebhookStats(x.ctx(), webhookID, x.now)
	if err != nil {
		return answer{}, err
	}
	type latency struct {
		P50 float64 `json:"p50"`
		P95 float64 `json:"p95"`
	}
	type failure struct {
		At    string `json:"at"`
		Error string `json:"error"`
	}
	doc := struct {
		Webhook     id.Webhook `json:"webhook_id"`
		Hours       int        `json:"window_hours"`
		Succeeded   int64      `json:"succeeded"`
		Failed      int64      `json:"failed"`
		SuccessRate *float64   `json:"success_rate"`
		Latency     *latency   `json:"latency_ms"`
		LastFailure *failure   `json:"last_failure"`
		Backlog     int64      `json:"backlog"`
	}{Webhook: webhookID, Hours: int(webhooks.StatsWindow / time.Hour), Succeeded: s.Succeeded, Failed: s.Failed, Backlog: s.Backlog}
	if all := s.Succeeded + s.Failed; all > 0 {
		rate := decimal.Round(float64(s.Succeeded)/float64(all), 4)
		doc.SuccessRate, doc.Latency = &rate, &latency{inMillis(s.P50), inMillis(s.P95)}
	}
	if !s.LastFailureAt.IsZero() {
		doc.LastFailure = &failure{s.LastFailureAt.UTC().Format(time.RFC3339), s.LastFailure}
	}
	return x.json(http.StatusOK, &doc), nil
}

// inMillis returns a duration in milliseconds, rounded to a tenth.
func inMillis(d time.Duration) float64 { return decimal.Round(1000*d.Seconds(), 1) }
