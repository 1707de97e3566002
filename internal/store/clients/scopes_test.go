package clients_test

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/accounts"
	"anodyne.example/anodyne/internal/store/clients"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/webhooks"
)

const askedFor = access.PatientsRead | access.AuditRead | access.EventsRead

func TestScopesWaitForAnAdministrator(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		s := open()
		sys := s.System()
		admin := storetest.Must[accounts.Account](t)(sys.CreateAccount(t.Context(), "default", storetest.NewMember(1, access.Administrator)))
		dev := storetest.Must[accounts.Account](t)(sys.CreateAccount(t.Context(), "default", storetest.NewMember(2, access.Developer)))
		p, q := admin.Principal(), dev.Principal()
		high, low := s.For(&p), s.For(&q)
		line := storetest.PortalLine(now.Now())
		app := storetest.Must[clients.Client](t)(low.CreateClient(t.Context(), clients.NewClient{Name: "app", Tier: access.Enterprise, Scopes: askedFor, SecretHash: []byte("secret")}, line))
		expect := func(scopes, requested access.Scopes) {
			t.Helper()
			c := storetest.Must[clients.Client](t)(low.Client(t.Context(), app.ID))
			if c.Scopes != scopes || c.Requested != requested || c.RequestedAt.IsZero() != (requested == 0) || c.Tier != access.Standard || c.Owner == nil || c.Owner.ID != dev.ID {
				t.Errorf("scopes %q, requested %q since %s, tier %s", c.Scopes, c.Requested, c.RequestedAt, c.Tier)
			}
		}
		refused := func(err error, code fault.Code) {
			t.Helper()
			if !fault.Is(err, code) {
				t.Errorf("%v, want %s", err, code)
			}
		}
		done := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		expect(access.EventsRead, access.PatientsRead|access.AuditRead)
		refused(low.DecideScopes(t.Context(), app.ID, access.PatientsRead|access.AuditRead, access.PatientsRead, line), fault.Forbidden)
		refused(low.SetScopes(t.Context(), app.ID, access.AllScopes, line), fault.Forbidden)

		// The decision is about the request as seen, not about later ones.
		done(low.RequestScopes(t.Context(), app.ID, access.ReportsRead|access.WebhooksRead, line))
		expect(access.EventsRead|access.WebhooksRead, access.PatientsRead|access.AuditRead|access.ReportsRead)
		refused(high.DecideScopes(t.Context(), app.ID, access.PatientsRead|access.AuditRead, access.PatientsRead, line), fault.Conflict)
		epoch := storetest.Must[int64](t)(sys.AccessEpoch(t.Context()))
		done(high.DecideScopes(t.Context(), app.ID, access.PatientsRead|access.AuditRead|access.ReportsRead, access.PatientsRead|access.PatientsWrite, line))
		expect(access.EventsRead|access.WebhooksRead|access.PatientsRead, 0)
		if after := storetest.Must[int64](t)(sys.AccessEpoch(t.Context())); after == epoch {
			t.Error("nodes are not told that the scopes have changed")
		}
		refused(high.DecideScopes(t.Context(), app.ID, 0, access.AllScopes, line), fault.Conflict)
		refused(low.RequestScopes(t.Context(), app.ID, access.PatientsRead, line), fault.InvalidParameter)
		done(low.RequestScopes(t.Context(), app.ID, access.AuditRead, line))
		done(high.DecideScopes(t.Context(), app.ID, access.AuditRead, 0, line))
		expect(access.EventsRead|access.WebhooksRead|access.PatientsRead, 0)
		done(high.SetScopes(t.Context(), app.ID, access.EventsRead, line))
		expect(access.EventsRead, 0)

		storetest.Settle(t, s)
		all := string(bytes.Join(storetest.AuditLines(t, high, journal.AuditFilter{}), nil))
		for _, want := range []string{
			`"requested":"patients:read audit:read"`, `"action":"client.request"`, `"granted":"patients:read"`, `"declined":"reports:read audit:read"`, `"action":"client.decline"`,
		} {
			if !strings.Contains(all, want) {
				t.Errorf("no %s in the audit log:\n%s", want, all)
			}
		}
	})
}

