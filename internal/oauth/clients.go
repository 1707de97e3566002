package oauth

import (
	"crypto/sha256"
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/clients"
)

// A node also caches clients that have authenticated, by the hash of their
// secret, under the same rules as tokens: a new secret, a changed tier or a
// revocation increments the epoch. Failed attempts are never cached, so
// guessing does not get cheaper.

// shownSecret is a client and the hash of the secret it used.
type shownSecret struct {
	client id.Client
	hash   [sha256.Size]byte
}

// client returns a copy of the client cached for this secret, or nil.
func (c *cache) client(clientID id.Client, hash [sha256.Size]byte, now time.Time) *clients.Client {
	if !c.trusted(now) {
		return nil
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	found, ok := c.clients[shownSecret{clientID, hash}]
	if end := found.Secret.ExpiresAt; !ok || !end.IsZero() && !now.Before(end) {
		return nil
	}
	return &found
}

// putClient caches a client that was read at this epoch.
func (c *cache) putClient(clientID id.Client, hash [sha256.Size]byte, found clients.Client, epoch int64) {
	remember(c, c.clients, shownSecret{clientID, hash}, found, epoch)
}

// claimUse makes a caller the one that stores the last use of a secret, if that
// is due. Others that use it in the meantime need not, so that only one of many
// parallel requests of a client writes to that row. If the caller fails, it must
// call unclaim.
func (c *cache) claimUse(client *clients.Client, now time.Time) (unclaim func()) {
	secret := &client.Secret
	if len(secret.Hash) != sha256.Size || now.Sub(secret.UsedAt) < clients.LastUsedGrain {
		return func() {}
	}
	key := shownSecret{client.ID, [sha256.Size]byte(secret.Hash)}
	before := secret.UsedAt
	if latest := c.setUse(key, before, now); !latest.Equal(before) {
		secret.UsedAt = latest
		return func() {}
	}
	return func() { c.setUse(key, now, before) }
}

// setUse replaces the last use of a cached secret and returns what it was. It
// does not change another one than old.
func (c *cache) setUse(key shownSecret, old, use time.Time) (was time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.clients[key]
	if !ok {
		return old
	}
	was = known.Secret.UsedAt
	if was.Equal(old) {
		known.Secret.UsedAt = use
		c.clients[key] = known
	}
	return was
}
