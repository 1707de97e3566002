package store

import (
	"context"
	"time"

	"anodyne/internal/id"
)

// StatsWindow is how far back WebhookStats looks.
const StatsWindow = 24 * time.Hour

// WebhookStats says how an endpoint does.
type WebhookStats struct {
	// Succeeded and Failed count the attempts of the last StatsWindow, by the
	// hour.
	Succeeded, Failed int64
	// P50 and P95 are of the latencies of the same attempts; 0 when there
	// were none.
	P50, P95 time.Duration
	// LastFailureAt is zero when no attempt ever failed.
	LastFailureAt time.Time
	LastFailure   string
	// Backlog is how many events wait for their first attempt or another one.
	// It is counted up to BacklogCounted entries of the journal behind.
	Backlog int64
}

// BacklogCounted bounds the entries of the journal that are looked at for an
// endpoint's backlog.
const BacklogCounted = 10_000

// WebhookStats reads an endpoint's statistics; what that costs does not grow
// with its deliveries.
func (o Org) WebhookStats(ctx context.Context, webhookID id.Webhook, now time.Time) (stats WebhookStats, err error) {
	err = o.snapshot(ctx, func(tx Tx) error {
		stats = WebhookStats{}
		w, no, err := o.webhook(tx, readWebhook, webhookID)
		if err != nil {
			return err
		}
		var all histogram
		if err := tx.Query(`SELECT succeeded, failed, latencies FROM webhook_hour WHERE org_no = $1 AND webhook_no = $2 AND hour > $3`, func(r Row) error {
			stats.Succeeded += r.Int(0)
			stats.Failed += r.Int(1)
			return all.merge(r.Raw(2))
		}, int64(o.org), no, hourOf(now.Add(-StatsWindow))); err != nil {
			return err
		}
		stats.P50, stats.P95 = all.quantile(0.50), all.quantile(0.95)
		pos, open := Pos(0), []Pos(nil)
		if _, err := one(tx, `SELECT pos, open, pending, failed_at, failure FROM webhook_cursor WHERE org_no = $1 AND webhook_no = $2`, func(r Row) {
			pos, open, stats.Backlog, stats.LastFailure = Pos(r.Int(0)), unpackPositions(r.Raw(1)), r.Int(2), r.Text(4)
			if !r.IsNull(3) {
				stats.LastFailureAt = fromMillis(r.Int(3))
			}
		}, int64(o.org), no); err != nil || !w.Enabled {
			return err
		}
		stats.Backlog += int64(len(open))
		wanted := wantedTypes(w.Events)
		return tx.Query(`SELECT event_type, count(*) FROM journal WHERE org_no = $1 AND pos > $2 AND pos <= $3 AND event_id IS NOT NULL GROUP BY event_type`,
			func(r Row) error {
				if wanted(r.Raw(0)) {
					stats.Backlog += r.Int(1)
				}
				return nil
			}, int64(o.org), int64(pos), int64(pos)+BacklogCounted)
	})
	return stats, err
}
