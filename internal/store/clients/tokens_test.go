package clients_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/clients"
	"anodyne.example/anodyne/internal/store/storetest"
)

// Each of several tokens that are issued at the same time, to clients of several
// are each stored as requested, or refused.
func TestTokensIssuedTogether(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		clock := storetest.NewClock()
		cfg.Now = clock.Now
		s := storetest.Start(t, cfg)
		sys := s.System()
		client := func(name string) clients.Client {
			return storetest.Must[clients.Client](t)(sys.CreateClient(t.Context(), clients.NewClient{
				Org: "Hospital " + name, Name: name, Tier: access.Standard, Scopes: access.AllScopes, SecretHash: []byte("secret of " + name)}))
		}
		valid, signing, revoked, rotated := client("valid"), client("signing"), client("revoked"), client("rotated")
		for _, c := range []*clients.Client{&valid, &revoked, &rotated} {
			c.Secret = clients.Secret{Hash: []byte("secret of " + c.Name), UsedAt: clock.Now()} // so that its use is not recorded again
		}
		if err := errors.Join(sys.RevokeClient(t.Context(), revoked.ID), sys.RotateSecret(t.Context(), rotated.ID, []byte("another"), 0)); err != nil {
			t.Fatal(err)
		}
		wrongOrg, wrongSecret := valid, valid
		wrongOrg.Org, wrongSecret.Secret.Hash = signing.Org, []byte("secret of signing")
		cases := []struct {
			client *clients.Client
			issued bool
		}{{&valid, true}, {&signing, true}, {&revoked, false}, {&rotated, false}, {&wrongOrg, false}, {&wrongSecret, false}}

		storetest.Together(t, 60, func(i int) error {
			c := cases[i%len(cases)]
			for n := range 5 {
				hash, scope := fmt.Appendf(nil, "token %d %d", i, n), access.PatientsRead
				if i%2 == 0 {
					scope = access.AuditRead
				}
				issued, err := sys.IssueToken(t.Context(), c.client, hash, access.Asked{Scopes: scope}, time.Hour)
				if err != nil || issued != c.issued {
					t.Errorf("client %s: issued %v, want %v; %v", c.client.Name, issued, c.issued, err)
				}
				token, found, err := sys.Token(t.Context(), hash)
				if err != nil || found != c.issued {
					t.Errorf("client %s: found %v, want %v; %v", c.client.Name, found, c.issued, err)
				}
				if found && (token.Principal.Client != c.client.No || token.Principal.Org != c.client.Org || token.Scope.Scopes != scope || !token.ExpiresAt.Equal(clock.Now().Add(time.Hour))) {
					t.Errorf("client %s: token %+v", c.client.Name, token)
				}
			}
			return nil
		})
	})
}
