package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/fault"
)

func TestIdentifiersSortByCreation(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		var ids []string
		for range 20 {
			ids = append(ids, c.create("Arlo Finch"))
		}
		if unique := slices.Compact(slices.Clone(ids)); !slices.IsSorted(ids) || len(unique) != len(ids) {
			t.Errorf("%v", ids)
		}
	})
}

func TestTimestampsAreWholeSecondsInUTC(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		before := n.clock.now().Truncate(time.Second)
		created := c.post("/v1/patients", fullPatient).is(http.StatusCreated).json()["created_at"].(string)
		at, err := time.Parse("2006-01-02T15:04:05Z", created)
		if err != nil || at.Before(before) || at.After(n.clock.now()) {
			t.Errorf("created_at %s, %v", created, err)
		}
		if stamp := c.get("/v1/events?wait=20").data()[0]["timestamp"]; stamp != created {
			t.Errorf("the event is of %v, the patient of %s", stamp, created)
		}
	})
}

// The bounds of what a patient holds, from both sides.
func TestBoundsOfAPatient(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		entries := func(count int) string { return `["x"` + strings.Repeat(`,"x"`, count-1) + `]` }
		today := time.Now().UTC().Format(time.DateOnly)
		for _, b := range []struct{ parameter, fits, exceeds string }{
			{"name", quote(strings.Repeat("ü", 200)), quote(strings.Repeat("ü", 201))},
			{"gender", quote(strings.Repeat("ü", 50)), quote(strings.Repeat("ü", 51))},
			{"contact.email", `{"email":` + quote(strings.Repeat("a", 252)+"@b") + `}`, `{"email":` + quote(strings.Repeat("a", 253)+"@b") + `}`},
			{"contact.phone", `{"phone":` + quote(strings.Repeat("5", 40)) + `}`, `{"phone":` + quote(strings.Repeat("5", 41)) + `}`},
			{"date_of_birth", quote("1900-01-01"), quote("1899-12-31")},
			{"date_of_birth", quote(today), quote("2999-01-01")},
			{"medical_history", entries(500), entries(501)},
		} {
			body := func(value string) string {
				member, _, _ := strings.Cut(b.parameter, ".")
				members := map[string]string{"name": `"Arlo Finch"`, "date_of_birth": `"1990-01-01"`}
				members[member] = value
				var parts []string
				for name, v := range members {
					parts = append(parts, fmt.Sprintf("%q:%s", name, v))
				}
				return "{" + strings.Join(parts, ",") + "}"
			}
			c.post("/v1/patients", body(b.fits)).is(http.StatusCreated)
			if got := c.post("/v1/patients", body(b.exceeds)).fault(http.StatusBadRequest, fault.InvalidParameter); got["parameter"] != b.parameter || len(got) != 2 {
				t.Errorf("%s: %.200v", b.parameter, got)
			}
		}
	})
}

// If the database is gone, every response says so and when to retry.
func TestDatabaseGone(t *testing.T) {
	each(t, func(t *testing.T, n *node) {
		c := n.caller("north")
		c.get("/v1/patients").is(http.StatusOK)
		if err := n.limiter.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := n.store.Close(); err != nil {
			t.Fatal(err)
		}
		for _, r := range []*reply{c.get("/v1/patients"), c.post("/v1/patients", fullPatient), n.send("GET", "/readyz", ""),
			c.form("/oauth/token", c.credentials(grantType, clientCredentials))} {
			r.fault(http.StatusServiceUnavailable, fault.Unavailable)
			if r.number("Retry-After") != 1 {
				t.Errorf("%s: Retry-After %s", r.what, r.header.Get("Retry-After"))
			}
			r.limits()
		}
		n.send("GET", "/healthz", "").is(http.StatusOK)
		n.send("GET", "/v1/patients", "").is(http.StatusUnauthorized)
	})
}
