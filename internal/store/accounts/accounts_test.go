package accounts_test

import (
	"bytes"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/accounts"
	"anodyne.example/anodyne/internal/store/clients"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/storetest"
)

func TestFirstInvitationIsUsedOnce(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		s := open()
		sys := s.System()
		links := []string{"of one node", "of another"}
		for _, link := range links {
			if invited := storetest.Must[bool](t)(sys.InviteFirst(t.Context(), "default", []byte(link), time.Hour)); !invited {
				t.Fatal("a new installation invites nobody")
			}
		}
		var wg sync.WaitGroup
		var joined atomic.Int32
		for i := range 8 {
			wg.Go(func() {
				a, err := sys.Join(t.Context(), []byte(links[i%2]), storetest.NewMember(i, access.Viewer), storetest.PortalLine(now.Now()))
				switch {
				case err == nil:
					joined.Add(1)
					if a.Role != access.Administrator || a.OrgName != "default" {
						t.Errorf("joined as %s of %s", a.Role, a.OrgName)
					}
				case !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.Unavailable):
					t.Errorf("a used link: %v", err)
				}
			})
		}
		wg.Wait()
		if n := joined.Load(); n != 1 {
			t.Errorf("%d became the first administrator", n)
		}
		for _, link := range links {
			if _, found, err := sys.Invitation(t.Context(), []byte(link)); err != nil || found {
				t.Errorf("the link %s is still good (%v)", link, err)
			}
		}
		if invited := storetest.Must[bool](t)(sys.InviteFirst(t.Context(), "default", []byte("late"), time.Hour)); invited {
			t.Error("there is an administrator, and another first one is invited")
		}
	})
}

func TestInvitationExpires(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		s := open()
		sys := s.System()
		storetest.Must[bool](t)(sys.InviteFirst(t.Context(), "default", []byte("link"), time.Hour))
		now.Pass(time.Hour)
		if _, err := sys.Join(t.Context(), []byte("link"), storetest.NewMember(1, 0), storetest.PortalLine(now.Now())); !fault.Is(err, fault.NotFound) {
			t.Errorf("an expired link: %v", err)
		}
	})
}

func TestSessionsEnd(t *testing.T) {
	const idle, lifetime = 30 * time.Minute, 12 * time.Hour
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		s := open()
		sys := s.System()
		a := storetest.Must[accounts.Account](t)(sys.CreateAccount(t.Context(), "default", storetest.NewMember(1, access.Viewer)))
		p := a.Principal()
		org := s.For(&p)
		signIn := func(cookie string) {
			t.Helper()
			if err := sys.SignIn(t.Context(), &a, storetest.TryOf("email"), []byte(cookie), lifetime, storetest.PortalLine(now.Now())); err != nil {
				t.Fatal(err)
			}
		}
		expect := func(cookie string, want bool, why string) {
			t.Helper()
			found, session, err := sys.Session(t.Context(), []byte(cookie), idle)
			if err != nil || found != want {
				t.Errorf("%s: found %v, error %v", why, found, err)
			}
			if found && (session.Account.ID != a.ID || session.Account.OrgName != "default") {
				t.Errorf("%s: session of %v", why, session.Account)
			}
		}
		signIn("one")
		for range 47 { // a page every 15 minutes
			expect("one", true, "in use")
			now.Pass(15 * time.Minute)
		}
		now.Pass(15 * time.Minute)
		expect("one", false, "twelve hours")
		signIn("two")
		now.Pass(idle)
		expect("two", false, "idle")
		signIn("three")
		signIn("four")
		if err := org.EndSession(t.Context(), a.No, []byte("three"), false, storetest.PortalLine(now.Now())); err != nil {
			t.Fatal(err)
		}
		expect("three", false, "signed out")
		expect("four", true, "another browser")
		signIn("five")
		if err := org.EndSession(t.Context(), a.No, []byte("five"), true, storetest.PortalLine(now.Now())); err != nil {
			t.Fatal(err)
		}
		expect("four", false, "signed out everywhere")
		signIn("six")
		admin := storetest.Must[accounts.Account](t)(sys.CreateAccount(t.Context(), "default", storetest.NewMember(2, access.Administrator)))
		p = admin.Principal()
		if _, err := s.For(&p).SetDisabled(t.Context(), a.ID, true, storetest.PortalLine(now.Now())); err != nil {
			t.Fatal(err)
		}
		expect("six", false, "disabled")
	})
}

