package store

import (
	"context"
	"errors"
	"time"

	"anodyne.example/anodyne/internal/store/accounts"
	"anodyne.example/anodyne/internal/store/clients"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/idempotency"
)

// Purge deletes what is no longer needed, a slice at a time: tokens that
// expired more than a day ago (until then an expired token is distinguished
// from an unknown one), used assertions that have expired, old outcomes of
// idempotent requests, ended rate limit windows, shipped segments, ended
// sessions, invitations and reset links, sign-in attempts, old usage, and old
// webhook deliveries.
func (s System) Purge(ctx context.Context) error {
	now := s.db.Now()
	var errs error
	for _, p := range []struct {
		sql    string
		before time.Time
	}{
		{`DELETE FROM token WHERE hash IN (SELECT hash FROM token WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)`, now.Add(-24 * time.Hour)},
		{`DELETE FROM rate_window WHERE client_no IN (SELECT client_no FROM rate_window WHERE window_end < $1 LIMIT $2)`, now.Add(-24 * time.Hour)},
		{`DELETE FROM client_secret WHERE (client_no, hash) IN (SELECT client_no, hash FROM client_secret WHERE expires_at < $1 LIMIT $2)`, now.Add(-24 * time.Hour)},
		{`DELETE FROM client_assertion WHERE (client_no, jti_hash) IN
			(SELECT client_no, jti_hash FROM client_assertion WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)`, now.Add(-clients.AssertionKept)},
		{`DELETE FROM account_session WHERE hash IN (SELECT hash FROM account_session WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)`, now},
		{`DELETE FROM invitation WHERE hash IN (SELECT hash FROM invitation WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)`, now},
		{`DELETE FROM sign_in_failure WHERE email_hash IN (SELECT email_hash FROM sign_in_failure WHERE failed_at < $1 ORDER BY failed_at LIMIT $2)`, now.Add(-24 * time.Hour)},
		{`DELETE FROM sign_in_throttle WHERE (email_hash, network) IN
			(SELECT email_hash, network FROM sign_in_throttle WHERE tried_at < $1 AND signed_in_at IS NULL ORDER BY tried_at LIMIT $2)`, now.Add(-accounts.TriesKept)},
		{`DELETE FROM sign_in_throttle WHERE (email_hash, network) IN
			(SELECT email_hash, network FROM sign_in_throttle WHERE tried_at < $1 ORDER BY tried_at LIMIT $2)`, now.Add(-accounts.NetworkKnown)},
		{`DELETE FROM password_reset WHERE hash IN (SELECT hash FROM password_reset WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)`, now},
		{`DELETE FROM client_usage WHERE (org_no, client_no, hour, outcome) IN
			(SELECT org_no, client_no, hour, outcome FROM client_usage WHERE hour < $1 ORDER BY hour LIMIT $2)`, now.Add(-clients.UsageKept)},
		{`DELETE FROM webhook_node WHERE node IN (SELECT node FROM webhook_node WHERE lease_until < $1 LIMIT $2)`, now.Add(-24 * time.Hour)},
		{`DELETE FROM spool_segment WHERE segment IN (SELECT segment FROM spool_segment WHERE shipped_at < $1 LIMIT $2)`, now.Add(-7 * 24 * time.Hour)},
	} {
		errs = errors.Join(errs, s.purge(ctx, p.sql, engine.Millis(p.before), engine.PurgeSlice)) // the others go on
	}
	keys := s.db.EachPart(ctx, func(_ context.Context, p engine.Part) error { // there may be many slices
		return s.purge(ctx, p.SQL(purgeKeys), p.Args(engine.Millis(now.Add(-idempotency.Kept-time.Hour)), engine.PurgeSlice)...)
	})
	return errors.Join(errs, keys, s.PurgeWebhooks(ctx, now))
}

const purgeKeys = `DELETE FROM idempotency WHERE (org_no, client_no, key_hash) IN
	(SELECT org_no, client_no, key_hash FROM idempotency WHERE created_at < $1 /*AND org_no = ANY($3)*/ ORDER BY created_at LIMIT $2) /*AND org_no = ANY($3)*/`

// purge deletes slices until there is nothing left to delete.
func (s System) purge(ctx context.Context, sql string, args ...any) error {
	for {
		var gone int64
		if err := s.db.Write(ctx, func(tx engine.Tx) (err error) {
			gone, err = tx.Exec(sql, args...)
			return err
		}); err != nil || gone < engine.PurgeSlice {
			return err
		}
	}
}

const purgeEvery = 5 * time.Minute

// KeepPurged purges every few minutes until the context ends, unless another
// node is elected to do that.
func (s System) KeepPurged(ctx context.Context) error {
	tick := time.NewTicker(purgeEvery)
	defer tick.Stop()
	for {
		var err error
		if s.db.Duty() != engine.Following {
			err = s.Purge(ctx)
		}
		if err != nil && ctx.Err() == nil {
			s.db.Log.Warn("could not remove all expired data; trying again later", "error", err)
		}
		if ctx.Err() == nil {
			s.metrics.purged.Done(engine.IgnorePart(err))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}
