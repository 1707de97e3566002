package accounts

import (
	"context"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/lease"
)

// Session is a signed-in member.
type Session struct {
	Account   Account
	CreatedAt time.Time
	SeenAt    time.Time
	ExpiresAt time.Time
}

// SignIn starts a session, identified by the hash of its cookie, and resets the
// failed attempts from that network. The error is fault.Unauthorized if the
// member was disabled or got another password since the account was read.
func (s System) SignIn(ctx context.Context, a *Account, try SignInTry, hash []byte, lifetime time.Duration, line audit.Entry) error {
	line.Action, line.Member, line.Resource = audit.SessionCreate, a.ID.String(), a.ID.String()
	now := engine.Millis(line.At)
	return s.journal.ChangeAny(ctx, func(tx engine.Tx) error {
		same, err := tx.Exec(`UPDATE account SET signed_in_at = $3 WHERE org_no = $1 AND account_no = $2 AND password_hash = $4 AND disabled_at IS NULL`,
			int64(a.Org), int64(a.No), now, a.PasswordHash)
		if err != nil {
			return err
		}
		if same == 0 {
			return fault.New(fault.Unauthorized, "The account has changed.")
		}
		tx.Last(s.journal.Entry(a.Org, journal.Change{Audit: line})...)
		return tx.Many(
			try.succeeded(line.At),
			engine.Stmt{SQL: `INSERT INTO account_session (hash, org_no, account_no, created_at, seen_at, expires_at) VALUES ($1, $2, $3, $4, $4, $5)`,
				Args: []any{hash, int64(a.Org), int64(a.No), now, engine.Millis(line.At.Add(lifetime))}},
		)
	})
}

// seenGrain is the precision of the time a session was last seen, so that not
// every page costs a write.
const seenGrain = time.Minute

// Session finds a session and records that it was seen, unless it expired, was
// idle for too long, or its member was disabled. A session last seen in the
// future is invalid too, because its idle time is unknown.
func (s System) Session(ctx context.Context, hash []byte, idle time.Duration) (found bool, at Session, err error) {
	now := s.db.Now()
	err = s.db.Read(ctx, func(tx engine.Tx) error {
		return tx.Query(`SELECT a.account_no, a.id, a.org_no, o.id, o.name, a.email, a.name, a.role, a.password_hash, a.created_at, a.signed_in_at, a.disabled_at,
			s.created_at, s.seen_at, s.expires_at FROM account_session s JOIN account a ON a.account_no = s.account_no JOIN org o ON o.org_no = a.org_no
			WHERE s.hash = $1`, func(r engine.Row) (err error) {
			at = Session{CreatedAt: engine.FromMillis(r.Int(12)), SeenAt: engine.FromMillis(r.Int(13)), ExpiresAt: engine.FromMillis(r.Int(14))}
			at.Account, err = scanAccount(r)
			found = at.Account.DisabledAt.IsZero() && now.Before(at.ExpiresAt) && now.Before(at.SeenAt.Add(idle)) && !lease.Ahead(at.SeenAt, now)
			return err
		}, hash)
	})
	if err != nil || !found || now.Before(at.SeenAt.Add(seenGrain)) {
		return found, at, err
	}
	return true, at, s.db.Write(ctx, func(tx engine.Tx) error {
		_, err := tx.Exec(`UPDATE account_session SET seen_at = $2 WHERE hash = $1`, hash, engine.Millis(now))
		return err
	})
}

// EndSession signs a member out of this session, or of all sessions if
// everywhere is set.
func (o Org) EndSession(ctx context.Context, account access.AccountNo, hash []byte, everywhere bool, line audit.Entry) error {
	line.Action = audit.SessionEnd
	line.Details = journal.Details("everywhere", everywhere)
	return o.journal.Change(ctx, o.org, func(tx engine.Tx) error {
		end := engine.Stmt{SQL: `DELETE FROM account_session WHERE org_no = $1 AND hash = $2`, Args: []any{int64(o.org), hash}}
		if everywhere {
			end = o.dropSessions(account)
		}
		tx.Last(o.journal.Entry(o.org, journal.Change{Audit: line})...)
		_, err := tx.Exec(end.SQL, end.Args...)
		return err
	})
}

func (o Org) dropSessions(account access.AccountNo) engine.Stmt {
	return engine.Stmt{SQL: `DELETE FROM account_session WHERE org_no = $1 AND account_no = $2`, Args: []any{int64(o.org), int64(account)}}
}
