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

// usedSecret records that the last use of a secret is stored, so that it is
// not written again for every token.
func (c *cache) usedSecret(client *clients.Client, now time.Time) {
	if len(client.Secret.Hash) != sha256.Size {
		return // it used none
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := shownSecret{client.ID, [sha256.Size]byte(client.Secret.Hash)}
	if known, ok := c.clients[key]; ok && now.Sub(known.Secret.UsedAt) >= clients.LastUsedGrain {
		known.Secret.UsedAt = now
		c.clients[key] = known
	}
}
