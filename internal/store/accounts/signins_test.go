package accounts_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/accounts"
	"anodyne.example/anodyne/internal/store/storetest"
)

// triesRules lock after two attempts.
var triesRules = accounts.TryRules{
	Lock: func(tries int64) time.Duration {
		if tries <= 2 {
			return 0
		}
		return time.Duration(tries) * time.Second
	},
	LongestLock: time.Minute, Networks: 3, Pace: 10 * time.Second,
}

func from(network string) accounts.SignInTry {
	return accounts.SignInTry{EmailHash: []byte("email"), Network: network}
}

// Concurrent attempts, on all nodes, count before any password is verified.
func TestTriesCountBeforeTheyAreJudged(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		nodes := []*store.Store{open(), open()}
		var counted atomic.Int32
		var wg sync.WaitGroup
		for i := range 40 {
			wg.Go(func() {
				err := nodes[i%2].System().CountTry(t.Context(), from("a"), triesRules, now.Now())
				if err == nil {
					counted.Add(1)
				} else if !fault.Is(err, fault.RateLimitExceeded) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := counted.Load(); n != 3 {
			t.Errorf("%d of 40 may be judged, want 3", n)
		}
	})
}

func TestLocksOfNetworks(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		s := open()
		sys := s.System()
		a := storetest.Must[accounts.Account](t)(sys.CreateAccount(t.Context(), "default", storetest.NewMember(1, access.Viewer)))
		count := func(network string) error { return sys.CountTry(t.Context(), from(network), triesRules, now.Now()) }
		expect := func(network string, want time.Duration) {
			t.Helper()
			err := count(network)
			switch f, _ := err.(*fault.Error); {
			case want == 0 && err != nil:
				t.Errorf("%s: %v", network, err)
			case want > 0 && (!fault.Is(err, fault.RateLimitExceeded) || f.RetryAfter != want):
				t.Errorf("%s: %v, want a wait of %s", network, err, want)
			}
		}
		for range 3 {
			expect("a", 0)
		}
		expect("a", 3*time.Second)
		expect("b", 0)
		now.Pass(time.Second)
		expect("a", 2*time.Second) // a rejected attempt does not extend the lock
		now.Pass(2 * time.Second)
		expect("a", 0)
		expect("a", 4*time.Second)

		// An attempt that was not verified is taken back.
		for range 5 {
			expect("c", 0)
			if err := sys.ReturnTry(t.Context(), from("c"), triesRules); err != nil {
				t.Fatal(err)
			}
		}

		// A correct password ends the lock of its network only.
		if err := sys.SignIn(t.Context(), &a, from("b"), []byte("cookie"), time.Hour, storetest.PortalLine(now.Now())); err != nil {
			t.Fatal(err)
		}
		expect("a", 4*time.Second)
		for range 3 {
			expect("b", 0)
		}

		// A lock longer than the longest comes from a clock that was set back.
		now.Pass(48 * time.Hour)
		for range 3 {
			expect("d", 0)
		}
		now.Pass(-47 * time.Hour)
		expect("d", 0)
	})
}

// If many networks make attempts, those that the member never signed in from
// share one; the others do not wait.
func TestManyNetworksShareOneTry(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		s := open()
		sys := s.System()
		a := storetest.Must[accounts.Account](t)(sys.CreateAccount(t.Context(), "default", storetest.NewMember(1, access.Viewer)))
		if err := sys.SignIn(t.Context(), &a, from("home"), []byte("cookie"), time.Hour, storetest.PortalLine(now.Now())); err != nil {
			t.Fatal(err)
		}
		count := func(network string) error { return sys.CountTry(t.Context(), from(network), triesRules, now.Now()) }
		for i := range 2 { // of the three required
			for range 3 {
				if err := count(fmt.Sprint("bot ", i)); err != nil {
					t.Fatal(err)
				}
			}
			now.Pass(4 * time.Second)
			for range 3 { // one network counts once, however many attempts it makes
				_ = count(fmt.Sprint("bot ", i))
				now.Pass(30 * time.Second)
			}
		}
		for range 3 {
			if err := count("bot 2"); err != nil {
				t.Errorf("before the third network: %v", err)
			}
		}
		if err := count("bot 3"); err != nil {
			t.Errorf("the one try of now: %v", err)
		}
		if err := count("bot 4"); !fault.Is(err, fault.RateLimitExceeded) {
			t.Errorf("another try at the same time: %v", err)
		}
		if err := count("home"); err != nil {
			t.Errorf("a network that is known: %v", err)
		}
		now.Pass(10 * time.Second)
		if err := count("bot 4"); err != nil {
			t.Errorf("after the pace: %v", err)
		}
		other := accounts.SignInTry{EmailHash: []byte("other"), Network: "bot 5"}
		if err := sys.CountTry(t.Context(), other, triesRules, now.Now()); err != nil {
			t.Errorf("another member: %v", err)
		}
		now.Pass(24 * time.Hour)
		if err := sys.Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if err := count("bot 6"); err != nil {
				t.Errorf("a day later: %v", err)
			}
		}
	})
}