func TestTheLastAdministratorStays(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		s := open()
		sys := s.System()
		first := storetest.Must[accounts.Account](t)(sys.CreateAccount(t.Context(), "default", storetest.NewMember(1, access.Administrator)))
		p := first.Principal()
		org := s.For(&p)
		if _, err := org.SetRole(t.Context(), first.ID, access.Viewer, storetest.PortalLine(now.Now())); !fault.Is(err, fault.Conflict) {
			t.Errorf("the only administrator becomes a viewer: %v", err)
		}
		if _, err := org.SetDisabled(t.Context(), first.ID, true, storetest.PortalLine(now.Now())); !fault.Is(err, fault.Conflict) {
			t.Errorf("the only administrator is disabled: %v", err)
		}
		second := storetest.Must[accounts.Account](t)(sys.CreateAccount(t.Context(), "default", storetest.NewMember(2, access.Administrator)))
		var wg sync.WaitGroup
		for _, who := range []accounts.Account{first, second} { // each takes the role from the other
			wg.Go(func() { _, _ = org.SetRole(t.Context(), who.ID, access.Developer, storetest.PortalLine(now.Now())) })
		}
		wg.Wait()
		administrators := 0
		for _, a := range storetest.Must[[]accounts.Account](t)(org.Accounts(t.Context())) {
			if a.Role == access.Administrator {
				administrators++
			}
		}
		if administrators != 1 {
			t.Errorf("%d administrators are left", administrators)
		}
	})
}

func TestMembersAreOfOneOrganisation(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		s := open()
		sys := s.System()
		ours := storetest.Must[accounts.Account](t)(sys.CreateAccount(t.Context(), "ours", storetest.NewMember(1, access.Administrator)))
		theirs := storetest.Must[accounts.Account](t)(sys.CreateAccount(t.Context(), "theirs", storetest.NewMember(2, access.Administrator)))
		if _, err := sys.CreateAccount(t.Context(), "theirs", storetest.NewMember(1, access.Viewer)); !fault.Is(err, fault.Conflict) {
			t.Errorf("an address twice: %v", err)
		}
		app := storetest.Must[clients.Client](t)(sys.CreateClient(t.Context(), clients.NewClient{Org: "theirs", Name: "app", Scopes: access.AllScopes, SecretHash: []byte("secret")}))
		p := ours.Principal()
		org := s.For(&p)
		for what, err := range map[string]error{
			"role":     storetest.ErrOf(org.SetRole(t.Context(), theirs.ID, access.Viewer, storetest.PortalLine(now.Now()))),
			"disable":  storetest.ErrOf(org.SetDisabled(t.Context(), theirs.ID, true, storetest.PortalLine(now.Now()))),
			"password": org.SetPassword(t.Context(), &theirs, "hash", storetest.TryOf("theirs"), storetest.PortalLine(now.Now())),
			"reset":    storetest.ErrOf(org.MakeReset(t.Context(), theirs.ID, []byte("link"), time.Hour, storetest.PortalLine(now.Now()))),
			"request":  org.RequestScopes(t.Context(), app.ID, access.AllScopes, storetest.PortalLine(now.Now())),
			"decide":   org.DecideScopes(t.Context(), app.ID, 0, 0, storetest.PortalLine(now.Now())),
			"scopes":   org.SetScopes(t.Context(), app.ID, access.AllScopes, storetest.PortalLine(now.Now())),
			"rotate":   org.RotateSecret(t.Context(), app.ID, []byte("new"), 0, storetest.PortalLine(now.Now())),
			"revoke":   org.RevokeClient(t.Context(), app.ID, storetest.PortalLine(now.Now())),
			"tier":     org.SetTier(t.Context(), app.ID, access.Enterprise, storetest.PortalLine(now.Now())),
		} {
			if !fault.Is(err, fault.NotFound) {
				t.Errorf("%s of another organisation: %v", what, err)
			}
		}
		if _, err := org.Client(t.Context(), app.ID); !fault.Is(err, fault.NotFound) {
			t.Errorf("a client of another organisation: %v", err)
		}
		if list := storetest.Must[[]accounts.Account](t)(org.Accounts(t.Context())); len(list) != 1 || list[0].ID != ours.ID {
			t.Errorf("members %v", list)
		}
		if list := storetest.Must[[]clients.Client](t)(org.Clients(t.Context())); len(list) != 0 {
			t.Errorf("clients %v", list)
		}
	})
}

