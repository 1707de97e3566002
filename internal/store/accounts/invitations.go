package accounts

import (
	"context"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
)

// Invitation is a one-time link to become a member.
type Invitation struct {
	Org     access.OrgNo
	OrgID   id.Org
	OrgName string
	Role    access.Role
	// First marks the invitation that a new installation prints. It is valid as
	// long as there is no member.
	First     bool
	ExpiresAt time.Time
}

// Invite stores an invitation by the hash of its link.
func (o Org) Invite(ctx context.Context, hash []byte, role access.Role, lifetime time.Duration, line audit.Entry) error {
	line.Action, line.Details = audit.MemberInvite, journal.Details("role", role.String())
	return o.journal.Change(ctx, o.org, func(tx engine.Tx) error {
		if err := o.administrator(tx); err != nil {
			return err
		}
		tx.Last(o.journal.Entry(o.org, journal.Change{Audit: line})...)
		return o.keepInvitation(tx, o.org, hash, role, 0, int64(o.account), line.At, lifetime)
	})
}

// InviteFirst stores an invitation for the first administrator of an
// organisation, which it creates if it is missing. There may be several, from
// nodes that started together; the first one used invalidates the others. It
// does nothing if there is a member in any organisation.
func (s System) InviteFirst(ctx context.Context, org string, hash []byte, lifetime time.Duration) (invited bool, err error) {
	now := s.db.Now()
	orgID := id.New[id.OrgKind](now)
	err = s.journal.ChangeAny(ctx, func(tx engine.Tx) error {
		invited = false
		if found, err := engine.One(tx, `SELECT account_no FROM account ORDER BY account_no LIMIT 1`, func(engine.Row) {}); err != nil || found {
			return err
		}
		no, _, err := EnsureOrg(s.journal, tx, org, orgID, now)
		if err != nil {
			return err
		}
		invited = true
		tx.Last(s.journal.Entry(no, journal.Change{Audit: audit.Entry{At: now, Actor: audit.Operator, Action: audit.MemberInvite,
			Details: journal.Details("role", access.Administrator.String())}})...)
		return s.keepInvitation(tx, no, hash, access.Administrator, 1, nil, now, lifetime)
	})
	return invited, err
}

// InvitesFirst reports whether an invitation of InviteFirst can still be used.
func (s System) InvitesFirst(ctx context.Context, hash []byte) (open bool, err error) {
	err = s.db.Read(ctx, func(tx engine.Tx) error {
		open, err = engine.One(tx, `SELECT 1 FROM invitation i WHERE i.hash = $1 AND i.expires_at > $2
			AND NOT EXISTS (SELECT 1 FROM account a WHERE a.org_no = i.org_no)`, func(engine.Row) {}, hash, engine.Millis(s.db.Now()))
		return err
	})
	return open, err
}

func (s *tables) keepInvitation(tx engine.Tx, org access.OrgNo, hash []byte, role access.Role, first int64, by any, now time.Time, lifetime time.Duration) error {
	_, err := tx.Exec(`INSERT INTO invitation (hash, org_no, role, first, made_by, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		hash, int64(org), int64(role), first, by, engine.Millis(now), engine.Millis(now.Add(lifetime)))
	return err
}

// Invitation returns the invitation of a link. found is false if it was used or
// has expired.
func (s System) Invitation(ctx context.Context, hash []byte) (inv Invitation, found bool, err error) {
	return engine.Find(ctx, s.db, func(tx engine.Tx) (Invitation, bool, error) { return s.invitation(tx, hash) })
}

func (s System) invitation(tx engine.Tx, hash []byte) (inv Invitation, found bool, err error) {
	found, err = engine.One(tx, `SELECT i.org_no, o.id, o.name, i.role, i.first, i.expires_at FROM invitation i JOIN org o ON o.org_no = i.org_no WHERE i.hash = $1`, func(r engine.Row) {
		inv = Invitation{Org: access.OrgNo(r.Int(0)), OrgName: r.Text(2), Role: access.Role(r.Int(3)), First: r.Int(4) == 1, ExpiresAt: engine.FromMillis(r.Int(5))}
		inv.OrgID, _ = id.FromBytes[id.OrgKind](r.Raw(1))
	}, hash)
	return inv, found && s.db.Now().Before(inv.ExpiresAt), err
}

// Join creates a member by an invitation, which it uses up. The role is that of
// the invitation.
func (s System) Join(ctx context.Context, hash []byte, n NewAccount, line audit.Entry) (Account, error) {
	userID := id.New[id.UserKind](line.At)
	line.Member = userID.String()
	var a Account
	err := s.journal.ChangeAny(ctx, func(tx engine.Tx) error {
		inv, found, err := s.invitation(tx, hash)
		if err != nil {
			return err
		}
		if found && inv.First {
			// Lock before deleting links: otherwise a caller that has deleted
			// one and waits for the lock would block the one that holds it and
			// deletes all of them.
			if err := s.lockMembers(tx, inv.Org); err != nil {
				return err
			}
		}
		// If two callers use a link at the same time, only one deletes it.
		used, err := tx.Exec(`DELETE FROM invitation WHERE hash = $1`, hash)
		if err != nil {
			return err
		}
		if !found || used == 0 {
			return fault.New(fault.NotFound, "This link has been used or has expired.", "resource", "invitation")
		}
		if inv.First {
			if err := s.beFirst(tx, inv.Org); err != nil {
				return err
			}
		}
		n.Role = inv.Role
		a = Account{Org: inv.Org, OrgID: inv.OrgID, OrgName: inv.OrgName}
		return s.keepAccount(tx, &a, userID, n, line)
	})
	return a, asTaken(err)
}

// beFirst ensures, under lockMembers, that an organisation gets only one first
// administrator, even if several invitations are used at once.
func (s System) beFirst(tx engine.Tx, org access.OrgNo) error {
	taken, err := engine.One(tx, `SELECT account_no FROM account WHERE org_no = $1 LIMIT 1`, func(engine.Row) {}, int64(org))
	if err != nil {
		return err
	}
	if taken {
		return fault.New(fault.Conflict, "This organisation already has an administrator.")
	}
	_, err = tx.Exec(`DELETE FROM invitation WHERE org_no = $1 AND first = 1`, int64(org))
	return err
}