// No session starts with a password that was replaced while it was being
// verified.
func TestSignInWithAPasswordOfThePast(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		s := open()
		sys := s.System()
		a := storetest.Must[accounts.Account](t)(sys.CreateAccount(t.Context(), "default", storetest.NewMember(1, access.Viewer)))
		p := a.Principal()
		if err := s.For(&p).SetPassword(t.Context(), &a, "another", storetest.TryOf("email"), storetest.PortalLine(now.Now())); err != nil {
			t.Fatal(err)
		}
		if err := sys.SignIn(t.Context(), &a, storetest.TryOf("email"), []byte("cookie"), time.Hour, storetest.PortalLine(now.Now())); !fault.Is(err, fault.Unauthorized) {
			t.Errorf("signing in: %v", err)
		}
		if err := s.For(&p).SetPassword(t.Context(), &a, "a third", storetest.TryOf("email"), storetest.PortalLine(now.Now())); !fault.Is(err, fault.Conflict) {
			t.Errorf("setting the password: %v", err)
		}
	})
}

func TestResetLink(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		s := open()
		sys := s.System()
		admin := storetest.Must[accounts.Account](t)(sys.CreateAccount(t.Context(), "default", storetest.NewMember(1, access.Administrator)))
		a := storetest.Must[accounts.Account](t)(sys.CreateAccount(t.Context(), "default", storetest.NewMember(2, access.Viewer)))
		p, q := admin.Principal(), a.Principal()
		make := func(link string) {
			t.Helper()
			if _, err := s.For(&p).MakeReset(t.Context(), a.ID, []byte(link), time.Hour, storetest.PortalLine(now.Now())); err != nil {
				t.Fatal(err)
			}
		}
		use := func(link string) error {
			_, err := sys.UseReset(t.Context(), []byte(link), "hash of "+link, storetest.PortalLine(now.Now()))
			return err
		}
		if _, err := s.For(&q).MakeReset(t.Context(), admin.ID, []byte("mine"), time.Hour, storetest.PortalLine(now.Now())); !fault.Is(err, fault.Forbidden) {
			t.Errorf("a viewer makes a link for an administrator: %v", err)
		}
		make("older")
		make("newer")
		if err := use("older"); !fault.Is(err, fault.NotFound) {
			t.Errorf("a link that was replaced: %v", err)
		}
		now.Pass(time.Hour)
		if err := use("newer"); !fault.Is(err, fault.NotFound) {
			t.Errorf("an expired link: %v", err)
		}
		make("third")
		if err := sys.SignIn(t.Context(), &a, storetest.TryOf("email"), []byte("cookie"), time.Hour, storetest.PortalLine(now.Now())); err != nil {
			t.Fatal(err)
		}
		var used atomic.Int32
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				switch err := use("third"); {
				case err == nil:
					used.Add(1)
				case !fault.Is(err, fault.NotFound):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := used.Load(); n != 1 {
			t.Errorf("the link was used %d times", n)
		}
		if found, _, err := sys.Session(t.Context(), []byte("cookie"), time.Hour); found || err != nil {
			t.Errorf("the session goes on (%v)", err)
		}
		if now, _, err := sys.AccountByEmail(t.Context(), a.Email); err != nil || now.PasswordHash != "hash of third" {
			t.Errorf("the password is %q (%v)", now.PasswordHash, err)
		}
		make("fourth")
		if _, _, err := sys.SetDisabled(t.Context(), a.Email, true); err != nil {
			t.Fatal(err)
		}
		if err := use("fourth"); !fault.Is(err, fault.NotFound) {
			t.Errorf("a disabled member's link: %v", err)
		}
		if _, err := sys.MakeReset(t.Context(), a.Email, []byte("fifth"), time.Hour); !fault.Is(err, fault.Conflict) {
			t.Errorf("a link for a disabled member: %v", err)
		}
		if _, err := sys.MakeReset(t.Context(), "nobody@example.org", []byte("sixth"), time.Hour); !fault.Is(err, fault.NotFound) {
			t.Errorf("a link for nobody: %v", err)
		}
	})
}
