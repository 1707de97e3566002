package clients

import (
	"context"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/accounts"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
)

// Clients lists the organisation's clients in order of creation.
func (o Org) Clients(ctx context.Context) (clients []Client, err error) {
	err = o.db.Read(ctx, func(tx engine.Tx) error {
		return tx.Query(selectClient+` WHERE c.org_no = $2 ORDER BY c.client_no`, func(r engine.Row) error {
			c, err := scanClient(r)
			clients = append(clients, c)
			return err
		}, engine.Millis(o.db.Now()), int64(o.org))
	})
	return clients, err
}

// Client reads one of the organisation's clients.
func (o Org) Client(ctx context.Context, clientID id.Client) (Client, error) {
	return engine.Get(ctx, o.db, func(tx engine.Tx) (Client, error) { return client(tx, clientID, o.org, o.db.Now()) })
}

// CreateClient registers an application of the member of the view. Scopes that
// the member's role may not grant wait for an administrator.
func (o Org) CreateClient(ctx context.Context, n NewClient, line audit.Entry) (c Client, err error) {
	clientID := id.New[id.ClientKind](line.At)
	err = o.journal.Change(ctx, o.org, func(tx engine.Tx) error {
		by, err := accounts.Actor(tx, o.org, o.account)
		if err != nil {
			return err
		}
		if !by.Role.Has(access.Developer) {
			return fault.New(fault.Forbidden, "Only a developer or an administrator may register applications.")
		}
		c = Client{Org: o.org}
		return o.keepClient(tx, &c, clientID, n, &by, line)
	})
	return c, err
}

// manages returns an error unless the member manages the application.
func (o Org) manages(tx engine.Tx, c *Client) error {
	by, err := accounts.Actor(tx, o.org, o.account)
	if err == nil && !c.ManagedBy(&by) {
		err = fault.New(fault.Forbidden, "Only an administrator, or the developer who registered this application, may change it.")
	}
	return err
}

// administrates returns an error unless the member is an administrator.
func (o Org) administrates(tx engine.Tx, _ *Client) error {
	return accounts.OnlyAdministrator(tx, o.org, o.account)
}

// RotateSecret is [System.RotateSecret] by the member of the view.
func (o Org) RotateSecret(ctx context.Context, clientID id.Client, hash []byte, overlap time.Duration, line audit.Entry) error {
	return o.rotateSecret(ctx, o.org, o.manages, clientID, hash, overlap, line)
}

// RevokeClient is [System.RevokeClient] by the member of the view.
func (o Org) RevokeClient(ctx context.Context, clientID id.Client, line audit.Entry) error {
	return o.revokeClient(ctx, o.org, o.manages, clientID, line)
}

// SetTier is [System.SetTier] by the member of the view, who must be an
// administrator.
func (o Org) SetTier(ctx context.Context, clientID id.Client, tier access.Tier, line audit.Entry) error {
	return o.setTier(ctx, o.org, o.administrates, clientID, tier, line)
}

// RequestScopes gives an application more scopes, as far as the role of the
// member of the view may grant them; the rest wait for an administrator.
func (o Org) RequestScopes(ctx context.Context, clientID id.Client, wanted access.Scopes, line audit.Entry) error {
	return o.setScopes(ctx, clientID, o.manages, line, func(tx engine.Tx, c *Client, line *audit.Entry) error {
		by, err := accounts.Actor(tx, o.org, o.account)
		if err != nil {
			return err
		}
		given := wanted &^ c.Scopes & by.Role.Grants()
		asked := wanted &^ c.Scopes &^ given
		if given|asked == 0 {
			return fault.New(fault.InvalidParameter, "Choose at least one scope that the application does not have.")
		}
		c.Scopes |= given
		c.Requested = (c.Requested | asked) &^ c.Scopes
		line.Action = audit.ClientRequest
		if asked == 0 {
			line.Action = audit.ClientGrant
		}
		line.Details = journal.Details("granted", given.String(), "requested", c.Requested.String())
		return nil
	})
}

// DecideScopes grants some of the requested scopes and declines the others.
// seen is the request that the administrator saw: if it has changed, nothing is
// decided.
func (o Org) DecideScopes(ctx context.Context, clientID id.Client, seen, granted access.Scopes, line audit.Entry) error {
	return o.setScopes(ctx, clientID, o.administrates, line, func(_ engine.Tx, c *Client, line *audit.Entry) error {
		if c.Requested == 0 || c.Requested != seen {
			return fault.New(fault.Conflict, "The scope request has changed in the meantime. Reload the application.")
		}
		granted &= c.Requested
		line.Action = audit.ClientGrant
		if granted == 0 {
			line.Action = audit.ClientDecline
		}
		line.Details = journal.Details("granted", granted.String(), "declined", (c.Requested &^ granted).String())
		c.Scopes, c.Requested = c.Scopes|granted, 0
		return nil
	})
}

// SetScopes replaces an application's scopes, and drops a pending request.
func (o Org) SetScopes(ctx context.Context, clientID id.Client, scopes access.Scopes, line audit.Entry) error {
	return o.setScopes(ctx, clientID, o.administrates, line, func(_ engine.Tx, c *Client, line *audit.Entry) error {
		line.Action, line.Details = audit.ClientGrant, journal.Details("scope", scopes.String())
		c.Scopes, c.Requested = scopes, 0
		return nil
	})
}

// setScopes lets rule change the granted and requested scopes of an
// application.
func (o Org) setScopes(ctx context.Context, clientID id.Client, may mayChange, line audit.Entry, rule func(engine.Tx, *Client, *audit.Entry) error) error {
	written := line
	return o.changeClientAs(ctx, o.org, clientID, may, func() audit.Entry { return written }, func(tx engine.Tx, c Client) error {
		if !c.RevokedAt.IsZero() {
			return fault.New(fault.Conflict, "The application is revoked.")
		}
		written = line
		if err := rule(tx, &c, &written); err != nil {
			return err
		}
		var asked any
		if c.Requested != 0 {
			asked = engine.Millis(line.At)
		}
		_, err := tx.Exec(`UPDATE client SET scopes = $3, requested = $4, requested_at = $5 WHERE org_no = $1 AND client_no = $2`,
			int64(o.org), int64(c.No), int64(c.Scopes), int64(c.Requested), asked)
		return err
	})
}
