package clients_test

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/clients"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/storetest"
)

// secrets lists the valid secrets of a client.
func secrets(t *testing.T, s *store.Store, clientID id.Client) (list []string) {
	t.Helper()
	_, live, err := s.System().Credentials(t.Context(), clientID)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range live {
		list = append(list, string(secret.Hash))
	}
	slices.Sort(list)
	return list
}

func TestClientIsKept(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		now := storetest.NewClock()
		cfg.Now = now.Now
		s := storetest.Start(t, cfg)
		sys := s.System()
		first := storetest.Must[clients.Client](t)(sys.CreateClient(t.Context(), clients.NewClient{
			Org: "General Hospital", Name: "EHR", Tier: access.Professional, Scopes: access.PatientsRead, SecretHash: []byte("one")}))
		second := storetest.Must[clients.Client](t)(sys.CreateClient(t.Context(), clients.NewClient{
			Org: "General Hospital", Name: "BI", Tier: access.Standard, Scopes: access.AllScopes, SecretHash: []byte("two")}))
		if first.OrgID != second.OrgID || first.Org != second.Org {
			t.Errorf("one name made two organisations: %v, %v", first.OrgID, second.OrgID)
		}
		if !first.CreatedAt.Equal(now.Now()) {
			t.Errorf("created at %v", first.CreatedAt)
		}
		got := storetest.Must[[]clients.Client](t)(sys.Clients(t.Context()))
		if !reflect.DeepEqual(got, []clients.Client{first, second}) {
			t.Errorf("got  %+v\nwant %+v, %+v", got, first, second)
		}
		if c, live, err := sys.Credentials(t.Context(), first.ID); !reflect.DeepEqual(c, first) || len(live) != 1 || string(live[0].Hash) != "one" || err != nil {
			t.Errorf("Credentials: %+v, %q, %v", c, live, err)
		}
		unknown := id.New[id.ClientKind](now.Now())
		for what, err := range map[string]error{
			"RotateSecret": sys.RotateSecret(t.Context(), unknown, []byte("x"), 0),
			"RevokeClient": sys.RevokeClient(t.Context(), unknown),
			"SetTier":      sys.SetTier(t.Context(), unknown, access.Standard),
		} {
			if !fault.Is(err, fault.NotFound) {
				t.Errorf("%s of an unknown client: %v", what, err)
			}
		}
		if epoch := storetest.Must[int64](t)(sys.AccessEpoch(t.Context())); epoch != 0 {
			t.Errorf("a failed change left epoch %d", epoch)
		}
	})
}

// Several nodes that create the first client of an organisation create one
// organisation.
func TestOrganisationIsMadeOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		all := []*store.Store{open(), open(), open()}
		storetest.Together(t, 9, func(i int) error {
			_, err := all[i%3].System().CreateClient(t.Context(), clients.NewClient{Org: "General Hospital", Name: storetest.PatientName(i), SecretHash: []byte("x")})
			return err
		})
		clients := storetest.Must[[]clients.Client](t)(all[0].System().Clients(t.Context()))
		for _, c := range clients {
			if c.Org != clients[0].Org {
				t.Errorf("client %s is in organisation %d, the first in %d", c.Name, c.Org, clients[0].Org)
			}
		}
		if n := storetest.Number(t, all[0], `SELECT count(*) FROM org_counter`); n != 1 || len(clients) != 9 {
			t.Errorf("%d organisations, %d clients", n, len(clients))
		}
	})
}

func TestRotateKeepsTwoSecretsAlive(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		now := storetest.NewClock()
		cfg.Now = now.Now
		s := storetest.Start(t, cfg)
		c := storetest.Must[clients.Client](t)(s.System().CreateClient(t.Context(), clients.NewClient{Org: "O", Name: "C", SecretHash: []byte("1")}))
		rotate := func(secret string, overlap time.Duration) {
			t.Helper()
			if err := s.System().RotateSecret(t.Context(), c.ID, []byte(secret), overlap); err != nil {
				t.Fatal(err)
			}
		}
		want := func(when string, live ...string) {
			t.Helper()
			if got := secrets(t, s, c.ID); !slices.Equal(got, live) {
				t.Errorf("%s: %v are live, want %v", when, got, live)
			}
			if got := storetest.ClientOf(t, s, c.ID).Secrets; got != len(live) {
				t.Errorf("%s: %d secrets are counted, want %d", when, got, len(live))
			}
		}
		want("at first", "1")
		rotate("2", time.Hour)
		want("during the overlap", "1", "2")
		rotate("3", time.Hour) // in the same millisecond
		want("after another rotation", "2", "3")
		now.Pass(time.Hour)
		want("after the overlap", "3")
		rotate("4", 0)
		want("without an overlap", "4")
		before := storetest.Must[int64](t)(s.System().AccessEpoch(t.Context()))
		storetest.Together(t, 8, func(i int) error {
			return s.System().RotateSecret(t.Context(), c.ID, []byte(fmt.Sprint("p", i)), time.Hour)
		})
		if got := secrets(t, s, c.ID); len(got) != 2 {
			t.Errorf("%d secrets live after rotations at once: %v", len(got), got)
		}
		if after := storetest.Must[int64](t)(s.System().AccessEpoch(t.Context())); after != before+8 {
			t.Errorf("the epoch went from %d to %d", before, after)
		}
	})
}

