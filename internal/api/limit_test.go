package api

import (
	"context"
	"net/http"
	"net/netip"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/ratelimit"
	"anodyne.example/anodyne/internal/store/storetest"
)

func TestWindowIsFixed(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north", access.PatientsRead)
		_, _, reset := c.get("/v1/patients").limits()
		for i := range 5 {
			n.clock.forward(10 * time.Minute)
			if _, remaining, again := c.get("/v1/patients").limits(); again != reset || remaining != int64(998-i) {
				t.Fatalf("after %d0 minutes: %d left, reset %d, before %d", i+1, remaining, again, reset)
			}
		}
		n.clock.forward(10 * time.Minute)
		c.token = c.issue("")
		if _, remaining, again := c.get("/v1/patients").is(http.StatusOK).limits(); again < reset+3600 || remaining != 999 {
			t.Errorf("in the next window: %d left, reset %d, before %d", remaining, again, reset)
		}
	})
}

func TestCountedByClientNotByToken(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c, colleague := n.caller("north"), n.caller("north")
		c.get("/v1/patients")
		c.token = c.issue("patients:read")
		if got := c.get("/v1/patients").remaining(); got != 998 {
			t.Errorf("%d left after two requests with two tokens", got)
		}
		// A token request that succeeds counts for its client.
		r := c.form("/oauth/token", c.credentials(grantType, clientCredentials)).is(http.StatusOK)
		if got := r.remaining(); got != 997 {
			t.Errorf("%d left after a token request", got)
		}
		if got := colleague.get("/v1/patients").remaining(); got != 999 {
			t.Errorf("%d left to another client", got)
		}
	})
}

func TestEveryAnswerToAClientIsCounted(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north", access.PatientsRead)
		left := int64(1000)
		for _, send := range []func() *reply{
			func() *reply { return c.get("/v1/patients") },
			func() *reply { return c.get("/v1/patients?page=0") },
			func() *reply { return c.get("/v1/patients/x") },
			func() *reply { return c.get("/v1/nothing") },
			func() *reply { return c.get("/nothing") },
			func() *reply { return c.send("DELETE", "/v1/patients", "") },
			func() *reply { return c.post("/v1/patients", fullPatient) },
			func() *reply { return c.form("/oauth/token", c.credentials()) },
			func() *reply { return c.form("/oauth/introspect", c.credentials("token", "x")) },
		} {
			left--
			if r := send(); r.remaining() != left {
				t.Errorf("%s: %d left, want %d", r.what, r.remaining(), left)
			}
		}
	})
}

func TestRefusedCostsNothing(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		c.exhaust()
		for range 20 {
			c.get("/v1/patients").is(http.StatusTooManyRequests)
		}
		// Had the refused been counted, the larger allowance would show it.
		if err := n.store.System().SetTier(context.Background(), c.client.ID, access.Professional); err != nil {
			t.Fatal(err)
		}
		n.look()
		if got := c.get("/v1/patients").is(http.StatusOK).remaining(); got != 8_999 {
			t.Errorf("%d left of 10,000 after 1,001 requests", got)
		}
	})
}

func TestHealthAndDocumentsAreNotCounted(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		c.get("/v1/patients")
		n.send("GET", "/v1/patients", "")
		for _, path := range []string{"/healthz", "/readyz", "/openapi.json", "/openapi.yaml", "/.well-known/oauth-authorization-server"} {
			for range 3 {
				if got := n.send("GET", path, "").is(http.StatusOK).remaining(); got != 999 {
					t.Errorf("%s: %d left to the address", path, got)
				}
				c.get(path).is(http.StatusOK)
			}
		}
		if got := c.get("/v1/patients").remaining(); got != 998 {
			t.Errorf("%d left to the client", got)
		}
	})
}

