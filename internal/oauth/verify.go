package oauth

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store/clients"
	"anodyne.example/anodyne/internal/worker"
)

// cache holds the tokens a node has seen. They are valid as long as the
// store's access epoch is unchanged: any revocation or change of a client
// increments it, and every node checks it once a second. A node that could not
// check for a while does not use its cache.
type cache struct {
	mu      sync.RWMutex
	known   map[[sha256.Size]byte]*clients.Token
	clients map[shownSecret]clients.Client // clients by the valid secret they used
	epoch   int64
	checked atomic.Int64 // time of the last epoch check, in Unix milliseconds
}

const (
	watchEvery = time.Second
	// trustFor is the maximum age of the last epoch check. Together with
	// watchEvery, it makes revocations effective within the promised five
	// seconds.
	trustFor = 3 * time.Second
	// cacheLimit limits the number of cached tokens. At the limit, all are
	// dropped.
	cacheLimit = 100_000
)

func (c *cache) init() {
	c.known, c.clients = map[[sha256.Size]byte]*clients.Token{}, map[shownSecret]clients.Client{}
}

// trusted reports whether the cache may be used.
func (c *cache) trusted(now time.Time) bool {
	// A check in the future was made before the clock was set back, at an
	// unknown time.
	age := now.UnixMilli() - c.checked.Load()
	return age >= 0 && age < trustFor.Milliseconds()
}

func (c *cache) get(hash [sha256.Size]byte) *clients.Token {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.known[hash]
}

// put caches a token that was read at this epoch.
func (c *cache) put(hash [sha256.Size]byte, t *clients.Token, epoch int64) {
	remember(c, c.known, hash, t, epoch)
}

// remember adds what was read at an epoch to one of the maps of the cache.
func remember[K comparable, V any](c *cache, to map[K]V, key K, value V, epoch int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.epoch != epoch {
		return // something was revoked in the meantime
	}
	if len(to) >= cacheLimit {
		clear(to)
	}
	to[key] = value
}

func (c *cache) forget(hash [sha256.Size]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, hash)
}

// saw records the store's epoch at a time.
func (c *cache) saw(epoch int64, at time.Time) {
	c.mu.Lock()
	if c.epoch != epoch {
		c.epoch = epoch
		clear(c.known)
		clear(c.clients)
	}
	c.mu.Unlock()
	c.checked.Store(at.UnixMilli())
}

func (c *cache) current() int64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.epoch
}

func unauthorized(reason, message string) *fault.Error {
	return fault.New(fault.Unauthorized, message, "reason", reason)
}

// The reasons for rejecting a token.
var (
	errMissing = unauthorized("missing_token", "Send an access token: Authorization: Bearer <token>.")
	errInvalid = unauthorized("invalid_token", "The access token is not valid.")
	errExpired = unauthorized("expired_token", "The access token has expired; request a new one.")
	errRevoked = unauthorized("revoked_token", "The access token was revoked.")
)

// Verify returns the principal of the token in an Authorization header.
func (a *Authority) Verify(ctx context.Context, header []string) (*access.Principal, error) {
	if len(header) == 0 {
		return nil, errMissing
	}
	scheme, token, _ := strings.Cut(header[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return nil, errMissing
	}
	if len(header) > 1 || len(token) != len(tokenPrefix)+secretDigits {
		return nil, errInvalid
	}
	hash := hashOf(token)
	now := a.now()
	if a.cache.trusted(now) {
		if t := a.cache.get(hash); t != nil {
			if t.Over(now) {
				return nil, errExpired
			}
			return &t.Principal, nil
		}
	}
	return a.lookUp(ctx, token, hash, now)
}

func (a *Authority) lookUp(ctx context.Context, token string, hash [sha256.Size]byte, now time.Time) (*access.Principal, error) {
	epoch := a.cache.current()
	t, found, err := a.store.Token(ctx, hash[:])
	switch {
	case err != nil:
		return nil, err
	case !found && a.mark.made(token): // its row was purged after it expired
		return nil, errExpired
	case !found:
		return nil, errInvalid
	case t.Revoked:
		return nil, errRevoked
	case t.Over(now):
		return nil, errExpired
	}
	a.cache.put(hash, &t, epoch)
	return &t.Principal, nil
}

// Look checks the epoch once.
func (a *Authority) Look(ctx context.Context) error {
	at := a.now()
	epoch, err := a.store.AccessEpoch(ctx)
	if err != nil {
		return err
	}
	a.cache.saw(epoch, at)
	return nil
}

// WatchEvery is how often Watch checks the epoch.
const WatchEvery = watchEvery

// Watch checks the epoch periodically until the context ends.
func (a *Authority) Watch(ctx context.Context, log *slog.Logger, rounds *worker.Rounds) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		pulsed, err := a.listenOrLook(ctx)
		if err != nil && ctx.Err() == nil {
			log.Warn("cannot check for revoked tokens; looking up every token in the database", "error", err)
		}
		if ctx.Err() == nil {
			rounds.Done(err)
		}
		select {
		case <-pulsed:
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// listenOrLook takes the epoch from the last pulse of the elected node, which
// reads it for all nodes, or reads it itself if there was no recent pulse. It
// returns a channel that is closed at the next pulse.
func (a *Authority) listenOrLook(ctx context.Context) (<-chan struct{}, error) {
	epoch, at, heard, pulsed := a.store.HeardEpoch()
	if age := time.Since(at); heard && age < 2*watchEvery {
		a.cache.saw(epoch, a.now().Add(-age))
		return pulsed, nil
	}
	return pulsed, a.Look(ctx)
}