func TestTokens(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		now := storetest.NewClock()
		cfg.Now = now.Now
		s := storetest.Start(t, cfg)
		other := storetest.Start(t, storetest.Node(t, cfg))
		sys := s.System()
		c := storetest.Must[clients.Client](t)(sys.CreateClient(t.Context(), clients.NewClient{Org: "O", Name: "C", Tier: access.Standard,
			Scopes: access.PatientsRead | access.PatientsWrite, SecretHash: []byte("secret")}))
		token := func(hash string) clients.Token {
			t.Helper()
			got, found, err := other.System().Token(t.Context(), []byte(hash))
			if !found || err != nil {
				t.Fatalf("token %s: %v, %v", hash, found, err)
			}
			return got
		}
		for _, hash := range []string{"a", "b"} {
			if issued, err := sys.IssueToken(t.Context(), &c, []byte(hash), access.Asked{Scopes: access.PatientsRead | access.AuditRead}, time.Hour); err != nil || !issued {
				t.Fatal(err)
			}
		}
		want := clients.Token{
			Principal: access.Principal{Org: c.Org, OrgID: c.OrgID, Client: c.No, ClientID: c.ID, Scopes: access.PatientsRead, Tier: access.Standard},
			Scope:     access.Asked{Scopes: access.PatientsRead},
			IssuedAt:  now.Now(), ExpiresAt: now.Now().Add(time.Hour),
		}
		if got := token("a"); got != want {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
		if _, found, err := sys.Token(t.Context(), []byte("unknown")); found || err != nil {
			t.Errorf("unknown token: %v, %v", found, err)
		}

		colleague := storetest.Client(t, s, "O")
		owner := access.Principal{Org: c.Org, Client: c.No}
		epoch := storetest.Must[int64](t)(sys.AccessEpoch(t.Context()))
		for _, who := range []access.Principal{colleague, owner, owner} {
			if err := s.For(&who).RevokeToken(t.Context(), []byte("a"), audit.Entry{At: now.Now(), Action: audit.TokenRevoke}); err != nil {
				t.Fatal(err)
			}
			if got := token("a").Revoked; got != (who.Client == c.No) {
				t.Errorf("revoked by client %d of client %d: %v", who.Client, c.No, got)
			}
		}
		if after := storetest.Must[int64](t)(other.System().AccessEpoch(t.Context())); after != epoch+1 {
			t.Errorf("the epoch went from %d to %d, want one step", epoch, after)
		}
		storetest.Settle(t, s)
		if lines := storetest.AuditLines(t, s.For(&owner), journal.AuditFilter{Action: audit.TokenRevoke}); len(lines) != 1 {
			t.Errorf("%d lines for one revocation", len(lines))
		}

		if err := sys.SetTier(t.Context(), c.ID, access.Enterprise); err != nil {
			t.Fatal(err)
		}
		if got := token("b"); got.Principal.Tier != access.Enterprise || got.Revoked {
			t.Errorf("after the tier was set: %+v", got)
		}
		for range 2 {
			if err := sys.RevokeClient(t.Context(), c.ID); err != nil {
				t.Fatal(err)
			}
		}
		if got := token("b"); !got.Revoked {
			t.Errorf("after the client was revoked: %+v", got)
		}
		if got := storetest.ClientOf(t, s, c.ID); !got.RevokedAt.Equal(now.Now()) {
			t.Errorf("revoked at %v", got.RevokedAt)
		}
		if err := sys.RotateSecret(t.Context(), c.ID, []byte("new"), 0); !fault.Is(err, fault.Conflict) {
			t.Errorf("rotating a revoked client: %v", err)
		}
		if after := storetest.Must[int64](t)(sys.AccessEpoch(t.Context())); after != epoch+4 {
			t.Errorf("the epoch went from %d to %d, want four steps", epoch, after)
		}
		storetest.Settle(t, s)
		for _, line := range storetest.AuditLines(t, s.For(&owner), journal.AuditFilter{}) {
			if bytes.Contains(line, []byte("null")) {
				t.Errorf("line %s", line)
			}
		}
	})
}

func TestLastUsed(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		now := storetest.NewClock()
		cfg.Now = now.Now
		s := storetest.Start(t, cfg)
		c := storetest.Must[clients.Client](t)(s.System().CreateClient(t.Context(), clients.NewClient{Org: "O", Name: "C", SecretHash: []byte("secret")}))
		c.Secret.Hash = []byte("secret")
		if got := storetest.ClientOf(t, s, c.ID).LastUsedAt; !got.IsZero() {
			t.Errorf("used at %v before its first token", got)
		}
		first := now.Now()
		for i, want := range []time.Duration{0, 0, 0, 61 * time.Second} {
			if issued, err := s.System().IssueToken(t.Context(), &c, []byte{byte(i)}, access.Asked{}, time.Hour); err != nil || !issued {
				t.Fatal(err)
			}
			if got := storetest.ClientOf(t, s, c.ID).LastUsedAt; !got.Equal(first.Add(want)) {
				t.Errorf("token %d: used at %v, want %v", i, got, first.Add(want))
			}
			now.Pass([]time.Duration{0, time.Minute, time.Second, 0}[i])
		}
	})
}
