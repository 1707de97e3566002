package oauth

import (
	"crypto/sha256"
	"time"

	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store"
)

// A node also remembers the clients that have shown a good secret, by that
// secret's hash, under the same rules as tokens: a new secret, another tier and
// a revocation bump the epoch. What nobody knows is never remembered, so that
// guessing costs as before.

// shownSecret is a client and the hash of the secret it showed.
type shownSecret struct {
	client id.Client
	hash   [sha256.Size]byte
}

// client gives a copy of the client that showed the secret before, or nil.
func (c *cache) client(clientID id.Client, hash [sha256.Size]byte, now time.Time) *store.Client {
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

// putClient remembers a client that was read while the epoch was this one.
func (c *cache) putClient(clientID id.Client, hash [sha256.Size]byte, found store.Client, epoch int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.epoch != epoch {
		return // something was revoked meanwhile
	}
	if len(c.clients) >= cacheLimit {
		clear(c.clients)
	}
	c.clients[shownSecret{clientID, hash}] = found
}

// usedSecret notes that the last use of a secret is on record, so that it is
// not written down with every token.
func (c *cache) usedSecret(client *store.Client, now time.Time) {
	if len(client.Secret.Hash) != sha256.Size {
		return // it showed none
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := shownSecret{client.ID, [sha256.Size]byte(client.Secret.Hash)}
	if known, ok := c.clients[key]; ok && now.Sub(known.Secret.UsedAt) >= store.LastUsedGrain {
		known.Secret.UsedAt = now
		c.clients[key] = known
	}
}
