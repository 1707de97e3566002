package portal

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/ratelimit"
	"anodyne.example/anodyne/internal/store"
)

// Bounds of the hashing of passwords. A hash takes 19 MiB and some hundredths
// of a second, so that nobody who is let in waits for long.
const (
	hashesAtOnce    = 4
	hashesQueued    = 64
	hashesOfNetwork = 16
	longestQueueing = 10 * time.Second
)

// hashQueue bounds how many passwords are hashed at once and how many wait for
// it, in all and for one network, so that a flood of guesses neither takes the
// memory nor keeps others waiting.
type hashQueue struct {
	running chan struct{}

	mu        sync.Mutex
	inside    int
	byNetwork map[netip.Prefix]int
}

func newHashQueue() *hashQueue {
	return &hashQueue{running: make(chan struct{}, hashesAtOnce), byNetwork: map[netip.Prefix]int{}}
}

// errBusy is the answer when the queue is full.
var errBusy = &fault.Error{
	Code: fault.Unavailable, Message: "Too many people are signing in at this moment. Please try again in a few seconds.", RetryAfter: 2 * time.Second,
}

// enter waits for a place to hash in; leave must be called after it.
func (q *hashQueue) enter(ctx context.Context, network netip.Prefix) (leave func(), err error) {
	q.mu.Lock()
	if q.inside >= hashesQueued || q.byNetwork[network] >= hashesOfNetwork {
		q.mu.Unlock()
		return nil, errBusy
	}
	q.inside++
	q.byNetwork[network]++
	q.mu.Unlock()
	out := func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.inside--
		if q.byNetwork[network]--; q.byNetwork[network] == 0 {
			delete(q.byNetwork, network)
		}
	}
	waited := time.NewTimer(longestQueueing)
	defer waited.Stop()
	select {
	case q.running <- struct{}{}:
		return func() { <-q.running; out() }, nil
	case <-waited.C:
	case <-ctx.Done():
	}
	out()
	return nil, errBusy
}

// hash hashes a new password.
func (v *visit) hash(password string) (string, error) {
	leave, err := v.hashes.enter(v.r.Context(), ratelimit.NetworkOf(v.Source(v.r)))
	if err != nil {
		return "", err
	}
	defer leave()
	return HashPassword(password), nil
}

const longestLock = 15 * time.Minute

// guessing says how guessing at a password is slowed down: a network is locked
// for one e-mail address, and when many are, all others share one try a minute.
var guessing = store.TryRules{Lock: lockFor, LongestLock: longestLock, Networks: 10, Pace: time.Minute}

// lockFor slows guessing down: the first failures may be slips of the hand,
// then each costs twice as long as the one before, up to longestLock.
func lockFor(failures int64) time.Duration {
	const free = 3
	if failures <= free {
		return 0
	}
	return min(longestLock, time.Second<<min(failures-free-1, 20))
}

// errAddress is the answer to an address from which too many passwords were
// wrong, whoever was tried.
var errAddress = &fault.Error{
	Code: fault.RateLimitExceeded, Message: "Signing in failed too often from your address. Please try again in an hour.", RetryAfter: time.Hour,
}

// guess judges a password for an e-mail address. Every check of a password goes
// through it: the attempt is counted first, in the database, so that guesses
// made at the same time all count; then it waits for a place to be hashed. kept
// gives what the password is compared with, also when there is no such member.
//
// Besides faults of the store it refuses with fault.RateLimitExceeded or
// errBusy, and the password was not looked at.
func (v *visit) guess(email, password string, kept func() (string, error)) (right bool, try store.SignInTry, err error) {
	source := v.Source(v.r)
	network := ratelimit.NetworkOf(source)
	try = store.SignInTry{EmailHash: emailHash(email), Network: network.String()}
	if !v.guesses.Take(source).Allowed {
		return false, try, errAddress
	}
	sys, ctx := v.Store.System(), v.r.Context()
	if err := sys.CountTry(ctx, try, guessing, v.now); err != nil {
		v.guesses.Return(source)
		return false, try, err
	}
	hash, err := kept()
	var leave func()
	if err == nil {
		leave, err = v.hashes.enter(ctx, network)
	}
	if err != nil {
		v.guesses.Return(source)
		return false, try, errors.Join(err, sys.ReturnTry(context.WithoutCancel(ctx), try, guessing))
	}
	defer leave()
	if right = passwordMatches(hash, password); right {
		v.guesses.Return(source)
	}
	return right, try, nil
}

// wait says in words, and in the header, how long somebody who was refused has
// to wait; status is 0 for another error.
func (v *visit) refusedFor(err error) (status int, words string) {
	f, ok := errors.AsType[*fault.Error](err)
	switch {
	case !ok:
		return 0, ""
	case f == errBusy, f == errAddress:
		words = f.Message
	case f.Code == fault.RateLimitExceeded:
		words = "Signing in with this address failed too often. Please wait " + inWords(f.RetryAfter) + " and try again."
	default:
		return 0, ""
	}
	if status = http.StatusTooManyRequests; f == errBusy {
		status = http.StatusServiceUnavailable
	}
	v.retryAfter(f.RetryAfter)
	return status, words
}