// A member who was demoted or disabled since the page was opened cannot change
// anything.
func TestTheRoleOfTheMomentCounts(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		s := open()
		sys := s.System()
		first := storetest.Must[accounts.Account](t)(sys.CreateAccount(t.Context(), "default", storetest.NewMember(1, access.Administrator)))
		second := storetest.Must[accounts.Account](t)(sys.CreateAccount(t.Context(), "default", storetest.NewMember(2, access.Administrator)))
		p := second.Principal()
		org := s.For(&p)
		line := storetest.PortalLine(now.Now())
		app := storetest.Must[clients.Client](t)(org.CreateClient(t.Context(), clients.NewClient{Name: "app", Tier: access.Enterprise, Scopes: access.AllScopes, SecretHash: []byte("secret")}, line))
		if app.Scopes != access.AllScopes || app.Tier != access.Enterprise {
			t.Errorf("an administrator's application has %s, %s", app.Scopes, app.Tier)
		}
		all := func(what string) {
			t.Helper()
			for name, err := range map[string]error{
				"invite":   org.Invite(t.Context(), []byte("link "+what), access.Administrator, 1, line),
				"role":     storetest.ErrOf(org.SetRole(t.Context(), first.ID, access.Viewer, line)),
				"disable":  storetest.ErrOf(org.SetDisabled(t.Context(), first.ID, true, line)),
				"reset":    storetest.ErrOf(org.MakeReset(t.Context(), first.ID, []byte("reset "+what), 1, line)),
				"tier":     org.SetTier(t.Context(), app.ID, access.Professional, line),
				"scopes":   org.SetScopes(t.Context(), app.ID, access.AllScopes, line),
				"rotate":   org.RotateSecret(t.Context(), app.ID, []byte("new"), 0, line),
				"revoke":   org.RevokeClient(t.Context(), app.ID, line),
				"ask more": org.RequestScopes(t.Context(), app.ID, access.AllScopes, line),
			} {
				if !fault.Is(err, fault.Forbidden) {
					t.Errorf("%s: %s: %v", what, name, err)
				}
			}
		}
		if _, applications, err := sys.SetRole(t.Context(), second.Email, access.Developer); err != nil || applications != 1 {
			t.Fatalf("%d applications, %v", applications, err)
		}
		all("a developer who was an administrator")
		if c, err := org.CreateClient(t.Context(), clients.NewClient{Name: "late", Scopes: access.AllScopes, SecretHash: []byte("secret")}, line); err != nil || c.Scopes != access.Developer.Grants() {
			t.Errorf("registering: %s, %v", c.Scopes, err)
		}
		if _, _, err := sys.SetRole(t.Context(), second.Email, access.Viewer); err != nil {
			t.Fatal(err)
		}
		all("a viewer")
		if _, err := org.CreateClient(t.Context(), clients.NewClient{Name: "late", Scopes: access.AllScopes, SecretHash: []byte("secret")}, line); !fault.Is(err, fault.Forbidden) {
			t.Errorf("a viewer registers: %v", err)
		}
		if _, _, err := sys.SetRole(t.Context(), second.Email, access.Administrator); err != nil {
			t.Fatal(err)
		}
		if _, _, err := sys.SetDisabled(t.Context(), second.Email, true); err != nil {
			t.Fatal(err)
		}
		all("a disabled administrator")
	})
}

