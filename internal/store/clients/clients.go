package clients

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/accounts"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
)

// Client is a registered application.
type Client struct {
	No      access.ClientNo
	ID      id.Client
	Org     access.OrgNo
	OrgID   id.Org
	OrgName string
	Name    string
	// Description is the purpose of the application.
	Description string
	Tier        access.Tier
	Scopes      access.Scopes
	// Requested are scopes that have been waiting for an administrator since
	// RequestedAt.
	Requested   access.Scopes
	RequestedAt time.Time
	// Owner is the member who registered it in the portal, or nil if the
	// operator did.
	Owner     *Owner
	CreatedAt time.Time
	// RevokedAt and LastUsedAt are zero if that never happened.
	RevokedAt, LastUsedAt time.Time
	// Secrets is the number of valid secrets.
	Secrets int
	// Secret is the one that the client authenticated with, if it did.
	Secret Secret
}

// Owner is the member who registered an application.
type Owner struct {
	No    access.AccountNo
	ID    id.User
	Name  string
	Email string
	// Role is the member's role at the time of registration, which determined
	// the scopes granted.
	Role     access.Role
	Disabled bool
}

// ManagedBy reports whether a member may rotate or revoke the application, or
// request scopes for it. Administrators may, and so may its owner unless
// registered with a role that the owner no longer has. A secret permits
// everything that the application may do, so no other member may.
func (c *Client) ManagedBy(a *accounts.Account) bool {
	if a.Role.Has(access.Administrator) {
		return true
	}
	return a.Role.Has(access.Developer) && c.Owner != nil && c.Owner.No == a.No && a.Role.Has(c.Owner.Role)
}

// Secret describes a client's secret.
type Secret struct {
	Hash []byte
	// ExpiresAt is zero if the secret does not expire, and UsedAt if it was
	// never used; UsedAt has a precision of LastUsedGrain.
	ExpiresAt, UsedAt time.Time
}

// Principal returns the client as a principal with everything granted to it.
func (c *Client) Principal() access.Principal {
	return access.Principal{Org: c.Org, OrgID: c.OrgID, Client: c.No, ClientID: c.ID, Scopes: c.Scopes, Tier: c.Tier}
}

// NewClient describes a client to create. It contains only the hash of the
// secret.
type NewClient struct {
	// Org is the name of the organisation. Only System uses it.
	Org         string
	Name        string
	Description string
	Tier        access.Tier
	// Scopes are the requested scopes. A member grants those that its role
	// permits; the rest wait for an administrator.
	Scopes     access.Scopes
	SecretHash []byte
	// Keys and KeysURI are what it signs assertions with, if it does.
	Keys    []Key
	KeysURI string
}

// CreateClient creates a client, and its organisation if there is none of that
// name.
func (s System) CreateClient(ctx context.Context, n NewClient) (c Client, err error) {
	now := s.db.Now()
	orgID, clientID := id.New[id.OrgKind](now), id.New[id.ClientKind](now)
	err = s.journal.ChangeAny(ctx, func(tx engine.Tx) (err error) {
		c = Client{OrgName: n.Org}
		if c.Org, c.OrgID, err = accounts.EnsureOrg(s.journal, tx, n.Org, orgID, now); err != nil {
			return err
		}
		return s.keepClient(tx, &c, clientID, n, nil, journal.Operator(now))
	})
	return c, err
}

// keepClient stores a new client; c.Org must be set. by is the member who
// creates it, or nil for the operator.
func (s *tables) keepClient(tx engine.Tx, c *Client, clientID id.Client, n NewClient, by *accounts.Account, line audit.Entry) error {
	*c = Client{
		ID: clientID, Org: c.Org, OrgID: c.OrgID, OrgName: c.OrgName, Name: n.Name, Description: n.Description, Tier: n.Tier, Scopes: n.Scopes,
		CreatedAt: engine.FromMillis(engine.Millis(line.At)), Secrets: 1,
	}
	var owner, role, asked any
	if by != nil {
		c.Owner = &Owner{No: by.No, ID: by.ID, Name: by.Name, Email: by.Email, Role: by.Role}
		owner, role = int64(by.No), int64(by.Role)
		c.Scopes, c.Requested = n.Scopes&by.Role.Grants(), n.Scopes&^by.Role.Grants()
		if !by.Role.Has(access.Administrator) {
			c.Tier = access.Standard
		}
		if c.Requested != 0 {
			c.RequestedAt, asked = c.CreatedAt, engine.Millis(line.At)
		}
	}
	if err := tx.Query(`INSERT INTO client (org_no, id, name, description, tier, scopes, created_at, owner_no, owner_role, requested, requested_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING client_no`,
		func(r engine.Row) error { c.No = access.ClientNo(r.Int(0)); return nil },
		int64(c.Org), clientID.Bytes(), n.Name, n.Description, int64(c.Tier), int64(c.Scopes), engine.Millis(line.At), owner, role, int64(c.Requested), asked); err != nil {
		return err
	}
	if _, err := tx.Exec(`INSERT INTO client_secret (client_no, hash, created_at) VALUES ($1, $2, $3)`,
		int64(c.No), n.SecretHash, engine.Millis(line.At)); err != nil {
		return err
	}
	line.Action, line.Resource = audit.ClientCreate, clientID.String()
	about := []any{"name", n.Name, "tier", c.Tier.String(), "scope", c.Scopes.String()}
	for _, key := range n.Keys {
		if err := insertKey(tx, c, key, line.At); err != nil {
			return err
		}
	}
	if len(n.Keys) > 0 {
		about = append(about, "kid", kids(n.Keys))
	}
	if n.KeysURI != "" {
		if err := insertKeysURI(tx, c, n.KeysURI, line.At); err != nil {
			return err
		}
		about = append(about, "jwks_uri", n.KeysURI)
	}
	if c.Requested != 0 {
		about = append(about, "requested", c.Requested.String())
	}
	line.Details = journal.Details(about...)
	tx.Last(s.journal.Entry(c.Org, journal.Change{Audit: line})...)
	return nil
}

