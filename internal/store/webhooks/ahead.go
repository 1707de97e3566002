package webhooks

import (
	"context"
	"errors"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/lease"
)

// selectFarAhead selects the endpoints with a delivery due later than any retry
// can be.
const selectFarAhead = `SELECT c.org_no, c.webhook_no FROM webhook_cursor c WHERE c.due_at IS NOT NULL
	AND EXISTS (SELECT 1 FROM webhook_delivery d WHERE d.org_no = c.org_no AND d.webhook_no = c.webhook_no AND d.next_attempt_at > $1 /*AND d.org_no = ANY($3)*/)
	/*AND c.org_no = ANY($3)*/ LIMIT $2`

// farAtOnce is the number of endpoints read at a time.
const farAtOnce = 500

// PullRetries makes deliveries due at once if their next attempt is farther
// away than the longest possible wait. Such times come from a clock that has
// been set back since; without this, the deliveries would wait for as long as
// it was wrong. It returns their endpoints.
func (s System) PullRetries(ctx context.Context, longest time.Duration) (pulled []Key, err error) {
	now := s.db.Now()
	far := engine.Millis(now.Add(longest + lease.ClockSkew))
	for {
		keys, err := engine.List(ctx, s.db, selectFarAhead, func(r engine.Row) (Key, error) { return Key{access.OrgNo(r.Int(0)), r.Int(1)}, nil }, far, farAtOnce)
		for _, key := range keys {
			if pullErr := s.pullRetries(ctx, key, now, far); pullErr != nil {
				err = errors.Join(err, pullErr) // the others go on
				continue
			}
			pulled = append(pulled, key)
		}
		if len(keys) < farAtOnce || err != nil {
			return pulled, err
		}
	}
}

func (s System) pullRetries(ctx context.Context, key Key, now time.Time, far int64) error {
	org, no := int64(key.Org), key.No
	return s.db.Write(ctx, func(tx engine.Tx) error {
		// Lock the cursor first, as writers of results do.
		if _, err := engine.One(tx, `SELECT webhook_no FROM webhook_cursor WHERE org_no = $1 AND webhook_no = $2 /*FOR UPDATE*/`, func(engine.Row) {}, org, no); err != nil {
			return err
		}
		return tx.Many(
			engine.Stmt{SQL: `UPDATE webhook_delivery SET next_attempt_at = $3 WHERE org_no = $1 AND webhook_no = $2 AND next_attempt_at > $4`,
				Args: []any{org, no, engine.Millis(now), far}},
			nextDue(key),
		)
	})
}
