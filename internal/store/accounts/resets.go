package accounts

import (
	"context"
	"crypto/sha256"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
)

// MakeReset stores a one-time link, by its hash, with which a member can set a
// new password. It invalidates the member's earlier links.
func (o Org) MakeReset(ctx context.Context, userID id.User, hash []byte, lifetime time.Duration, line audit.Entry) (Account, error) {
	return o.makeReset(ctx, o.administrator, userID, hash, lifetime, line)
}

// MakeReset is [Org.MakeReset] for the operator, by e-mail address in lower
// case.
func (s System) MakeReset(ctx context.Context, email string, hash []byte, lifetime time.Duration) (Account, error) {
	o, a, err := s.accountOf(ctx, email)
	if err != nil {
		return a, err
	}
	return o.makeReset(ctx, operatorMay, a.ID, hash, lifetime, journal.Operator(s.db.Now()))
}

func (o Org) makeReset(ctx context.Context, may func(engine.Tx) error, userID id.User, hash []byte, lifetime time.Duration, line audit.Entry) (of Account, err error) {
	line.Action = audit.MemberReset
	var by any // nil for the operator
	if o.account != 0 {
		by = int64(o.account)
	}
	err = o.changeAccount(ctx, may, userID, line, func(tx engine.Tx, a Account) error {
		of = a
		if !a.DisabledAt.IsZero() {
			return fault.New(fault.Conflict, "The member is disabled; enable it first.")
		}
		return tx.Many(
			o.dropResets(a.No),
			engine.Stmt{SQL: `INSERT INTO password_reset (hash, org_no, account_no, made_by, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6)`,
				Args: []any{hash, int64(o.org), int64(a.No), by, engine.Millis(line.At), engine.Millis(line.At.Add(lifetime))}})
	})
	return of, err
}

// Reset returns the account whose password a link may set. found is false if
// the link was used, replaced or has expired, or if the member is disabled.
func (s System) Reset(ctx context.Context, hash []byte) (a Account, found bool, err error) {
	return engine.Find(ctx, s.db, func(tx engine.Tx) (Account, bool, error) { return s.reset(tx, hash) })
}

func (s System) reset(tx engine.Tx, hash []byte) (a Account, found bool, err error) {
	no := access.AccountNo(0)
	if found, err = engine.One(tx, `SELECT r.account_no FROM password_reset r JOIN account a ON a.account_no = r.account_no
		WHERE r.hash = $1 AND r.expires_at > $2 AND a.disabled_at IS NULL`, func(r engine.Row) { no = access.AccountNo(r.Int(0)) }, hash, engine.Millis(s.db.Now())); err != nil || !found {
		return a, false, err
	}
	return oneAccount(tx, selectAccount+` WHERE a.account_no = $1`, int64(no))
}

// UseReset sets a password by a link, which it uses up. It ends the member's
// sessions and the locks of its address. The error is fault.NotFound if the
// link is not valid.
func (s System) UseReset(ctx context.Context, hash []byte, passwordHash string, line audit.Entry) (a Account, err error) {
	line.Action = audit.MemberPassword
	err = s.journal.ChangeAny(ctx, func(tx engine.Tx) error {
		found := false
		if a, found, err = s.reset(tx, hash); err != nil {
			return err
		}
		// If two callers use a link at the same time, only one deletes it.
		used := int64(0)
		if found {
			if err := s.lockMembers(tx, a.Org); err != nil {
				return err
			}
			if used, err = tx.Exec(`DELETE FROM password_reset WHERE org_no = $1 AND hash = $2`, int64(a.Org), hash); err != nil {
				return err
			}
		}
		if used == 0 {
			return fault.New(fault.NotFound, "This link has been used or has expired.", "resource", "password_reset")
		}
		o := s.of(a.Org)
		emailHash := sha256.Sum256([]byte(a.Email))
		line.Member, line.Resource, line.Details = a.ID.String(), a.ID.String(), journal.Details("by", "reset link")
		tx.Last(s.journal.Entry(a.Org, journal.Change{Audit: line})...)
		return tx.Many(append(o.newPassword(a.No, passwordHash), forgetTries(emailHash[:])...)...)
	})
	return a, err
}