const selectClient = `SELECT c.client_no, c.id, c.org_no, o.id, o.name, c.name, c.tier, c.scopes, c.created_at, c.revoked_at,
	(SELECT count(*) FROM client_secret s WHERE s.client_no = c.client_no AND (s.expires_at IS NULL OR s.expires_at > $1)),
	(SELECT max(used) FROM (SELECT last_used_at AS used FROM client_secret s WHERE s.client_no = c.client_no
		UNION ALL SELECT last_used_at FROM client_key k WHERE k.client_no = c.client_no
		UNION ALL SELECT last_used_at FROM client_jwks_uri u WHERE u.client_no = c.client_no) AS uses), c.description,
	c.requested, c.requested_at, w.account_no, w.id, w.name, w.email, c.owner_role, w.disabled_at
	FROM client c JOIN org o ON o.org_no = c.org_no LEFT JOIN account w ON w.account_no = c.owner_no`

func scanClient(r engine.Row) (c Client, err error) {
	c = Client{
		No: access.ClientNo(r.Int(0)), Org: access.OrgNo(r.Int(2)), OrgName: r.Text(4), Name: r.Text(5),
		Tier: access.Tier(r.Int(6)), Scopes: access.Scopes(r.Int(7)), CreatedAt: engine.FromMillis(r.Int(8)), Secrets: int(r.Int(10)),
		Description: r.Text(12), Requested: access.Scopes(r.Int(13)), RequestedAt: engine.Moment(r, 14),
		RevokedAt: engine.Moment(r, 9), LastUsedAt: engine.Moment(r, 11),
	}
	if !r.IsNull(15) {
		c.Owner = &Owner{No: access.AccountNo(r.Int(15)), Name: r.Text(17), Email: r.Text(18), Role: access.Role(r.Int(19)), Disabled: !r.IsNull(20)}
		if c.Owner.ID, err = id.FromBytes[id.UserKind](r.Raw(16)); err != nil {
			return c, err
		}
	}
	if c.ID, err = id.FromBytes[id.ClientKind](r.Raw(1)); err != nil {
		return c, err
	}
	c.OrgID, err = id.FromBytes[id.OrgKind](r.Raw(3))
	return c, err
}

// Clients lists all clients in order of creation.
func (s System) Clients(ctx context.Context) (clients []Client, err error) {
	err = s.db.Read(ctx, func(tx engine.Tx) error {
		return tx.Query(selectClient+` ORDER BY c.client_no`, func(r engine.Row) error {
			c, err := scanClient(r)
			clients = append(clients, c)
			return err
		}, engine.Millis(s.db.Now()))
	})
	return clients, err
}

const clientByID = selectClient + ` WHERE c.id = $2 AND (c.org_no = $3 OR $3 = 0)`

// client reads a client, of one organisation or, with anyOrg, of any.
func client(tx engine.Tx, clientID id.Client, org access.OrgNo, now time.Time) (c Client, err error) {
	found := false
	err = tx.Query(clientByID, func(r engine.Row) (err error) {
		found = true
		c, err = scanClient(r)
		return err
	}, engine.Millis(now), clientID.Bytes(), int64(org))
	if err == nil && !found {
		err = fault.Missing("client", clientID.String())
	}
	return c, err
}

// anyOrg is for the operator, who has access to all organisations. Their
// numbers start at 1.
const anyOrg access.OrgNo = 0

// changeClient changes a client and increments the access epoch, so that every
// node notices the change. The epoch comes first: its row is a lock that
// serializes changes, so that each sees the result of the previous one. may
// decides, in the transaction, whether the caller may make the change.
func (s *tables) changeClient(ctx context.Context, org access.OrgNo, clientID id.Client, may mayChange, line audit.Entry, fn func(engine.Tx, Client) error) error {
	return s.changeClientAs(ctx, org, clientID, may, func() audit.Entry { return line }, fn)
}

// mayChange returns an error if the caller may not change a client.
type mayChange func(engine.Tx, *Client) error

// operatorMayChange permits every change, for the command line.
func operatorMayChange(engine.Tx, *Client) error { return nil }

