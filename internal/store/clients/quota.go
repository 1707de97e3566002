package clients

import (
	"context"
	"fmt"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
)

// quotaBits maps the thresholds to the bits that record their alerts for a
// window.
var quotaBits = map[int]int64{80: 1, 100: 2}

// WarnQuota raises the alert that a client has used threshold percent of the
// window that ends at windowEnd. It does so once per window, whichever node
// calls it and how often; see [ratelimit.Warn].
func (s System) WarnQuota(ctx context.Context, client access.ClientNo, windowEnd time.Time, threshold int) error {
	bit, known := quotaBits[threshold]
	if !known {
		return fmt.Errorf("a quota warning at %d %% cannot be kept", threshold) // it would be raised over and over
	}
	now := s.db.Now()
	err := s.journal.ChangeAny(ctx, func(tx engine.Tx) error {
		changed, err := tx.Exec(`UPDATE rate_window SET warned = CASE WHEN warned_end = $2 THEN warned | $3 ELSE $3 END, warned_end = $2
			WHERE client_no = $1 AND window_end = $2 AND (warned_end <> $2 OR (warned & $3) = 0)`, int64(client), engine.Millis(windowEnd), bit)
		if err != nil || changed == 0 {
			return err
		}
		return tx.Query(`SELECT org_no, id FROM client WHERE client_no = $1`, func(r engine.Row) error {
			clientID, err := id.FromBytes[id.ClientKind](r.Raw(1))
			if err != nil {
				return err
			}
			a := event.Alert{Kind: event.QuotaWarning, Severity: event.Warning, Client: &clientID, Threshold: threshold}
			if threshold == 100 {
				a.Severity = event.Critical
			}
			tx.Last(s.journal.Raise(access.OrgNo(r.Int(0)), a, clientID.String(), now)...)
			return nil
		}, int64(client))
	})
	if err != nil {
		err = fmt.Errorf("quota warning: %w", err)
		s.db.Log.Warn("could not send a quota warning; the next request tries again", "error", err)
	}
	return err
}
