package oauth

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/clients"
	"anodyne.example/anodyne/internal/store/storetest"
)

// clock stands still until it is put forward.
type clock struct {
	start time.Time
	ahead atomic.Int64
}

func (c *clock) now() time.Time { return c.start.Add(time.Duration(c.ahead.Load())) }

func (c *clock) forward(d time.Duration) { c.ahead.Add(int64(d)) }

// world is an authority on a real store, and a client of it.
type world struct {
	*Authority
	t      *testing.T
	clock  *clock
	store  *store.Store
	client *clients.Client
	secret string
}

// each runs a test on both engines. The client has these scopes.
func each(t *testing.T, scopes access.Scopes, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			w := &world{t: t, clock: &clock{start: time.Now()}}
			database := storetest.Database(t, engine)
			database.Now = w.clock.now
			w.store = storetest.Start(t, database)
			w.Authority = New(w.store, w.clock.now)
			w.client, w.secret = w.register("north", scopes)
			test(t, w)
		})
	}
}

func (w *world) register(org string, scopes access.Scopes) (*clients.Client, string) {
	w.t.Helper()
	secret, hash := NewSecret()
	made, err := w.store.System().CreateClient(context.Background(), clients.NewClient{Org: org, Name: "test", Scopes: scopes, SecretHash: hash})
	if err != nil {
		w.t.Fatal(err)
	}
	client, err := w.Authenticate(context.Background(), made.ID.String(), secret)
	if err != nil {
		w.t.Fatal(err)
	}
	return client, secret
}

func (w *world) issue(scope string) string {
	w.t.Helper()
	grant, err := w.Issue(context.Background(), w.client, scope)
	if err != nil {
		w.t.Fatal(err)
	}
	return grant.Token
}

// verify returns the principal, or the reason why there is none.
func (w *world) verify(header ...string) (*access.Principal, string) {
	w.t.Helper()
	p, err := w.Verify(context.Background(), header)
	if err == nil {
		return p, ""
	}
	if !fault.Is(err, fault.Unauthorized) {
		w.t.Fatal(err)
	}
	reason, _ := err.(*fault.Error).Details["reason"].(string)
	return nil, reason
}

func TestAuthenticate(t *testing.T) {
	each(t, access.AllScopes, func(t *testing.T, w *world) {
		if w.client.Org == 0 || w.client.Scopes != access.AllScopes || len(w.client.Secret.Hash) == 0 {
			t.Errorf("%+v", w.client)
		}
		other, otherSecret := w.register("south", access.AllScopes)
		for name, pair := range map[string][2]string{
			"wrong secret":     {w.client.ID.String(), w.secret + "x"},
			"no secret":        {w.client.ID.String(), ""},
			"another's secret": {w.client.ID.String(), otherSecret},
			"another's id":     {other.ID.String(), w.secret},
			"unknown id":       {"cli_01kf14e860rxathabqv1je7gxh", w.secret},
			"malformed id":     {"someone", w.secret},
			"no id":            {"", ""},
		} {
			if _, err := w.Authenticate(context.Background(), pair[0], pair[1]); err != errClient {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := w.store.System().RevokeClient(context.Background(), w.client.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Authenticate(context.Background(), w.client.ID.String(), w.secret); err != errClient {
			t.Errorf("revoked: %v", err)
		}
	})
}

func TestAuthenticateWithoutADatabase(t *testing.T) {
	each(t, access.AllScopes, func(t *testing.T, w *world) {
		token := w.issue("")
		if err := w.store.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Authenticate(context.Background(), w.client.ID.String(), w.secret); !fault.Is(err, fault.Unavailable) {
			t.Errorf("authenticate: %v", err)
		}
		if _, err := w.Issue(context.Background(), w.client, ""); !fault.Is(err, fault.Unavailable) {
			t.Errorf("issue: %v", err)
		}
		if _, err := w.Verify(context.Background(), []string{"Bearer " + token}); !fault.Is(err, fault.Unavailable) {
			t.Errorf("verify: %v", err)
		}
		if err := w.Look(context.Background()); !fault.Is(err, fault.Unavailable) {
			t.Errorf("look: %v", err)
		}
	})
}

func TestIssueNarrows(t *testing.T) {
	granted := access.PatientsRead | access.PatientsWrite
	each(t, granted, func(t *testing.T, w *world) {
		for scope, want := range map[string]access.Scopes{
			"": granted, "  ": granted, "patients:read": access.PatientsRead, "patients:write patients:read": granted,
		} {
			grant, err := w.Issue(context.Background(), w.client, scope)
			if err != nil || grant.Scope.Scopes != want || grant.Lifetime != time.Hour {
				t.Errorf("%q: %v for %v, %v", scope, grant.Scope.Scopes, grant.Lifetime, err)
			}
			p, _ := w.verify("Bearer " + grant.Token)
			if p == nil || p.Scopes != want || p.Client != w.client.No || p.Org != w.client.Org || p.ClientID != w.client.ID || p.OrgID != w.client.OrgID {
				t.Errorf("%q: %+v", scope, p)
			}
		}
		for scope, value := range map[string]string{"audit:read": "audit:read", "patients:read audit:read": "patients:read audit:read", "patients:read all": "all", "Patients:Read": "Patients:Read"} {
			_, err := w.Issue(context.Background(), w.client, scope)
			if !fault.Is(err, fault.InvalidScope) || err.(*fault.Error).Details["value"] != value {
				t.Errorf("%q: %v", scope, err)
			}
		}
	})
}

func TestRevokeAndIntrospect(t *testing.T) {
	each(t, access.AllScopes, func(t *testing.T, w *world) {
		ctx := context.Background()
		token := w.issue("patients:read")
		colleague, _ := w.register("north", access.PatientsRead)
		stranger, _ := w.register("south", access.AllScopes)
		line := audit.Entry{At: w.clock.now(), Action: audit.TokenRevoke, Actor: w.client.ID.String()}
		active := func(c *clients.Client) bool {
			t.Helper()
			known, active, err := w.Introspect(ctx, c, token)
			if err != nil {
				t.Fatal(err)
			}
			if active && (known.Principal.ClientID != w.client.ID || known.Principal.Scopes != access.PatientsRead || known.ExpiresAt.Sub(known.IssuedAt) != Lifetime) {
				t.Errorf("%+v", known)
			}
			return active
		}
		if !active(w.client) || !active(colleague) || active(stranger) {
			t.Error("a token is known within its organisation, and only there")
		}
		for _, c := range []*clients.Client{colleague, stranger} {
			if err := w.Revoke(ctx, c, token, line); err != nil {
				t.Fatal(err)
			}
			if _, reason := w.verify("Bearer " + token); reason != "" || !active(w.client) {
				t.Errorf("revoked by another client: %q", reason)
			}
		}
		for range 2 {
			if err := w.Revoke(ctx, w.client, token, line); err != nil {
				t.Fatal(err)
			}
			if _, reason := w.verify("Bearer " + token); reason != "revoked_token" || active(w.client) {
				t.Errorf("after its revocation: %q", reason)
			}
		}
		if err := w.Revoke(ctx, w.client, "unknown", line); err != nil {
			t.Error(err)
		}
	})
}