// changeClientAs is changeClient with an audit line that is known only after
// fn.
func (s *tables) changeClientAs(ctx context.Context, org access.OrgNo, clientID id.Client, may mayChange, line func() audit.Entry, fn func(engine.Tx, Client) error) error {
	at := s.db.Now()
	return s.journal.ChangeAny(ctx, func(tx engine.Tx) error {
		if err := bumpAccessEpoch(tx); err != nil {
			return err
		}
		c, err := client(tx, clientID, org, at)
		if err != nil {
			return err
		}
		if err := may(tx, &c); err != nil {
			return err
		}
		if err := fn(tx, c); err != nil {
			return err
		}
		entry := line()
		entry.Resource = clientID.String()
		tx.Last(s.journal.Entry(c.Org, journal.Change{Audit: entry})...)
		return nil
	})
}

// RotateSecret gives a client a new secret. The previous one stays valid for
// overlap; older ones end at once, so that at most two are valid.
func (s System) RotateSecret(ctx context.Context, clientID id.Client, hash []byte, overlap time.Duration) error {
	return s.rotateSecret(ctx, anyOrg, operatorMayChange, clientID, hash, overlap, journal.Operator(s.db.Now()))
}

func (s *tables) rotateSecret(ctx context.Context, org access.OrgNo, may mayChange, clientID id.Client, hash []byte, overlap time.Duration, line audit.Entry) error {
	line.Action, line.Details = audit.ClientRotate, journal.Details("overlap_seconds", int64(overlap.Seconds()))
	return s.changeClient(ctx, org, clientID, may, line, func(tx engine.Tx, c Client) error {
		if !c.RevokedAt.IsZero() {
			return fault.New(fault.Conflict, fmt.Sprintf("Client %s is revoked.", clientID))
		}
		return tx.Many(
			engine.Stmt{SQL: `DELETE FROM client_secret WHERE client_no = $1 AND expires_at IS NOT NULL`, Args: []any{int64(c.No)}},
			engine.Stmt{SQL: `UPDATE client_secret SET expires_at = $2 WHERE client_no = $1 AND expires_at IS NULL`, Args: []any{int64(c.No), engine.Millis(line.At.Add(overlap))}},
			engine.Stmt{SQL: `INSERT INTO client_secret (client_no, hash, created_at) VALUES ($1, $2, $3)`, Args: []any{int64(c.No), hash, engine.Millis(line.At)}},
		)
	})
}

// RevokeClient revokes a client, its secrets and all its tokens.
func (s System) RevokeClient(ctx context.Context, clientID id.Client) error {
	return s.revokeClient(ctx, anyOrg, operatorMayChange, clientID, journal.Operator(s.db.Now()))
}

func (s *tables) revokeClient(ctx context.Context, org access.OrgNo, may mayChange, clientID id.Client, line audit.Entry) error {
	line.Action = audit.ClientRevoke
	return s.changeClient(ctx, org, clientID, may, line, func(tx engine.Tx, c Client) error {
		_, err := tx.Exec(`UPDATE client SET revoked_at = coalesce(revoked_at, $2) WHERE client_no = $1`, int64(c.No), engine.Millis(line.At))
		return err
	})
}

// SetTier moves a client to another tier.
func (s System) SetTier(ctx context.Context, clientID id.Client, tier access.Tier) error {
	return s.setTier(ctx, anyOrg, operatorMayChange, clientID, tier, journal.Operator(s.db.Now()))
}

func (s *tables) setTier(ctx context.Context, org access.OrgNo, may mayChange, clientID id.Client, tier access.Tier, line audit.Entry) error {
	line.Action, line.Details = audit.ClientTier, journal.Details("tier", tier.String())
	return s.changeClient(ctx, org, clientID, may, line, func(tx engine.Tx, c Client) error {
		_, err := tx.Exec(`UPDATE client SET tier = $2 WHERE client_no = $1`, int64(c.No), int64(tier))
		return err
	})
}

// Credentials returns a client with its valid secrets, for the token endpoint.
func (s System) Credentials(ctx context.Context, clientID id.Client) (c Client, secrets []Secret, err error) {
	now := s.db.Now()
	found := false
	err = s.db.Read(ctx, func(tx engine.Tx) error {
		return tx.Many(
			engine.Stmt{SQL: clientByID, Args: []any{engine.Millis(now), clientID.Bytes(), int64(anyOrg)}, Each: func(r engine.Row) (err error) {
				found = true
				c, err = scanClient(r)
				return err
			}},
			engine.Stmt{SQL: `SELECT hash, expires_at, last_used_at FROM client_secret WHERE client_no = (SELECT client_no FROM client WHERE id = $1) AND (expires_at IS NULL OR expires_at > $2)`,
				Args: []any{clientID.Bytes(), engine.Millis(now)},
				Each: func(r engine.Row) error {
					secrets = append(secrets, Secret{Hash: bytes.Clone(r.Raw(0)), ExpiresAt: engine.Moment(r, 1), UsedAt: engine.Moment(r, 2)})
					return nil
				}},
		)
	})
	if err == nil && !found {
		err = fault.Missing("client", clientID.String())
	}
	return c, secrets, err
}
