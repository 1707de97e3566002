package accounts

import (
	"context"
	"time"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/lease"
)

// SignInTry is one attempt to sign in: for which address, and from where.
type SignInTry struct {
	// EmailHash is the hash of the given e-mail address, whether or not a
	// member has it.
	EmailHash []byte
	// Network is the unit by which sources of attempts are counted. It is not
	// empty.
	Network string
}

// TryRules define how attempts are throttled.
type TryRules struct {
	// Lock returns how long a network is locked for one address after so many
	// attempts.
	Lock func(tries int64) time.Duration
	// LongestLock is the maximum that Lock returns. A lock that ends later
	// comes from a clock that has been set back.
	LongestLock time.Duration
	// Networks is the number of locked networks from which on all networks that
	// the member never signed in from share one attempt per Pace.
	Networks int64
	Pace     time.Duration
}

const (
	// TriesKept is the time without attempts after which the count restarts.
	TriesKept = 24 * time.Hour
	// NetworkKnown is how long a network counts as known after a member signed
	// in from it.
	NetworkKnown = 90 * 24 * time.Hour
)

// throttled is a row of the throttle.
type throttled struct {
	tries       int64
	triedAt     time.Time
	lockedUntil time.Time
	signedInAt  time.Time
}

func (t *throttled) scan(r engine.Row) error {
	*t = throttled{tries: r.Int(0), triedAt: engine.FromMillis(r.Int(1)), lockedUntil: engine.FromMillis(r.Int(2)), signedInAt: engine.Moment(r, 3)}
	return nil
}

// wait returns how long a lock lasts from now on, at most longest.
func (t *throttled) wait(now time.Time, longest time.Duration) time.Duration {
	if lease.Ahead(t.lockedUntil, now.Add(longest)) {
		return 0
	}
	return t.lockedUntil.Sub(now)
}

func tooOften(wait time.Duration) error {
	e := fault.New(fault.RateLimitExceeded, "Too many attempts.")
	e.RetryAfter = wait
	return e
}

// CountTry counts an attempt before the password is verified, so that
// concurrent attempts on all nodes count too. The error is
// fault.RateLimitExceeded, and nothing is counted, while the network is locked
// for this address, or while so many networks make attempts for the member that
// unknown ones share one. The caller reports the result with ReturnTry,
// RefuseTry, SignIn or SetPassword.
func (s System) CountTry(ctx context.Context, try SignInTry, rules TryRules, now time.Time) error {
	return s.db.Write(ctx, func(tx engine.Tx) error {
		var here, all throttled
		// Write the row before judging it, so that the second of two first
		// attempts waits here for the first.
		if err := tx.Query(countTry, here.scan, try.EmailHash, try.Network, engine.Millis(now), engine.Millis(now.Add(-TriesKept))); err != nil {
			return err
		}
		if wait := here.wait(now, rules.LongestLock); wait > 0 {
			return tooOften(wait)
		}
		if err := tx.Query(`SELECT tries, tried_at, locked_until, signed_in_at FROM sign_in_throttle WHERE email_hash = $1 AND network = ''`, all.scan, try.EmailHash); err != nil {
			return err
		}
		known := now.Before(here.signedInAt.Add(NetworkKnown)) && !lease.Ahead(here.signedInAt, now)
		if all.tries >= rules.Networks && now.Before(all.triedAt.Add(TriesKept)) && !known {
			took, err := tx.Exec(`UPDATE sign_in_throttle SET locked_until = $3 WHERE email_hash = $1 AND network = '' AND (locked_until <= $2 OR locked_until > $4)`,
				try.EmailHash, engine.Millis(now), engine.Millis(now.Add(rules.Pace)), engine.Millis(now.Add(rules.Pace+lease.ClockSkew)))
			if err != nil {
				return err
			}
			if took == 0 {
				return tooOften(max(all.wait(now, rules.Pace), time.Second))
			}
		}
		lock := rules.Lock(here.tries)
		if lock == 0 {
			return nil
		}
		if rules.Lock(here.tries-1) == 0 { // one more network that makes attempts for the member
			if err := tx.Query(countTry, func(engine.Row) error { return nil }, try.EmailHash, "", engine.Millis(now), engine.Millis(now.Add(-TriesKept))); err != nil {
				return err
			}
		}
		_, err := tx.Exec(`UPDATE sign_in_throttle SET locked_until = $3 WHERE email_hash = $1 AND network = $2`, try.EmailHash, try.Network, engine.Millis(now.Add(lock)))
		return err
	})
}