// Links that an administrator made end with the role: one of them could make
// the member an administrator again.
func TestLinksEndWithTheRole(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		s := open()
		sys := s.System()
		first := storetest.Must[accounts.Account](t)(sys.CreateAccount(t.Context(), "default", storetest.NewMember(1, access.Administrator)))
		second := storetest.Must[accounts.Account](t)(sys.CreateAccount(t.Context(), "default", storetest.NewMember(2, access.Administrator)))
		p, q := first.Principal(), second.Principal()
		line := storetest.PortalLine(now.Now())
		for i, end := range []func() error{
			func() error { _, _, err := sys.SetRole(t.Context(), second.Email, access.Developer); return err },
			func() error {
				if _, _, err := sys.SetRole(t.Context(), second.Email, access.Administrator); err != nil {
					return err
				}
				return s.For(&q).Invite(t.Context(), []byte("later"), access.Administrator, time.Hour, line)
			},
			func() error { _, _, err := sys.SetDisabled(t.Context(), second.Email, true); return err },
		} {
			if i == 0 {
				for _, err := range []error{
					s.For(&p).Invite(t.Context(), []byte("of the first"), access.Viewer, time.Hour, line),
					s.For(&q).Invite(t.Context(), []byte("of the second"), access.Administrator, time.Hour, line),
					storetest.ErrOf(s.For(&q).MakeReset(t.Context(), first.ID, []byte("reset"), time.Hour, line)),
				} {
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := end(); err != nil {
				t.Fatal(err)
			}
		}
		for link, want := range map[string]bool{"of the first": true, "of the second": false, "later": false} {
			if _, found, err := sys.Invitation(t.Context(), []byte(link)); err != nil || found != want {
				t.Errorf("the invitation %s: %v, %v", link, found, err)
			}
		}
		if _, found, err := sys.Reset(t.Context(), []byte("reset")); err != nil || found {
			t.Errorf("the link for the first: %v, %v", found, err)
		}
	})
}

// Operators and administrators together never leave an organisation without an
// administrator.
func TestTheOperatorLeavesAnAdministrator(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		nodes := []*store.Store{open(), open()}
		var admins []accounts.Account
		for i := range 3 {
			admins = append(admins, storetest.Must[accounts.Account](t)(nodes[0].System().CreateAccount(t.Context(), "default", storetest.NewMember(i, access.Administrator))))
		}
		p := admins[0].Principal()
		var wg sync.WaitGroup
		for i, a := range admins {
			wg.Go(func() { _, _, _ = nodes[i%2].System().SetDisabled(t.Context(), a.Email, true) })
			wg.Go(func() { _, _, _ = nodes[i%2].System().SetRole(t.Context(), a.Email, access.Developer) })
			wg.Go(func() {
				_, _ = nodes[i%2].For(&p).SetRole(t.Context(), a.ID, access.Viewer, storetest.PortalLine(now.Now()))
			})
		}
		wg.Wait()
		left := 0
		for _, a := range storetest.Must[[]accounts.Account](t)(nodes[0].For(&p).Accounts(t.Context())) {
			if a.Role == access.Administrator && a.DisabledAt.IsZero() {
				left++
			}
		}
		if left < 1 {
			t.Error("no administrator is left")
		}
	})
}

// An endpoint of an administrator or of the operator cannot be changed by a
// developer, nor by an application that a developer registered.
func TestWebhooksOfSomebodyAbove(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		s := open()
		sys := s.System()
		views := map[string]store.Org{}
		for i, role := range []access.Role{access.Developer, access.Administrator} {
			a := storetest.Must[accounts.Account](t)(sys.CreateAccount(t.Context(), "default", storetest.NewMember(i, role)))
			p := a.Principal()
			views[role.String()] = s.For(&p)
			c := storetest.Must[clients.Client](t)(views[role.String()].CreateClient(t.Context(), clients.NewClient{Name: "app", Scopes: access.WebhooksWrite, SecretHash: []byte("secret")}, storetest.PortalLine(now.Now())))
			of := c.Principal()
			views["app of "+role.String()] = s.For(&of)
		}
		c := storetest.Must[clients.Client](t)(sys.CreateClient(t.Context(), clients.NewClient{Org: "default", Name: "app", Scopes: access.AllScopes, SecretHash: []byte("secret")}))
		of := c.Principal()
		views["operator's"] = s.For(&of)
		low := map[string]bool{"developer": true, "app of developer": true}
		for owner, made := range views {
			w := storetest.AddWebhook(t, made, "https://clinic.example/hook")
			for actor, view := range views {
				_, err := view.RotateWebhookSecret(t.Context(), w.ID, "s", storetest.HookLine(audit.WebhookRotate, w), nil, now.Now(), func(webhooks.Webhook) idempotency.Outcome { return idempotency.Outcome{} })
				if want := low[actor] && !low[owner]; fault.Is(err, fault.Forbidden) != want || !want && err != nil {
					t.Errorf("%s rotates that of %s: %v", actor, owner, err)
				}
			}
		}
	})
}
