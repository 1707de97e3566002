package accounts

import (
	"context"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
)

// Actor reads the member who makes a change, in the transaction of the change:
// the role may have been lowered since the page was opened.
func Actor(tx engine.Tx, org access.OrgNo, account access.AccountNo) (Account, error) {
	a, found, err := oneAccount(tx, selectAccount+` WHERE a.org_no = $1 AND a.account_no = $2`, int64(org), int64(account))
	if err == nil && (!found || !a.DisabledAt.IsZero()) {
		err = fault.New(fault.Forbidden, "Only an active member of the organisation may do this.")
	}
	return a, err
}

// administrator returns an error unless the member is an administrator.
func (o Org) administrator(tx engine.Tx) error { return OnlyAdministrator(tx, o.org, o.account) }

// OnlyAdministrator returns an error unless the member is an administrator.
func OnlyAdministrator(tx engine.Tx, org access.OrgNo, account access.AccountNo) error {
	a, err := Actor(tx, org, account)
	if err == nil && !a.Role.Has(access.Administrator) {
		err = fault.New(fault.Forbidden, "Only an administrator may do this.")
	}
	return err
}

// operatorMay permits every change, for the command line.
func operatorMay(engine.Tx) error { return nil }

// SetRole gives a member another role. It ends the member's sessions, so that
// none continues with the old role. applications is the number of active ones
// that the member registered: they keep working, and the member may know their
// secrets.
func (o Org) SetRole(ctx context.Context, userID id.User, role access.Role, line audit.Entry) (applications int64, err error) {
	return o.setRole(ctx, o.administrator, userID, role, line)
}

// SetRole is [Org.SetRole] for the operator, by e-mail address in lower case.
func (s System) SetRole(ctx context.Context, email string, role access.Role) (a Account, applications int64, err error) {
	o, a, err := s.accountOf(ctx, email)
	if err != nil {
		return a, 0, err
	}
	a.Role = role
	applications, err = o.setRole(ctx, operatorMay, a.ID, role, journal.Operator(s.db.Now()))
	return a, applications, err
}

func (o Org) setRole(ctx context.Context, may func(engine.Tx) error, userID id.User, role access.Role, line audit.Entry) (applications int64, err error) {
	line.Details = journal.Details("role", role.String())
	err = o.changeAccount(ctx, may, userID, line, func(tx engine.Tx, a Account) error {
		if a.Role == access.Administrator && role != access.Administrator {
			if err := o.anotherAdministrator(tx, a); err != nil {
				return err
			}
		}
		stmts := []engine.Stmt{
			{SQL: `UPDATE account SET role = $3 WHERE org_no = $1 AND account_no = $2`, Args: []any{int64(o.org), int64(a.No), int64(role)}},
			o.dropSessions(a.No), o.countApplications(a.No, &applications),
		}
		if role != access.Administrator {
			stmts = append(stmts, o.voidLinks(a.No)...)
		}
		return tx.Many(stmts...)
	})
	return applications, err
}

// SetDisabled disables or enables a member. A disabled member cannot sign in.
// applications is as in [Org.SetRole].
func (o Org) SetDisabled(ctx context.Context, userID id.User, disabled bool, line audit.Entry) (applications int64, err error) {
	return o.setDisabled(ctx, o.administrator, userID, disabled, line)
}

// SetDisabled is [Org.SetDisabled] for the operator, by e-mail address in lower
// case.
func (s System) SetDisabled(ctx context.Context, email string, disabled bool) (a Account, applications int64, err error) {
	o, a, err := s.accountOf(ctx, email)
	if err != nil {
		return a, 0, err
	}
	applications, err = o.setDisabled(ctx, operatorMay, a.ID, disabled, journal.Operator(s.db.Now()))
	return a, applications, err
}

func (o Org) setDisabled(ctx context.Context, may func(engine.Tx) error, userID id.User, disabled bool, line audit.Entry) (applications int64, err error) {
	line.Details = journal.Details("disabled", disabled)
	err = o.changeAccount(ctx, may, userID, line, func(tx engine.Tx, a Account) error {
		var at any
		stmts := []engine.Stmt{o.dropSessions(a.No), o.countApplications(a.No, &applications)}
		if disabled {
			at = engine.Millis(line.At)
			if err := o.anotherAdministrator(tx, a); err != nil {
				return err
			}
			stmts = append(stmts, o.dropResets(a.No))
			stmts = append(stmts, o.voidLinks(a.No)...)
		}
		return tx.Many(append([]engine.Stmt{
			{SQL: `UPDATE account SET disabled_at = $3 WHERE org_no = $1 AND account_no = $2`, Args: []any{int64(o.org), int64(a.No), at}},
		}, stmts...)...)
	})
	return applications, err
}