const countTry = `INSERT INTO sign_in_throttle (email_hash, network, tries, tried_at, locked_until) VALUES ($1, $2, 1, $3, 0)
	ON CONFLICT (email_hash, network) DO UPDATE SET tried_at = excluded.tried_at,
		tries = CASE WHEN sign_in_throttle.tried_at < $4 THEN 1 ELSE sign_in_throttle.tries + 1 END
	RETURNING tries, tried_at, locked_until, signed_in_at`

// ReturnTry takes back an attempt whose password was not verified.
func (s System) ReturnTry(ctx context.Context, try SignInTry, rules TryRules) error {
	return s.db.Write(ctx, func(tx engine.Tx) error {
		left := int64(-1)
		if err := tx.Query(`UPDATE sign_in_throttle SET tries = tries - 1 WHERE email_hash = $1 AND network = $2 AND tries > 0 RETURNING tries`,
			func(r engine.Row) error { left = r.Int(0); return nil }, try.EmailHash, try.Network); err != nil {
			return err
		}
		if left < 0 || rules.Lock(left) > 0 || rules.Lock(left+1) == 0 {
			return nil
		}
		_, err := tx.Exec(`UPDATE sign_in_throttle SET tries = tries - 1 WHERE email_hash = $1 AND network = '' AND tries > 0`, try.EmailHash)
		return err
	})
}

// RefuseTry stores the audit line of a wrong password if the address belongs to
// a member. Otherwise it writes as well, so that the response takes as long.
func (s System) RefuseTry(ctx context.Context, try SignInTry, member *Account, line audit.Entry) error {
	line.Action = audit.SessionRefuse
	return s.journal.ChangeAny(ctx, func(tx engine.Tx) error {
		if member != nil {
			line.Resource = member.ID.String()
			tx.Last(s.journal.Entry(member.Org, journal.Change{Audit: line})...)
		}
		_, err := tx.Exec(`UPDATE sign_in_throttle SET tried_at = $3 WHERE email_hash = $1 AND network = $2`, try.EmailHash, try.Network, engine.Millis(line.At))
		return err
	})
}

// succeeded returns the statement that updates the throttle after a correct
// password: the network is known from now on.
func (try SignInTry) succeeded(now time.Time) engine.Stmt {
	return engine.Stmt{SQL: `INSERT INTO sign_in_throttle (email_hash, network, tries, tried_at, locked_until, signed_in_at) VALUES ($1, $2, 0, $3, 0, $3)
		ON CONFLICT (email_hash, network) DO UPDATE SET tries = 0, tried_at = excluded.tried_at, locked_until = 0, signed_in_at = excluded.signed_in_at`,
		Args: []any{try.EmailHash, try.Network, engine.Millis(now)}}
}

// forgetTries returns the statements that end all locks of an address. They
// lock rows in the same order as CountTry.
func forgetTries(emailHash []byte) []engine.Stmt {
	return []engine.Stmt{
		{SQL: `UPDATE sign_in_throttle SET tries = 0, locked_until = 0 WHERE email_hash = $1 AND network <> ''`, Args: []any{emailHash}},
		{SQL: `UPDATE sign_in_throttle SET tries = 0, locked_until = 0 WHERE email_hash = $1 AND network = ''`, Args: []any{emailHash}},
	}
}
