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
	for _, old := range []struct {
		sql    string
		before time.Time
	}{
		{oldest("token", "expires_at", ""), now.Add(-24 * time.Hour)},
		{oldest("rate_window", "window_end", ""), now.Add(-24 * time.Hour)},
		{oldest("client_secret", "expires_at", ""), now.Add(-24 * time.Hour)},
		{oldest("client_assertion", "expires_at", ""), now.Add(-clients.AssertionKept)},
		{oldest("account_session", "expires_at", ""), now},
		{oldest("invitation", "expires_at", ""), now},
		{oldest("sign_in_failure", "failed_at", ""), now.Add(-24 * time.Hour)},
		{oldest("sign_in_throttle", "tried_at", "AND signed_in_at IS NULL"), now.Add(-accounts.TriesKept)},
		{oldest("sign_in_throttle", "tried_at", ""), now.Add(-accounts.NetworkKnown)},
		{oldest("password_reset", "expires_at", ""), now},
		{oldestUsage, now.Add(-clients.UsageKept)},
		{oldest("webhook_node", "lease_until", ""), now.Add(-24 * time.Hour)},
		{oldest("spool_segment", "shipped_at", ""), now.Add(-7 * 24 * time.Hour)},
	} {
		errs = errors.Join(errs, s.purge(ctx, old.sql, engine.Millis(old.before), engine.PurgeSlice)) // the others go on
	}
	keys := s.db.EachPart(ctx, func(_ context.Context, p engine.Part) error { // there may be many slices
		return s.purge(ctx, p.SQL(oldestKeys), p.Args(engine.Millis(now.Add(-idempotency.Kept-time.Hour)), engine.PurgeSlice)...)
	})
	return errors.Join(errs, keys, s.PurgeWebhooks(ctx, now))
}

// oldest returns the statement that deletes a slice of the oldest rows of a table.
// Rows of the same millisecond are deleted together.
func oldest(table, column, and string) string {
	return `DELETE FROM ` + table + ` WHERE ` + column + ` <= (SELECT max(` + column + `) FROM
		(SELECT ` + column + ` FROM ` + table + ` WHERE ` + column + ` < $1 ` + and + ` ORDER BY ` + column + ` LIMIT $2) AS first) ` + and
}

var oldestKeys = oldest("idempotency", "created_at", "/*AND org_no = ANY($3)*/")

// oldestUsage deletes a slice of the oldest usage. An hour can have more rows than
// a slice.
const oldestUsage = `DELETE FROM client_usage WHERE (org_no, client_no, hour, outcome) IN
	(SELECT org_no, client_no, hour, outcome FROM client_usage WHERE hour < $1 ORDER BY hour LIMIT $2)`

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
