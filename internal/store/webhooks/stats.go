package webhooks

import (
	"context"
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
)

// StatsWindow is the period that Stats covers.
const StatsWindow = 24 * time.Hour

// Stats is the statistics of an endpoint.
type Stats struct {
	// Succeeded and Failed count the attempts of the last StatsWindow, by the
	// hour.
	Succeeded, Failed int64
	// P50 and P95 are latency percentiles of the same attempts, or 0 if there
	// were none.
	P50, P95 time.Duration
	// LastFailureAt is zero if no attempt ever failed.
	LastFailureAt time.Time
	LastFailure   string
	// Backlog is the number of events waiting for an attempt. At most
	// BacklogCounted journal entries are counted.
	Backlog int64
}

// BacklogCounted is the maximum number of journal entries read for an
// endpoint's backlog.
const BacklogCounted = 10_000

// WebhookStats reads an endpoint's statistics. The cost does not depend on the
// number of its deliveries.
func (o Org) WebhookStats(ctx context.Context, webhookID id.Webhook, now time.Time) (stats Stats, err error) {
	err = o.db.Snapshot(ctx, func(tx engine.Tx) error {
		stats = Stats{}
		w, no, err := o.webhook(tx, webhookID)
		if err != nil {
			return err
		}
		return o.readStats(tx, map[int64]*watched{no: {Webhook: &w, stats: &stats}}, no, no, now)
	})
	return stats, err
}

// WatchWebhooks returns all endpoints in order of creation, with their
// statistics. It takes as many statements as a single endpoint does.
func (o Org) WatchWebhooks(ctx context.Context, now time.Time) (hooks []Webhook, stats []Stats, err error) {
	err = o.db.Snapshot(ctx, func(tx engine.Tx) error {
		var numbers []int64
		hooks = nil
		if err := tx.Query(`SELECT `+webhookColumns+` FROM webhook WHERE org_no = $1 ORDER BY webhook_no`, func(r engine.Row) error {
			w, no, err := scanWebhook(r)
			hooks, numbers = append(hooks, w), append(numbers, no)
			return err
		}, int64(o.org)); err != nil || len(hooks) == 0 {
			return err
		}
		if err := o.withOwners(tx, hooks); err != nil {
			return err
		}
		stats = make([]Stats, len(hooks))
		of := make(map[int64]*watched, len(hooks))
		for i, no := range numbers {
			of[no] = &watched{Webhook: &hooks[i], stats: &stats[i]}
		}
		return o.readStats(tx, of, numbers[0], numbers[len(numbers)-1], now)
	})
	return hooks, stats, err
}

// watched is an endpoint whose statistics are being read.
type watched struct {
	*Webhook
	stats     *Stats
	latencies histogram
}

// readStats sets the statistics of endpoints. The keys of the map are their
// numbers, from first to last.
func (o Org) readStats(tx engine.Tx, of map[int64]*watched, first, last int64, now time.Time) error {
	if err := tx.Many(
		engine.Stmt{SQL: `SELECT webhook_no, succeeded, failed, latencies FROM webhook_hour WHERE org_no = $1 AND webhook_no BETWEEN $2 AND $3 AND hour > $4`,
			Args: []any{int64(o.org), first, last, hourOf(now.Add(-StatsWindow))},
			Each: func(r engine.Row) error {
				w := of[r.Int(0)]
				if w == nil {
					return nil // it was deleted
				}
				w.stats.Succeeded += r.Int(1)
				w.stats.Failed += r.Int(2)
				return w.latencies.merge(r.Raw(3))
			}},
		engine.Stmt{SQL: `SELECT webhook_no, open, pending, failed_at, failure FROM webhook_cursor WHERE org_no = $1 AND webhook_no BETWEEN $2 AND $3`,
			Args: []any{int64(o.org), first, last},
			Each: func(r engine.Row) error {
				if w := of[r.Int(0)]; w != nil {
					w.readCursor(r)
				}
				return nil
			}},
		engine.Stmt{SQL: `SELECT c.webhook_no, j.event_type, count(*) FROM webhook w JOIN webhook_cursor c ON c.org_no = w.org_no AND c.webhook_no = w.webhook_no
			JOIN journal j ON j.org_no = c.org_no AND j.pos > c.pos AND j.pos <= c.pos + $4 AND j.event_id IS NOT NULL
			WHERE w.org_no = $1 AND w.webhook_no BETWEEN $2 AND $3 AND w.enabled = 1 GROUP BY c.webhook_no, j.event_type`,
			Args: []any{int64(o.org), first, last, int64(BacklogCounted)},
			Each: func(r engine.Row) error {
				if w := of[r.Int(0)]; w != nil && wantedTypes(w.Events)(r.Raw(1)) {
					w.stats.Backlog += r.Int(2)
				}
				return nil
			}},
	); err != nil {
		return err
	}
	for _, w := range of {
		w.stats.P50, w.stats.P95 = w.latencies.quantile(0.50), w.latencies.quantile(0.95)
	}
	return nil
}

// readCursor reads the columns webhook_no, open, pending, failed_at and
// failure.
func (w *watched) readCursor(r engine.Row) {
	w.stats.Backlog, w.stats.LastFailure = r.Int(2), r.Text(4)
	if w.Enabled {
		w.stats.Backlog += int64(len(unpackPositions(r.Raw(1))))
	}
	w.stats.LastFailureAt = engine.Moment(r, 3)
}
