package clients

import (
	"context"
	"fmt"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/journal"
)

// Key is a public key with which a client signs assertions instead of sending
// a secret.
type Key struct {
	// ID is the kid, which is unique for the client.
	ID string
	// Algorithm is the one with which the client signs: RS384 or ES384.
	Algorithm string
	// Thumbprint is the SHA-256 thumbprint of RFC 7638, in base64url.
	Thumbprint string
	// JWK is the public key as a JSON Web Key.
	JWK string
	// UsedAt is zero if the key was never used; it has a precision of
	// LastUsedGrain.
	CreatedAt, UsedAt time.Time
}

// KeysURI is the address at which a client publishes its keys.
type KeysURI struct {
	// URI is empty if the client has none.
	URI               string
	CreatedAt, UsedAt time.Time
}

// Keys are what a client registered to sign assertions with.
type Keys struct {
	Keys []Key
	URI  KeysURI
}

// MaxKeys is how many keys a client can have registered.
const MaxKeys = 10

// Keys returns what one of the organisation's clients signs assertions with.
func (o Org) Keys(ctx context.Context, client access.ClientNo) (Keys, error) {
	return engine.Get(ctx, o.db, func(tx engine.Tx) (Keys, error) { return keys(tx, o.org, client) })
}

// Keys returns what a client signs assertions with. An unknown client is
// NotFound.
func (s System) Keys(ctx context.Context, clientID id.Client) (c Client, k Keys, err error) {
	err = s.db.Read(ctx, func(tx engine.Tx) error {
		if c, err = client(tx, clientID, anyOrg, s.db.Now()); err != nil {
			return err
		}
		k, err = keys(tx, c.Org, c.No)
		return err
	})
	return c, k, err
}

func keys(tx engine.Tx, org access.OrgNo, client access.ClientNo) (k Keys, err error) {
	err = tx.Many(
		engine.Stmt{SQL: `SELECT kid, algorithm, thumbprint, jwk, created_at, last_used_at FROM client_key WHERE org_no = $1 AND client_no = $2 ORDER BY created_at, kid`,
			Args: []any{int64(org), int64(client)}, Each: func(r engine.Row) error {
				k.Keys = append(k.Keys, Key{ID: r.Text(0), Algorithm: r.Text(1), Thumbprint: r.Text(2), JWK: r.Text(3), CreatedAt: engine.FromMillis(r.Int(4)), UsedAt: engine.Moment(r, 5)})
				return nil
			}},
		engine.Stmt{SQL: `SELECT uri, created_at, last_used_at FROM client_jwks_uri WHERE org_no = $1 AND client_no = $2`,
			Args: []any{int64(org), int64(client)}, Each: func(r engine.Row) error {
				k.URI = KeysURI{URI: r.Text(0), CreatedAt: engine.FromMillis(r.Int(1)), UsedAt: engine.Moment(r, 2)}
				return nil
			}},
	)
	return k, err
}

// AddKeys registers keys of a client. Those that it already has are left as
// they are; another key with the same ID is a Conflict.
func (s System) AddKeys(ctx context.Context, clientID id.Client, added []Key) error {
	return s.addKeys(ctx, anyOrg, operatorMayChange, clientID, added, journal.Operator(s.db.Now()))
}

// AddKeys is [System.AddKeys] by the member of the view, who must manage the
// client.
func (o Org) AddKeys(ctx context.Context, clientID id.Client, added []Key, line audit.Entry) error {
	return o.addKeys(ctx, o.org, o.manages, clientID, added, line)
}

func (s *tables) addKeys(ctx context.Context, org access.OrgNo, may mayChange, clientID id.Client, added []Key, line audit.Entry) error {
	line.Action = audit.ClientKeyAdd
	line.Details = journal.Details("kid", kids(added))
	return s.changeClient(ctx, org, clientID, may, line, func(tx engine.Tx, c Client) error {
		if !c.RevokedAt.IsZero() {
			return fault.New(fault.Conflict, fmt.Sprintf("Client %s is revoked.", clientID))
		}
		have, err := keys(tx, c.Org, c.No)
		if err != nil {
			return err
		}
		known := map[string]string{}
		for _, key := range have.Keys {
			known[key.ID] = key.Thumbprint
		}
		for _, key := range added {
			switch thumbprint, taken := known[key.ID]; {
			case taken && thumbprint == key.Thumbprint:
				continue
			case taken:
				return fault.New(fault.Conflict, fmt.Sprintf("The client has another key with the kid %q. Remove it first, or give the new key its own kid.", key.ID))
			}
			known[key.ID] = key.Thumbprint
			if err := insertKey(tx, &c, key, line.At); err != nil {
				return err
			}
		}
		if len(known) > MaxKeys {
			return fault.New(fault.Conflict, fmt.Sprintf("A client can have at most %d keys. Remove those that are no longer used, or publish the keys at a URL.", MaxKeys))
		}
		return nil
	})
}

// RemoveKey removes a key of a client. Assertions signed with it are refused
// from then on; tokens that were issued for them stay valid.
func (s System) RemoveKey(ctx context.Context, clientID id.Client, kid string) error {
	return s.removeKey(ctx, anyOrg, operatorMayChange, clientID, kid, journal.Operator(s.db.Now()))
}

