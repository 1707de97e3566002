package webhooks

import (
	"bytes"

	"anodyne.example/anodyne/internal/store/engine"
)

// ForgetAnswers removes what receivers answered to some events, given by the
// bytes of their identifiers. Events themselves contain identifiers only. All
// claims of the organisation end, because an attempt in progress would write
// earlier answers back; it is repeated. Cursors are locked in the order of
// claims, and before the deliveries, as when results are written.
func (o Org) ForgetAnswers(tx engine.Tx, events map[string]bool) error {
	if err := tx.Many(
		engine.Stmt{SQL: `SELECT 1 FROM webhook_cursor WHERE org_no = $1 ORDER BY webhook_no /*FOR UPDATE*/`, Args: []any{int64(o.org)}, Each: func(engine.Row) error { return nil }},
		engine.Stmt{SQL: `UPDATE webhook_cursor SET claim = 0, failure = '' WHERE org_no = $1`, Args: []any{int64(o.org)}},
	); err != nil {
		return err
	}
	type delivery struct {
		webhook      int64
		id, attempts []byte
	}
	var found []delivery
	if err := tx.Query(`SELECT webhook_no, id, event_id, attempts FROM webhook_delivery WHERE org_no = $1`, func(r engine.Row) error {
		if !events[string(r.Raw(2))] || len(r.Raw(3)) == 0 {
			return nil
		}
		attempts, err := unpackAttempts(r.Raw(3))
		if err != nil {
			attempts = nil // damaged
		}
		for i := range attempts {
			attempts[i].Answer, attempts[i].Error = "", ""
		}
		found = append(found, delivery{r.Int(0), bytes.Clone(r.Raw(1)), packAttempts(attempts)})
		return nil
	}, int64(o.org)); err != nil {
		return err
	}
	for _, d := range found {
		if _, err := tx.Exec(`UPDATE webhook_delivery SET attempts = $4 WHERE org_no = $1 AND webhook_no = $2 AND id = $3`, int64(o.org), d.webhook, d.id, d.attempts); err != nil {
			return err
		}
	}
	return nil
}
