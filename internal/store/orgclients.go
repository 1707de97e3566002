package store

import (
	"context"
	"time"

	"anodyne/internal/access"
	"anodyne/internal/audit"
	"anodyne/internal/id"
)

// Clients lists the organisation's clients in the order in which they were
// made.
func (o Org) Clients(ctx context.Context) (clients []Client, err error) {
	err = o.read(ctx, func(tx Tx) error {
		return tx.Query(selectClient+` WHERE c.org_no = $2 ORDER BY c.client_no`, func(r Row) error {
			c, err := scanClient(r)
			clients = append(clients, c)
			return err
		}, millis(o.now()), int64(o.org))
	})
	return clients, err
}

// Client reads one of the organisation's clients.
func (o Org) Client(ctx context.Context, clientID id.Client) (c Client, err error) {
	err = o.read(ctx, func(tx Tx) error {
		c, err = client(tx, clientID, o.org, o.now())
		return err
	})
	return c, err
}

// CreateClient registers an application of the organisation.
func (o Org) CreateClient(ctx context.Context, n NewClient, line audit.Entry) (c Client, err error) {
	clientID := id.New[id.ClientKind](line.At)
	err = o.change(ctx, func(tx Tx) error {
		c = Client{Org: o.org}
		return o.keepClient(tx, &c, clientID, n, line)
	})
	return c, err
}

// RotateSecret is [System.RotateSecret] for the organisation's own clients.
func (o Org) RotateSecret(ctx context.Context, clientID id.Client, hash []byte, overlap time.Duration, line audit.Entry) error {
	return o.rotateSecret(ctx, o.org, clientID, hash, overlap, line)
}

// RevokeClient is [System.RevokeClient] for the organisation's own clients.
func (o Org) RevokeClient(ctx context.Context, clientID id.Client, line audit.Entry) error {
	return o.revokeClient(ctx, o.org, clientID, line)
}

// SetTier is [System.SetTier] for the organisation's own clients.
func (o Org) SetTier(ctx context.Context, clientID id.Client, tier access.Tier, line audit.Entry) error {
	return o.setTier(ctx, o.org, clientID, tier, line)
}