// countApplications returns the statement that counts the active applications
// that a member registered.
func (o Org) countApplications(account access.AccountNo, n *int64) engine.Stmt {
	return engine.Stmt{SQL: `SELECT count(*) FROM client WHERE org_no = $1 AND owner_no = $2 AND revoked_at IS NULL`, Args: []any{int64(o.org), int64(account)},
		Each: func(r engine.Row) error { *n = r.Int(0); return nil }}
}

// SetPassword changes the password of the member of the view and ends all its
// sessions. The caller must have verified the password in a.
func (o Org) SetPassword(ctx context.Context, a *Account, hash string, try SignInTry, line audit.Entry) error {
	line.Action = audit.MemberPassword
	return o.changeAccount(ctx, operatorMay, a.ID, line, func(tx engine.Tx, now Account) error {
		if now.No != o.account || now.PasswordHash != a.PasswordHash || !now.DisabledAt.IsZero() {
			return fault.New(fault.Conflict, "The password was changed in the meantime; sign in again.")
		}
		return tx.Many(append(o.newPassword(now.No, hash), try.succeeded(line.At))...)
	})
}

// newPassword returns the statements that set a password. They end all sessions
// and reset links.
func (o Org) newPassword(account access.AccountNo, hash string) []engine.Stmt {
	return []engine.Stmt{
		{SQL: `UPDATE account SET password_hash = $3 WHERE org_no = $1 AND account_no = $2`, Args: []any{int64(o.org), int64(account), hash}},
		o.dropResets(account), o.dropSessions(account),
	}
}

// dropResets returns the statement that deletes the reset links of a member.
func (o Org) dropResets(account access.AccountNo) engine.Stmt {
	return engine.Stmt{SQL: `DELETE FROM password_reset WHERE org_no = $1 AND account_no = $2`, Args: []any{int64(o.org), int64(account)}}
}

// voidLinks returns the statements that delete the links a member made for
// others. They run when the member is no longer an administrator, because such
// a link could restore that role.
func (o Org) voidLinks(account access.AccountNo) []engine.Stmt {
	return []engine.Stmt{
		{SQL: `DELETE FROM invitation WHERE org_no = $1 AND made_by = $2`, Args: []any{int64(o.org), int64(account)}},
		{SQL: `DELETE FROM password_reset WHERE org_no = $1 AND made_by = $2`, Args: []any{int64(o.org), int64(account)}},
	}
}

// accountOf finds a member by e-mail address, for the operator.
func (s System) accountOf(ctx context.Context, email string) (Org, Account, error) {
	a, found, err := s.AccountByEmail(ctx, email)
	if err == nil && !found {
		err = fault.New(fault.NotFound, "There is no member with this e-mail address.")
	}
	return s.of(a.Org), a, err
}

// lockMembers serializes changes to an organisation's members, by locking its
// counter.
func (s *tables) lockMembers(tx engine.Tx, org access.OrgNo) error {
	_, err := engine.One(tx, `SELECT patients FROM org_counter WHERE org_no = $1 /*FOR UPDATE*/`, func(engine.Row) {}, int64(org))
	return err
}

// changeAccount changes a member and appends the audit line, whose action is an
// update unless set. may decides, in the transaction, whether the caller may
// make the change.
func (o Org) changeAccount(ctx context.Context, may func(engine.Tx) error, userID id.User, line audit.Entry, fn func(engine.Tx, Account) error) error {
	if line.Action == "" {
		line.Action = audit.MemberUpdate
	}
	line.Resource = userID.String()
	return o.journal.Change(ctx, o.org, func(tx engine.Tx) error {
		if err := o.lockMembers(tx, o.org); err != nil {
			return err
		}
		a, found, err := oneAccount(tx, selectAccount+` WHERE a.org_no = $1 AND a.id = $2`, int64(o.org), userID.Bytes())
		if err != nil {
			return err
		}
		if !found {
			return fault.Missing("member", userID.String())
		}
		if err := may(tx); err != nil {
			return err
		}
		if err := fn(tx, a); err != nil {
			return err
		}
		tx.Last(o.journal.Entry(o.org, journal.Change{Audit: line})...)
		return nil
	})
}

// anotherAdministrator returns an error if an organisation would be left
// without an administrator.
func (o Org) anotherAdministrator(tx engine.Tx, but Account) error {
	others := int64(0)
	if _, err := engine.One(tx, `SELECT count(*) FROM account WHERE org_no = $1 AND role = $2 AND disabled_at IS NULL AND account_no <> $3`,
		func(r engine.Row) { others = r.Int(0) }, int64(o.org), int64(access.Administrator), int64(but.No)); err != nil {
		return err
	}
	if but.Role == access.Administrator && others == 0 {
		return fault.New(fault.Conflict, "This is the only administrator; make another member an administrator first.")
	}
	return nil
}
