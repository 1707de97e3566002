package oauth

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store/clients"
)

// FetchKeys reads the document at a client's jwks_uri. The implementation
// bounds its size and the time it takes, and decides which addresses may be
// connected to.
type FetchKeys func(ctx context.Context, uri string) (body []byte, cacheControl string, err error)

const (
	// keysFresh is how long keys from an address are used, at most and at
	// least. A client can shorten the time with Cache-Control. Within the
	// shortest time an address is not read again, whatever the callers send.
	keysFresh    = 5 * time.Minute
	keysShortest = time.Minute
	// remoteLimit is how many addresses a node remembers. At the limit, all
	// are dropped.
	remoteLimit = 1000
)

// remoteKeys reads and caches the keys that clients publish.
type remoteKeys struct {
	fetch FetchKeys
	now   func() time.Time
	mu    sync.Mutex
	sets  map[remoteAddress]*remoteSet
}

type remoteAddress struct {
	client access.ClientNo
	uri    string
}

// remoteSet is what an address returned. Whoever holds the only token of gate
// may read it and fetch it again.
type remoteSet struct {
	gate  chan struct{}
	keys  map[string]remoteKey // usable up to until
	until time.Time
	err   error     // of the latest fetch
	read  time.Time // when it was fetched, successfully or not
}

type remoteKey struct {
	clients.Key
	public crypto.PublicKey
}

func (r *remoteKeys) set(at remoteAddress) *remoteSet {
	r.mu.Lock()
	defer r.mu.Unlock()
	set := r.sets[at]
	if set == nil {
		if r.sets == nil || len(r.sets) >= remoteLimit {
			r.sets = map[remoteAddress]*remoteSet{}
		}
		set = &remoteSet{gate: make(chan struct{}, 1)}
		r.sets[at] = set
	}
	return set
}

// errRemote is the reason given to a caller, who is not authenticated yet, if
// the keys of a client cannot be read.
var errRemote = errors.New("the keys at the client's jwks_uri cannot be read")

// key returns the key with an ID that a client publishes at an address. found
// is false if there is none. An error wraps errRemote or ends with the
// context.
func (r *remoteKeys) key(ctx context.Context, at remoteAddress, kid string) (key remoteKey, found bool, err error) {
	if r.fetch == nil {
		return key, false, fmt.Errorf("%w: this process does not read them", errRemote)
	}
	set := r.set(at)
	select {
	case set.gate <- struct{}{}:
		defer func() { <-set.gate }()
	case <-ctx.Done():
		return key, false, ctx.Err()
	}
	now := r.now()
	age := now.Sub(set.read)
	if age < 0 || !now.Before(set.until) { // or the clock was set back
		set.keys = nil
	}
	if _, known := set.keys[kid]; !known && (age < 0 || age >= keysShortest) {
		// A caller who hangs up must not make the keys unreadable for others.
		set.load(context.WithoutCancel(ctx), r.fetch, at.uri, now)
	}
	if key, found = set.keys[kid]; found {
		return key, true, nil
	}
	return key, false, set.err
}

// load reads the set again. If that fails, the earlier keys stay, because anyone
// can cause a read with an unknown kid.
func (s *remoteSet) load(ctx context.Context, fetch FetchKeys, uri string, now time.Time) {
	s.read = now
	body, cacheControl, err := fetch(ctx, uri)
	var list map[string]remoteKey
	if err == nil {
		list, err = readRemote(body)
	}
	if err != nil {
		s.err = fmt.Errorf("%w: %w", errRemote, err)
		return
	}
	s.keys, s.err, s.until = list, nil, now.Add(freshFor(cacheControl))
}

// readRemote reads a published set. Keys that cannot be used are ignored: a
// set may also have keys for other services.
func readRemote(body []byte) (map[string]remoteKey, error) {
	list, err := splitSet(body)
	if err != nil {
		return nil, err
	}
	keys := map[string]remoteKey{}
	for _, raw := range list {
		key, public, err := readKey(raw)
		if _, taken := keys[key.ID]; err != nil || taken {
			continue
		}
		keys[key.ID] = remoteKey{key, public}
	}
	return keys, nil
}

// CheckPublished reads a document as it may be found at a jwks_uri, and
// returns how many of its keys can be used. None is an error.
func CheckPublished(body []byte) (usable int, err error) {
	list, err := splitSet(body)
	if err != nil {
		return 0, err
	}
	var first error
	for _, raw := range list {
		if _, _, err := readKey(raw); err == nil {
			usable++
		} else if first == nil {
			first = err
		}
	}
	switch {
	case usable > 0:
		return usable, nil
	case first != nil:
		return 0, fmt.Errorf("the set has no key that can be used; the first one %w", first)
	}
	return 0, errors.New("the set contains no keys")
}

// freshFor returns how long a set may be used.
func freshFor(cacheControl string) time.Duration {
	fresh := keysFresh
	for part := range strings.SplitSeq(strings.ToLower(cacheControl), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "no-store", "no-cache":
			return keysShortest
		case "max-age":
			if seconds, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31); err == nil {
				fresh = time.Duration(seconds) * time.Second
			}
		}
	}
	return min(max(fresh, keysShortest), keysFresh)
}
