package webhooks

import (
	"context"
	"fmt"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
)

// secretPlace binds a sealed secret to its endpoint.
func secretPlace(org access.OrgNo, webhookID id.Webhook) []byte {
	return fmt.Appendf(nil, "webhook %d %s", org, webhookID)
}

func (o Org) sealSecret(webhookID id.Webhook, secret string) []byte {
	return o.master.Seal([]byte(secret), secretPlace(o.org, webhookID))
}

// RotateWebhookSecret gives an endpoint a new signing secret and returns the
// outcome, or that of an earlier request with the same key. The previous secret
// also signs for SecretOverlap; older ones end at once.
func (o Org) RotateWebhookSecret(ctx context.Context, webhookID id.Webhook, secret string, c journal.Change, key *idempotency.Once, now time.Time, answer func(Webhook) idempotency.Outcome) (idempotency.Outcome, error) {
	sealed := o.sealSecret(webhookID, secret)
	return o.once.Do(ctx, key, now, func(tx engine.Tx) (idempotency.Outcome, error) {
		w, no, err := o.webhookToChange(tx, webhookID)
		if err != nil {
			return idempotency.Outcome{}, err
		}
		w.Version++
		w.OldSecretEnds = engine.FromMillis(engine.Millis(now.Add(SecretOverlap)))
		tx.Last(engine.Stmt{SQL: `UPDATE webhook SET version = $3, old_secret = secret, old_secret_ends = $4, secret = $5 WHERE org_no = $1 AND webhook_no = $2`,
			Args: []any{int64(o.org), no, w.Version, engine.Millis(w.OldSecretEnds), sealed}})
		tx.Last(o.journal.Entry(o.org, c)...)
		return answer(w), nil
	})
}

// openSecrets returns the current signing secrets, newest first.
func (s System) openSecrets(org access.OrgNo, webhookID id.Webhook, secret, old []byte, oldEnds, now time.Time) (secrets []string, err error) {
	sealed := [][]byte{secret}
	if len(old) > 0 && oldEnds.After(now) {
		sealed = append(sealed, old)
	}
	for _, b := range sealed {
		opened, err := s.master.Open(b, secretPlace(org, webhookID))
		if err != nil {
			return nil, fmt.Errorf("secret of webhook %s: %w", webhookID, err)
		}
		secrets = append(secrets, string(opened))
	}
	return secrets, nil
}
