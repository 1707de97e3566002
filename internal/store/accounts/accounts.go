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

// Account is a member of an organisation, who can sign in to the portal.
type Account struct {
	No      access.AccountNo
	ID      id.User
	Org     access.OrgNo
	OrgID   id.Org
	OrgName string
	Email   string
	Name    string
	Role    access.Role
	// PasswordHash is in the portal's own format.
	PasswordHash string
	CreatedAt    time.Time
	// SignedInAt and DisabledAt are zero if that never happened.
	SignedInAt, DisabledAt time.Time
}

// Principal returns the member as a principal with everything that its role
// permits.
func (a *Account) Principal() access.Principal {
	return access.Principal{Org: a.Org, OrgID: a.OrgID, Account: a.No, Scopes: a.Role.Scopes()}
}

// NewAccount describes a member to create. Email is in lower case.
type NewAccount struct {
	Email        string
	Name         string
	Role         access.Role
	PasswordHash string
}

const selectAccount = `SELECT a.account_no, a.id, a.org_no, o.id, o.name, a.email, a.name, a.role, a.password_hash, a.created_at, a.signed_in_at, a.disabled_at
	FROM account a JOIN org o ON o.org_no = a.org_no`

func scanAccount(r engine.Row) (a Account, err error) {
	a = Account{
		No: access.AccountNo(r.Int(0)), Org: access.OrgNo(r.Int(2)), OrgName: r.Text(4), Email: r.Text(5), Name: r.Text(6),
		Role: access.Role(r.Int(7)), PasswordHash: r.Text(8), CreatedAt: engine.FromMillis(r.Int(9)), SignedInAt: engine.Moment(r, 10), DisabledAt: engine.Moment(r, 11),
	}
	if a.ID, err = id.FromBytes[id.UserKind](r.Raw(1)); err != nil {
		return a, err
	}
	a.OrgID, err = id.FromBytes[id.OrgKind](r.Raw(3))
	return a, err
}

// oneAccount reads one account.
func oneAccount(tx engine.Tx, sql string, args ...any) (a Account, found bool, err error) {
	err = tx.Query(sql, func(r engine.Row) (err error) {
		found = true
		a, err = scanAccount(r)
		return err
	}, args...)
	return a, found, err
}

// AccountByEmail finds the account with an e-mail address, given in lower case.
func (s System) AccountByEmail(ctx context.Context, email string) (a Account, found bool, err error) {
	return engine.Find(ctx, s.db, func(tx engine.Tx) (Account, bool, error) {
		return oneAccount(tx, selectAccount+` WHERE a.email = $1`, email)
	})
}

// Accounts lists the members of all organisations in order of creation.
func (s System) Accounts(ctx context.Context) ([]Account, error) {
	return s.accounts(ctx, selectAccount+` ORDER BY a.account_no`)
}

func (s *tables) accounts(ctx context.Context, sql string, args ...any) (list []Account, err error) {
	err = s.db.Read(ctx, func(tx engine.Tx) error {
		list = nil
		return tx.Query(sql, func(r engine.Row) error {
			a, err := scanAccount(r)
			list = append(list, a)
			return err
		}, args...)
	})
	return list, err
}

// CreateAccount creates a member for the operator, and the organisation if
// there is none of that name.
func (s System) CreateAccount(ctx context.Context, org string, n NewAccount) (Account, error) {
	now := s.db.Now()
	orgID, userID := id.New[id.OrgKind](now), id.New[id.UserKind](now)
	var a Account
	err := s.journal.ChangeAny(ctx, func(tx engine.Tx) error {
		no, ofOrg, err := EnsureOrg(s.journal, tx, org, orgID, now)
		if err != nil {
			return err
		}
		a = Account{Org: no, OrgID: ofOrg, OrgName: org}
		return s.keepAccount(tx, &a, userID, n, journal.Operator(now))
	})
	return a, asTaken(err)
}

// keepAccount stores a new member; a.Org must be set.
func (s System) keepAccount(tx engine.Tx, a *Account, userID id.User, n NewAccount, line audit.Entry) error {
	*a = Account{
		ID: userID, Org: a.Org, OrgID: a.OrgID, OrgName: a.OrgName, Email: n.Email, Name: n.Name, Role: n.Role,
		PasswordHash: n.PasswordHash, CreatedAt: engine.FromMillis(engine.Millis(line.At)),
	}
	if err := tx.Query(`INSERT INTO account (org_no, id, email, name, role, password_hash, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING account_no`,
		func(r engine.Row) error { a.No = access.AccountNo(r.Int(0)); return nil },
		int64(a.Org), userID.Bytes(), n.Email, n.Name, int64(n.Role), n.PasswordHash, engine.Millis(line.At)); err != nil {
		return err
	}
	line.Action, line.Resource, line.Details = audit.MemberCreate, userID.String(), journal.Details("role", n.Role.String())
	tx.Last(s.journal.Entry(a.Org, journal.Change{Audit: line})...)
	return nil
}

// asTaken converts a duplicate address to an error with a clear message. It
// does not reveal the other member's organisation.
func asTaken(err error) error {
	if engine.IsDuplicate(err) {
		return fault.New(fault.Conflict, "A member with this e-mail address already exists.")
	}
	return err
}

// Accounts lists the members in order of creation.
func (o Org) Accounts(ctx context.Context) ([]Account, error) {
	return o.accounts(ctx, selectAccount+` WHERE a.org_no = $1 ORDER BY a.account_no`, int64(o.org))
}