// The allowance of an address slows down guessing, and never affects callers
// with valid credentials.
func TestAnonymousAllowance(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		_, _, reset := n.send("GET", "/v1/patients", "").is(http.StatusUnauthorized).limits()
		local := netip.MustParseAddr("127.0.0.1")
		for n.api.Addresses.Take(local).Allowed {
		}
		for _, r := range []*reply{n.send("GET", "/v1/patients", ""), n.send("GET", "/v1/patients", "", "Authorization", "Bearer x"),
			n.send("GET", "/nothing", ""), n.form("/oauth/token", nil), n.form("/oauth/token", c.credentials("client_secret", "guess"))} {
			details := r.fault(http.StatusTooManyRequests, fault.RateLimitExceeded)
			if details["limit"] != float64(1000) || details["reset"] != float64(reset) || r.number("Retry-After") < 3500 {
				t.Errorf("%s: %v", r.what, details)
			}
		}
		c.get("/v1/patients").is(http.StatusOK)
		c.get("/nothing").is(http.StatusNotFound)
		c.form("/oauth/token", c.credentials(grantType, clientCredentials)).is(http.StatusOK)
		n.send("GET", "/healthz", "").is(http.StatusOK)
		n.clock.forward(time.Hour)
		n.send("GET", "/v1/patients", "").is(http.StatusUnauthorized)
	})
}

// While the database is unavailable, credentials cannot be checked; that must
// not use up the address's allowance.
func TestDatabaseAwayIsNotCounted(t *testing.T) {
	away := fault.Away("The database is not available.", nil)
	eachWith(t, func(cfg *Config) { cfg.Authority = broken{cfg.Authority, func() error { return away }} }, func(t *testing.T, n *node) {
		for range 3 {
			for _, path := range []string{"/v1/patients", "/nothing"} {
				r := n.send("GET", path, "", "Authorization", "Bearer x")
				r.fault(http.StatusServiceUnavailable, fault.Unavailable)
				if r.remaining() != 1000 || r.number("Retry-After") != 1 {
					t.Errorf("%d left, Retry-After %d", r.remaining(), r.number("Retry-After"))
				}
			}
		}
	})
}

func TestAnonymousByForwardedAddress(t *testing.T) {
	trust := func(cfg *Config) {
		cfg.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8")}
	}
	eachWith(t, trust, func(t *testing.T, n *node) {
		for _, step := range []struct {
			forwarded string
			left      int64
		}{
			{"192.0.2.1", 999},
			{"192.0.2.1", 998},
			{"192.0.2.2", 999},
			{"evil, 192.0.2.1", 997}, // only what a trusted proxy wrote counts
			{"192.0.2.9, 192.0.2.1, 10.1.2.3", 996},
			{"2001:db8:1:2::1", 999},
			{"2001:db8:1:2:ffff::1", 998}, // of one /64
			{"2001:db8:1:3::1", 999},
			{"::ffff:192.0.2.1", 995},
			{"", 999}, // the proxy itself
			{"nonsense", 998},
		} {
			if got := n.send("GET", "/v1/patients", "", "X-Forwarded-For", step.forwarded).is(http.StatusUnauthorized).remaining(); got != step.left {
				t.Errorf("%q: %d left, want %d", step.forwarded, got, step.left)
			}
		}
	})
}

func TestForwardedAddressIsNotAssumed(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		for want := int64(999); want > 995; want-- {
			if got := n.send("GET", "/v1/patients", "", "X-Forwarded-For", "192.0.2.1", "Forwarded", "for=192.0.2.2").remaining(); got != want {
				t.Errorf("%d left, want %d", got, want)
			}
		}
	})
}

// A node that stops returns what it reserved, and the next continues from
// there.
func TestRestartKeepsTheCount(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		var reset int64
		for range 7 {
			_, _, reset = c.get("/v1/patients").limits()
		}
		if err := n.limiter.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		next := n.another()
		if _, remaining, again := c.at(next).get("/v1/patients").is(http.StatusOK).limits(); remaining != 992 || again != reset {
			t.Errorf("%d left, reset %d, before %d", remaining, again, reset)
		}
	})
}

