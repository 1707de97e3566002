package e2e

import (
	"errors"
	"testing"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/store/storetest"
)

// TestClientsOfRunningService creates, changes and ends clients on the command
// line while the nodes serve.
func TestClientsOfRunningService(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *service, nodes []*node) {
		app := s.register("standard")
		list := client.PatientQuery{Limit: 1}
		var clients []*client.Client
		for _, n := range nodes {
			c := n.as(app)
			if _, err := c.Patients(t.Context(), list); err != nil {
				t.Fatalf("a client that was just created: %v", err)
			}
			if got := c.RateLimit().Limit; got != 1000 {
				t.Errorf("the limit is %d", got)
			}
			clients = append(clients, c)
		}

		s.must("client", "tier", app.ID, "professional")
		eventually(t, patience, "the new tier on every node", func() bool {
			for _, c := range clients {
				if _, err := c.Patients(t.Context(), list); err != nil {
					t.Fatal(err)
				}
				if c.RateLimit().Limit != 10_000 {
					return false
				}
			}
			return true
		})

		s.must("client", "revoke", app.ID)
		eventually(t, patience, "the revocation on every node", func() bool {
			for _, c := range clients {
				if _, err := c.Patients(t.Context(), list); err == nil {
					return false
				} else if !refused(err) {
					t.Fatal(err)
				}
			}
			return true
		})
		if _, err := nodes[0].as(app).Token(t.Context()); !client.IsCode(err, client.CodeInvalidClient) {
			t.Errorf("a token for a revoked client: %v", err)
		}
	})
}

// refused reports whether a token, or the client requesting another, is no
// longer accepted.
func refused(err error) bool {
	e, ok := errors.AsType[*client.Error](err)
	return ok && e.Status == 401 && (e.Code == client.CodeUnauthorized || e.Code == client.CodeInvalidClient)
}

// TestRotationWithoutDowntime: the secret before stays valid for the overlap.
func TestRotationWithoutDowntime(t *testing.T) {
	t.Parallel()
	s := newService(t, storetest.SQLite)
	n := s.node(0)
	old := s.register("standard")
	fresh := s.credentials("client", "rotate", old.ID, "--json", "--overlap", "1h")
	for _, app := range []application{old, fresh} {
		if _, err := n.as(app).Token(t.Context()); err != nil {
			t.Errorf("a token during the overlap: %v", err)
		}
	}
	last := s.credentials("client", "rotate", old.ID, "--json", "--overlap", "0s")
	for app, good := range map[application]bool{old: false, fresh: false, last: true} {
		if _, err := n.as(app).Token(t.Context()); (err == nil) != good {
			t.Errorf("a token after the overlap: %v, want success %v", err, good)
		}
	}
}