func TestMembersLeaveAuditLines(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		s := open()
		sys := s.System()
		a := storetest.Must[accounts.Account](t)(sys.CreateAccount(t.Context(), "default", storetest.NewMember(1, access.Administrator)))
		p := a.Principal()
		org := s.For(&p)
		line := storetest.PortalLine(now.Now())
		line.Member = a.ID.String()
		for _, err := range []error{
			org.Invite(t.Context(), []byte("link"), access.Developer, time.Hour, line),
			sys.SignIn(t.Context(), &a, storetest.TryOf("email"), []byte("cookie"), time.Hour, line),
			sys.RefuseTry(t.Context(), storetest.TryOf("email"), &a, line),
			storetest.ErrOf(org.MakeReset(t.Context(), a.ID, []byte("link"), time.Hour, line)),
			org.SetPassword(t.Context(), &a, "another", storetest.TryOf("email"), line),
			org.EndSession(t.Context(), a.No, []byte("cookie"), false, line),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		made := storetest.Must[clients.Client](t)(org.CreateClient(t.Context(), clients.NewClient{Name: "app", Description: "reads", Scopes: access.PatientsRead, SecretHash: []byte("secret")}, line))
		if kept := storetest.Must[clients.Client](t)(org.Client(t.Context(), made.ID)); kept.Description != "reads" || kept.OrgName != "default" {
			t.Errorf("client %+v", kept)
		}
		storetest.Settle(t, s)
		all := string(bytes.Join(storetest.AuditLines(t, org, journal.AuditFilter{}), nil))
		for _, action := range []string{"member.create", "member.invite", "member.reset", "member.password", "session.create", "session.refuse", "session.end", "client.create"} {
			if !strings.Contains(all, `"action":"`+action+`"`) {
				t.Errorf("%s left no line", action)
			}
		}
		if !strings.Contains(all, `"member_id":"`+a.ID.String()+`"`) {
			t.Error("no line says which member it was")
		}
	})
}

func TestUsageAddsUp(t *testing.T) {
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		s := open()
		sys := s.System()
		c := storetest.Must[clients.Client](t)(sys.CreateClient(t.Context(), clients.NewClient{Org: "default", Name: "app", Scopes: access.AllScopes, SecretHash: []byte("secret")}))
		hour := now.Now().Truncate(time.Hour)
		for range 2 {
			if err := sys.AddUsage(t.Context(), []clients.Usage{
				{Org: c.Org, Client: c.No, Hour: hour, Outcome: clients.UsageAnswered, Requests: 5},
				{Org: c.Org, Client: c.No, Hour: hour, Outcome: clients.UsageLimited, Requests: 1},
			}); err != nil {
				t.Fatal(err)
			}
		}
		p := c.Principal()
		got := storetest.Must[[]clients.Usage](t)(s.For(&p).Usage(t.Context(), c.No, hour))
		if len(got) != 2 || got[0].Requests != 10 || got[1].Requests != 2 || got[1].Outcome != clients.UsageLimited || !got[0].Hour.Equal(hour) {
			t.Errorf("usage %+v", got)
		}
		now.Pass(clients.UsageKept + 2*time.Hour)
		if err := sys.Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := storetest.Must[[]clients.Usage](t)(s.For(&p).Usage(t.Context(), c.No, hour)); len(got) != 0 {
			t.Errorf("%d rows are left after the purge", len(got))
		}
	})
}
