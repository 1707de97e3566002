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
	"anodyne.example/anodyne/internal/store/accounts"
)

// Limits of password hashing. A hash takes 19 MiB and some tens of
// milliseconds, so nobody who is admitted waits for long.
const (
	hashesAtOnce    = 4
	hashesQueued    = 64
	hashesOfNetwork = 16
	longestQueueing = 10 * time.Second
)

// hashQueue limits how many passwords are hashed at once and how many wait, in
// total and per network, so that a flood of guesses neither exhausts the
// memory nor delays others.
type hashQueue struct {
	running chan struct{}
	longest time.Duration // longestQueueing, unless a test sets it

	mu        sync.Mutex
	inside    int
	byNetwork map[netip.Prefix]int
}

func newHashQueue() *hashQueue {
	return &hashQueue{running: make(chan struct{}, hashesAtOnce), longest: longestQueueing, byNetwork: map[netip.Prefix]int{}}
}

// errBusy is returned if the queue is full.
var errBusy = &fault.Error{
	Code: fault.Unavailable, Message: "Too many people are signing in at this moment. Please try again in a few seconds.", RetryAfter: 2 * time.Second,
}

// enter waits for a slot to hash in. The caller must call leave afterwards.
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
	waited := time.NewTimer(q.longest)
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

// guessing slows down password guessing: a network is locked per e-mail
// address, and if many networks are locked, all others share one attempt per
// minute.
var guessing = accounts.TryRules{Lock: lockFor, LongestLock: longestLock, Networks: 10, Pace: time.Minute}

// lockFor slows down guessing. The first failures may be typing errors; after
// that, each lock is twice as long as the previous one, up to longestLock.
func lockFor(failures int64) time.Duration {
	const free = 3
	if failures <= free {
		return 0
	}
	return min(longestLock, time.Second<<min(failures-free-1, 20))
}

// errAddress is returned to an address with too many failed sign-ins, for any
// e-mail address.
var errAddress = &fault.Error{
	Code: fault.RateLimitExceeded, Message: "Too many failed sign-in attempts from your network address. Please try again in an hour.", RetryAfter: time.Hour,
}

// guess checks a password for an e-mail address. Every password check goes
// through it. The attempt is first counted in the database, so that parallel
// guesses all count, and then waits for a slot to be hashed. kept returns the
// hash to compare with, even if there is no such member.
//
// Besides store errors, it returns fault.RateLimitExceeded or errBusy; the
// password was not checked then.
func (v *visit) guess(email, password string, kept func() (string, error)) (right bool, try accounts.SignInTry, err error) {
	source := v.Source(v.r)
	network := ratelimit.NetworkOf(source)
	try = accounts.SignInTry{EmailHash: emailHash(email), Network: network.String()}
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

// refusedFor returns the status and message for a refused attempt and sets the
// Retry-After header. status is 0 for other errors.
func (v *visit) refusedFor(err error) (status int, words string) {
	f, ok := errors.AsType[*fault.Error](err)
	switch {
	case !ok:
		return 0, ""
	case f == errBusy, f == errAddress:
		words = f.Message
	case f.Code == fault.RateLimitExceeded:
		words = "Too many failed sign-in attempts with this e-mail address. Please wait " + inWords(f.RetryAfter) + " and try again."
	default:
		return 0, ""
	}
	if status = http.StatusTooManyRequests; f == errBusy {
		status = http.StatusServiceUnavailable
	}
	v.retryAfter(f.RetryAfter)
	return status, words
}
