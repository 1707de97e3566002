package portal

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/ratelimit"
)

const wrongPassword = "wrong horse battery"

// Parallel guesses count like sequential ones: of two hundred, at most the
// free attempts are checked, even if the right password is among them.
func TestParallelGuessesCount(t *testing.T) {
	fullCost(t) // so that guesses meet
	each(t, func(t *testing.T, h *house) {
		h.member("ada@clinic.example", "default", access.Viewer)
		for _, email := range []string{"ada@clinic.example", "nobody@clinic.example"} {
			var mu sync.Mutex
			answers := map[int]int{}
			var wg sync.WaitGroup
			for i := range 60 {
				b := h.browser()
				wg.Go(func() {
					status := b.tries(email, fmt.Sprintf("%s %d", wrongPassword, i))
					mu.Lock()
					defer mu.Unlock()
					answers[status]++
				})
			}
			wg.Wait()
			if judged := answers[http.StatusUnauthorized]; judged > 4 || judged == 0 || answers[http.StatusUnauthorized]+answers[http.StatusTooManyRequests] != 60 {
				t.Errorf("%s: answers %v; want 4 judged and the rest refused", email, answers)
			}
		}
	})
}

// Guessing from one address, however long, never locks out anyone at another
// address.
func TestALockIsOfOneNetwork(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.member("ada@clinic.example", "default", access.Viewer)
		for _, from := range []string{"198.51.100.7", "2001:db8:1:2::1"} {
			stranger := h.browser().at(from)
			for range 30 {
				stranger.tries("ada@clinic.example", wrongPassword)
				h.pass(time.Minute)
			}
			if status := h.browser().at(from).tries("ada@clinic.example", password); status != http.StatusTooManyRequests {
				t.Errorf("%s is not locked: %d", from, status)
			}
		}
		if status := h.browser().at("2001:db8:1:2::ffff").tries("ada@clinic.example", password); status != http.StatusTooManyRequests {
			t.Errorf("another address of the same /64 is not locked: %d", status)
		}
		for _, from := range []string{"203.0.113.9", "2001:db8:1:3::1"} {
			if status := h.browser().at(from).tries("ada@clinic.example", password); status != http.StatusSeeOther {
				t.Errorf("the member is kept out at %s: %d", from, status)
			}
		}
	})
}

// Changing the password requires the old one, which counts as a guess.
func TestChangingThePasswordIsThrottled(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		b := h.signedIn("ada@clinic.example", "default", access.Viewer)
		const next = "another horse battery"
		change := func(old string) page {
			return b.post("/portal/account/password", "old", old, "password", next, "again", next)
		}
		for i := range 4 {
			if p := change(wrongPassword); p.status != http.StatusUnprocessableEntity {
				t.Fatalf("guess %d: %d", i+1, p.status)
			}
		}
		if p := change(password); p.status != http.StatusTooManyRequests || !strings.Contains(p.text, "wait") {
			t.Errorf("after four guesses: %d", p.status)
		}
		h.pass(time.Second)
		if p := change(password); p.status != http.StatusSeeOther {
			t.Errorf("after the wait: %d", p.status)
		}
	})
}

// A flood of guesses at many addresses from one network is turned away, and does
// not keep somebody else waiting.
func TestAFloodOfGuessesIsTurnedAway(t *testing.T) {
	h := newHouse(t, sqliteDatabase(t))
	h.member("ada@clinic.example", "default", access.Viewer)
	network := ratelimit.NetworkOf(netip.MustParseAddr("198.51.100.7"))
	for range hashesOfNetwork { // the flood: those who hash, and those who wait
		h.pages.hashes.mu.Lock()
		h.pages.hashes.inside++
		h.pages.hashes.byNetwork[network]++
		h.pages.hashes.mu.Unlock()
	}
	p := h.browser().at("198.51.100.7").post("/portal/sign-in", "email", "ada@clinic.example", "password", password)
	if p.status != http.StatusServiceUnavailable || p.header.Get("Retry-After") == "" || !strings.Contains(p.text, "try again") {
		t.Errorf("one more from there: %d, Retry-After %q", p.status, p.header.Get("Retry-After"))
	}
	for range 10 { // one that was not judged does not count
		h.browser().at("198.51.100.7").tries("ada@clinic.example", password)
	}
	if status := h.browser().at("203.0.113.9").tries("ada@clinic.example", password); status != http.StatusSeeOther {
		t.Errorf("somebody else: %d", status)
	}
	h.pages.hashes.mu.Lock()
	clear(h.pages.hashes.byNetwork)
	h.pages.hashes.inside = 0
	h.pages.hashes.mu.Unlock()
	if status := h.browser().at("198.51.100.7").tries("ada@clinic.example", password); status != http.StatusSeeOther {
		t.Errorf("after the flood: %d", status)
	}
}

// The queue holds so many and no more, and all of them come out again.
func TestHashQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newHashQueue()
		network := func(i int) netip.Prefix {
			return ratelimit.NetworkOf(netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}))
		}
		var entered, refused atomic.Int32
		end := make(chan struct{})
		var wg sync.WaitGroup
		for i := range 2 * hashesQueued {
			wg.Go(func() {
				leave, err := q.enter(t.Context(), network(i))
				if err != nil {
					refused.Add(1)
					return
				}
				entered.Add(1)
				<-end
				leave()
			})
		}
		synctest.Wait()
		if entered.Load() != hashesAtOnce || refused.Load() != hashesQueued {
			t.Errorf("%d hash and %d were refused at once", entered.Load(), refused.Load())
		}
		time.Sleep(longestQueueing) // nobody waits for longer
		synctest.Wait()
		if refused.Load() != 2*hashesQueued-hashesAtOnce {
			t.Errorf("%d are refused after the longest wait", refused.Load())
		}
		close(end)
		wg.Wait()
		for range hashesOfNetwork {
			wg.Go(func() {
				leave, err := q.enter(t.Context(), network(1))
				if err != nil {
					t.Error(err)
					return
				}
				leave()
			})
		}
		wg.Wait()
		if q.inside != 0 || len(q.byNetwork) != 0 || len(q.running) != 0 {
			t.Errorf("%d are left inside, of %d networks", q.inside, len(q.byNetwork))
		}
	})
}

// Many at once are all judged or turned away, and none is left in the queue.
func TestSigningInAmidGuesses(t *testing.T) {
	fullCost(t) // so that guesses meet
	each(t, func(t *testing.T, h *house) {
		h.member("ada@clinic.example", "default", access.Viewer)
		h.member("grace@clinic.example", "default", access.Viewer)
		var wg sync.WaitGroup
		for i := range 120 {
			b := h.browser().at(fmt.Sprintf("198.51.100.%d", i%4))
			wg.Go(func() { b.tries("ada@clinic.example", wrongPassword) })
		}
		honest := h.browser().at("203.0.113.9")
		if status := honest.tries("grace@clinic.example", password); status != http.StatusSeeOther {
			t.Errorf("another member meanwhile: %d", status)
		}
		if status := h.browser().at("203.0.113.9").tries("ada@clinic.example", password); status != http.StatusSeeOther {
			t.Errorf("the member who is guessed at, from elsewhere: %d", status)
		}
		wg.Wait()
		if q := h.pages.hashes; q.inside != 0 {
			t.Errorf("%d are left in the queue", q.inside)
		}
	})
}
