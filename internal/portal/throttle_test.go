package portal

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"anodyne/internal/access"
)

const wrongPassword = "wrong horse battery"

// Guesses that are made at the same time count like those made one after the
// other: of two hundred at most the free ones are judged, also when the right
// one is among them.
func TestParallelGuessesCount(t *testing.T) {
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

// Guessing from one address, however long, keeps nobody out who comes from
// another.
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

// Changing the password asks for the old one, which is a guess like any other.
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