// RemoveKey is [System.RemoveKey] by the member of the view, who must manage
// the client.
func (o Org) RemoveKey(ctx context.Context, clientID id.Client, kid string, line audit.Entry) error {
	return o.removeKey(ctx, o.org, o.manages, clientID, kid, line)
}

func (s *tables) removeKey(ctx context.Context, org access.OrgNo, may mayChange, clientID id.Client, kid string, line audit.Entry) error {
	line.Action, line.Details = audit.ClientKeyRemove, journal.Details("kid", kid)
	return s.changeClient(ctx, org, clientID, may, line, func(tx engine.Tx, c Client) error {
		gone, err := tx.Exec(`DELETE FROM client_key WHERE org_no = $1 AND client_no = $2 AND kid = $3`, int64(c.Org), int64(c.No), kid)
		if err == nil && gone == 0 {
			err = fault.Missing("key", kid)
		}
		return err
	})
}

// SetKeysURI sets the address at which a client publishes its keys; "" removes
// it.
func (s System) SetKeysURI(ctx context.Context, clientID id.Client, uri string) error {
	return s.setKeysURI(ctx, anyOrg, operatorMayChange, clientID, uri, journal.Operator(s.db.Now()))
}

// SetKeysURI is [System.SetKeysURI] by the member of the view, who must manage
// the client.
func (o Org) SetKeysURI(ctx context.Context, clientID id.Client, uri string, line audit.Entry) error {
	return o.setKeysURI(ctx, o.org, o.manages, clientID, uri, line)
}

func (s *tables) setKeysURI(ctx context.Context, org access.OrgNo, may mayChange, clientID id.Client, uri string, line audit.Entry) error {
	line.Action, line.Details = audit.ClientKeysURI, journal.Details("jwks_uri", uri)
	return s.changeClient(ctx, org, clientID, may, line, func(tx engine.Tx, c Client) error {
		if uri == "" {
			_, err := tx.Exec(`DELETE FROM client_jwks_uri WHERE org_no = $1 AND client_no = $2`, int64(c.Org), int64(c.No))
			return err
		}
		if !c.RevokedAt.IsZero() {
			return fault.New(fault.Conflict, fmt.Sprintf("Client %s is revoked.", clientID))
		}
		return insertKeysURI(tx, &c, uri, line.At)
	})
}

// kids maps the IDs of keys to their thumbprints, for the audit log.
func kids(keys []Key) map[string]string {
	list := make(map[string]string, len(keys))
	for _, key := range keys {
		list[key.ID] = key.Thumbprint
	}
	return list
}

func insertKey(tx engine.Tx, c *Client, key Key, at time.Time) error {
	_, err := tx.Exec(`INSERT INTO client_key (org_no, client_no, kid, algorithm, thumbprint, jwk, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		int64(c.Org), int64(c.No), key.ID, key.Algorithm, key.Thumbprint, key.JWK, engine.Millis(at))
	return err
}

// insertKeysURI sets the address of a client's keys, whether it had one or
// not.
func insertKeysURI(tx engine.Tx, c *Client, uri string, at time.Time) error {
	_, err := tx.Exec(`INSERT INTO client_jwks_uri (org_no, client_no, uri, created_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (client_no) DO UPDATE SET uri = excluded.uri, created_at = excluded.created_at, last_used_at = NULL`,
		int64(c.Org), int64(c.No), uri, engine.Millis(at))
	return err
}

// Assertion is a signed assertion by which a client authenticated.
type Assertion struct {
	// JTIHash identifies the assertion among those of its client.
	JTIHash   []byte
	ExpiresAt time.Time
	// KeyID is the registered key that signed it, or "" for a key from the
	// client's address. UsedAt is when that was last used.
	KeyID  string
	UsedAt time.Time
}

// AssertionKept is how long a used assertion is kept after it has expired, in
// case a clock is set back.
const AssertionKept = time.Hour

// UseAssertion records that a client used an assertion, and reports whether it
// was the first use, on any node and across restarts.
func (s System) UseAssertion(ctx context.Context, c *Client, a Assertion) (first bool, err error) {
	now := s.db.Now()
	err = s.db.Write(ctx, func(tx engine.Tx) error {
		first = false
		tx.Last(engine.Stmt{SQL: `INSERT INTO client_assertion (org_no, client_no, jti_hash, expires_at) VALUES ($1, $2, $3, $4) ON CONFLICT (client_no, jti_hash) DO NOTHING RETURNING 1`,
			Args: []any{int64(c.Org), int64(c.No), a.JTIHash, engine.Millis(a.ExpiresAt)}, Each: func(engine.Row) error {
				first = true
				return nil
			}})
		if now.Sub(a.UsedAt) < LastUsedGrain {
			return nil
		}
		at := []any{int64(c.Org), int64(c.No), engine.Millis(now)}
		if a.KeyID == "" {
			tx.Last(engine.Stmt{SQL: `UPDATE client_jwks_uri SET last_used_at = $3 WHERE org_no = $1 AND client_no = $2`, Args: at})
		} else {
			tx.Last(engine.Stmt{SQL: `UPDATE client_key SET last_used_at = $3 WHERE org_no = $1 AND client_no = $2 AND kid = $4`, Args: append(at, a.KeyID)})
		}
		return nil
	})
	return first, err
}
