package webhooks

import (
	"bytes"

	"anodyne.example/anodyne/internal/store/engine"
)

// ForgetAnswers removes what receivers answered to some events, given by the
// bytes of their identifiers. Events themselves contain identifiers only.
func (o Org) ForgetAnswers(tx engine.Tx, events map[string]bool) error {
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