// share sends 50 requests more than the allowance, over all these nodes. A
// request that a busy machine has no connection for is not counted, and sent
// again.
func share(t *testing.T, c *caller, nodes ...*node) {
	t.Helper()
	limit := int(access.Standard.Limit())
	replies := parallel(limit+50, func(i int) *reply {
		for {
			if r := c.at(nodes[i%len(nodes)]).get("/v1/nothing"); r.status != http.StatusServiceUnavailable {
				return r
			}
		}
	})
	if got := statuses(replies); got[http.StatusNotFound] != limit || got[http.StatusTooManyRequests] != 50 {
		t.Errorf("of %d requests: %v", limit+50, got)
	}
	_, _, reset := replies[0].limits()
	left := map[int64]int{}
	for _, r := range replies {
		_, remaining, again := r.limits()
		if again != reset {
			t.Fatalf("reset %d and %d", again, reset)
		}
		if r.status == http.StatusNotFound {
			left[remaining]++
		}
	}
	if len(nodes) == 1 && len(left) != limit {
		t.Errorf("%d different counts of what was left", len(left))
	}
}

func TestExactlyTheAllowancePasses(t *testing.T) {
	each(t, func(t *testing.T, n *node) { share(t, n.caller("north"), n) })
}

func TestExactlyTheAllowancePassesOnThreeNodes(t *testing.T) {
	t.Parallel()
	n := start(t, "postgres", nil)
	share(t, n.caller("north"), n, n.another(), n.another())
}

// Two nodes of one SQLite file reserve ahead of each other: never more than
// the allowance passes.
func TestNeverMoreThanTheAllowanceOnAFile(t *testing.T) {
	t.Parallel()
	n := start(t, "sqlite", nil)
	c, other := n.caller("north"), n.another()
	limit := int(access.Standard.Limit())
	passed := statuses(parallel(limit+50, func(i int) *reply { return c.at([]*node{n, other}[i%2]).get("/v1/nothing") }))[http.StatusNotFound]
	if passed > limit || passed < limit-2*limit/50 {
		t.Errorf("%d passed of %d", passed, limit)
	}
}

func TestLimiterAwayIs503(t *testing.T) {
	reserve := func(context.Context, access.ClientNo, int64, int64, time.Time) (ratelimit.Grant, error) {
		return ratelimit.Grant{}, fault.Away("The database is not available.", nil)
	}
	eachWith(t, func(cfg *Config) { cfg.Limiter = ratelimit.New(reserve, nil, func(int64) int64 { return 0 }, cfg.Now) }, func(t *testing.T, n *node) {
		c := n.caller("north")
		r := c.get("/v1/patients")
		r.fault(http.StatusServiceUnavailable, fault.Unavailable)
		if limit, remaining, _ := r.limits(); limit != 1000 || remaining != 1000 {
			t.Errorf("%d of %d", remaining, limit)
		}
	})
}

// What a request reads while it is counted is not shown if it is refused, and
// its other errors are not told.
func TestRefusedWhileReading(t *testing.T) {
	t.Parallel()
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			refusedWhileReading(t, engine)
		})
	}
}

func refusedWhileReading(t *testing.T, engine string) {
	var full atomic.Bool
	reserve := func(_ context.Context, _ access.ClientNo, limit, n int64, now time.Time) (ratelimit.Grant, error) {
		g := ratelimit.Grant{Granted: n, Used: n, WindowEnd: now.Add(ratelimit.Window)}
		if full.Load() {
			g.Granted, g.Used = 0, limit
		}
		return g, nil
	}
	n := start(t, engine, func(cfg *Config) { cfg.Limiter = ratelimit.New(reserve, nil, func(int64) int64 { return 0 }, cfg.Now) })
	c := n.caller("north")
	patient := c.create("Ada")
	c.get("/v1/patients/" + patient).is(http.StatusOK)
	paths := []string{"/v1/patients/" + patient, "/v1/patients", "/v1/patients?sort=name", "/v1/patients?page=0", "/v1/patients/pat_1", "/v1/patients/" + patient + "/nothing"}
	callers := []*caller{c} // the limiter knows of none that its window is exhausted
	for i := range paths[1:] {
		callers = append(callers, n.caller("another"+strconv.Itoa(i), access.PatientsWrite))
	}
	full.Store(true)
	for i, path := range paths {
		callers[i].get(path).fault(http.StatusTooManyRequests, fault.RateLimitExceeded)
	}
	full.Store(false)
	n.clock.forward(2 * time.Hour)
	c.token = c.issue("")
	if read := c.audit("&action=patient.read", 1); len(read) != 1 {
		t.Errorf("%d reads are recorded, want 1", len(read))
	}
}
