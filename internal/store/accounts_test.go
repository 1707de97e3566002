package store_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/store"
)

func member(n int, role access.Role) store.NewAccount {
	return store.NewAccount{Email: fmt.Sprintf("member%d@example.org", n), Name: fmt.Sprintf("Member %d", n), Role: role, PasswordHash: "hash"}
}

// at begins the audit line of somebody in the portal.
func at(now time.Time) audit.Entry { return audit.Entry{At: now, Source: "192.0.2.1"} }

// tryOf is an attempt from one network.
func tryOf(email string) store.SignInTry {
	return store.SignInTry{EmailHash: []byte(email), Network: "192.0.2.1/32"}
}

// errOf is the error of a call with a result.
func errOf[T any](_ T, err error) error { return err }

func TestFirstInvitationIsUsedOnce(t *testing.T) {
	eachClock(t, func(t *testing.T, now *clock, open func() *store.Store) {
		s := open()
		sys := s.System()
		links := []string{"of one node", "of another"}
		for _, link := range links {
			if invited := must[bool](t)(sys.InviteFirst(t.Context(), "default", []byte(link), time.Hour)); !invited {
				t.Fatal("a new installation invites nobody")
			}
		}
		var wg sync.WaitGroup
		var joined atomic.Int32
		for i := range 8 {
			wg.Go(func() {
				a, err := sys.Join(t.Context(), []byte(links[i%2]), member(i, access.Viewer), at(now.now()))
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
		if invited := must[bool](t)(sys.InviteFirst(t.Context(), "default", []byte("late"), time.Hour)); invited {
			t.Error("there is an administrator, and another first one is invited")
		}
	})
}

func TestInvitationExpires(t *testing.T) {
	eachClock(t, func(t *testing.T, now *clock, open func() *store.Store) {
		s := open()
		sys := s.System()
		must[bool](t)(sys.InviteFirst(t.Context(), "default", []byte("link"), time.Hour))
		now.pass(time.Hour)
		if _, err := sys.Join(t.Context(), []byte("link"), member(1, 0), at(now.now())); !fault.Is(err, fault.NotFound) {
			t.Errorf("an expired link: %v", err)
		}
	})
}

func TestSessionsEnd(t *testing.T) {
	const idle, lifetime = 30 * time.Minute, 12 * time.Hour
	eachClock(t, func(t *testing.T, now *clock, open func() *store.Store) {
		s := open()
		sys := s.System()
		a := must[store.Account](t)(sys.CreateAccount(t.Context(), "default", member(1, access.Viewer)))
		p := a.Principal()
		org := s.For(&p)
		signIn := func(cookie string) {
			t.Helper()
			if err := sys.SignIn(t.Context(), &a, tryOf("email"), []byte(cookie), lifetime, at(now.now())); err != nil {
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
		for range 47 { // a page every quarter of an hour
			expect("one", true, "in use")
			now.pass(15 * time.Minute)
		}
		now.pass(15 * time.Minute)
		expect("one", false, "twelve hours")
		signIn("two")
		now.pass(idle)
		expect("two", false, "idle")
		signIn("three")
		signIn("four")
		if err := org.EndSession(t.Context(), a.No, []byte("three"), false, at(now.now())); err != nil {
			t.Fatal(err)
		}
		expect("three", false, "signed out")
		expect("four", true, "another browser")
		signIn("five")
		if err := org.EndSession(t.Context(), a.No, []byte("five"), true, at(now.now())); err != nil {
			t.Fatal(err)
		}
		expect("four", false, "signed out everywhere")
		signIn("six")
		admin := must[store.Account](t)(sys.CreateAccount(t.Context(), "default", member(2, access.Administrator)))
		p = admin.Principal()
		if _, err := s.For(&p).SetDisabled(t.Context(), a.ID, true, at(now.now())); err != nil {
			t.Fatal(err)
		}
		expect("six", false, "disabled")
	})
}

func TestTheLastAdministratorStays(t *testing.T) {
	eachClock(t, func(t *testing.T, now *clock, open func() *store.Store) {
		s := open()
		sys := s.System()
		first := must[store.Account](t)(sys.CreateAccount(t.Context(), "default", member(1, access.Administrator)))
		p := first.Principal()
		org := s.For(&p)
		if _, err := org.SetRole(t.Context(), first.ID, access.Viewer, at(now.now())); !fault.Is(err, fault.Conflict) {
			t.Errorf("the only administrator becomes a viewer: %v", err)
		}
		if _, err := org.SetDisabled(t.Context(), first.ID, true, at(now.now())); !fault.Is(err, fault.Conflict) {
			t.Errorf("the only administrator is disabled: %v", err)
		}
		second := must[store.Account](t)(sys.CreateAccount(t.Context(), "default", member(2, access.Administrator)))
		var wg sync.WaitGroup
		for _, who := range []store.Account{first, second} { // each takes the role from the other
			wg.Go(func() { _, _ = org.SetRole(t.Context(), who.ID, access.Developer, at(now.now())) })
		}
		wg.Wait()
		administrators := 0
		for _, a := range must[[]store.Account](t)(org.Accounts(t.Context())) {
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
	eachClock(t, func(t *testing.T, now *clock, open func() *store.Store) {
		s := open()
		sys := s.System()
		ours := must[store.Account](t)(sys.CreateAccount(t.Context(), "ours", member(1, access.Administrator)))
		theirs := must[store.Account](t)(sys.CreateAccount(t.Context(), "theirs", member(2, access.Administrator)))
		if _, err := sys.CreateAccount(t.Context(), "theirs", member(1, access.Viewer)); !fault.Is(err, fault.Conflict) {
			t.Errorf("an address twice: %v", err)
		}
		app := must[store.Client](t)(sys.CreateClient(t.Context(), store.NewClient{Org: "theirs", Name: "app", Scopes: access.AllScopes, SecretHash: []byte("secret")}))
		p := ours.Principal()
		org := s.For(&p)
		for what, err := range map[string]error{
			"role":     errOf(org.SetRole(t.Context(), theirs.ID, access.Viewer, at(now.now()))),
			"disable":  errOf(org.SetDisabled(t.Context(), theirs.ID, true, at(now.now()))),
			"password": org.SetPassword(t.Context(), &theirs, "hash", tryOf("theirs"), at(now.now())),
			"reset":    errOf(org.MakeReset(t.Context(), theirs.ID, []byte("link"), time.Hour, at(now.now()))),
			"request":  org.RequestScopes(t.Context(), app.ID, access.AllScopes, at(now.now())),
			"decide":   org.DecideScopes(t.Context(), app.ID, 0, 0, at(now.now())),
			"scopes":   org.SetScopes(t.Context(), app.ID, access.AllScopes, at(now.now())),
			"rotate":   org.RotateSecret(t.Context(), app.ID, []byte("new"), 0, at(now.now())),
			"revoke":   org.RevokeClient(t.Context(), app.ID, at(now.now())),
			"tier":     org.SetTier(t.Context(), app.ID, access.Enterprise, at(now.now())),
		} {
			if !fault.Is(err, fault.NotFound) {
				t.Errorf("%s of another organisation: %v", what, err)
			}
		}
		if _, err := org.Client(t.Context(), app.ID); !fault.Is(err, fault.NotFound) {
			t.Errorf("a client of another organisation: %v", err)
		}
		if list := must[[]store.Account](t)(org.Accounts(t.Context())); len(list) != 1 || list[0].ID != ours.ID {
			t.Errorf("members %v", list)
		}
		if list := must[[]store.Client](t)(org.Clients(t.Context())); len(list) != 0 {
			t.Errorf("clients %v", list)
		}
	})
}

func TestMembersLeaveAuditLines(t *testing.T) {
	eachClock(t, func(t *testing.T, now *clock, open func() *store.Store) {
		s := open()
		sys := s.System()
		a := must[store.Account](t)(sys.CreateAccount(t.Context(), "default", member(1, access.Administrator)))
		p := a.Principal()
		org := s.For(&p)
		line := at(now.now())
		line.Member = a.ID.String()
		for _, err := range []error{
			org.Invite(t.Context(), []byte("link"), access.Developer, time.Hour, line),
			sys.SignIn(t.Context(), &a, tryOf("email"), []byte("cookie"), time.Hour, line),
			sys.RefuseTry(t.Context(), tryOf("email"), &a, line),
			errOf(org.MakeReset(t.Context(), a.ID, []byte("link"), time.Hour, line)),
			org.SetPassword(t.Context(), &a, "another", tryOf("email"), line),
			org.EndSession(t.Context(), a.No, []byte("cookie"), false, line),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		made := must[store.Client](t)(org.CreateClient(t.Context(), store.NewClient{Name: "app", Description: "reads", Scopes: access.PatientsRead, SecretHash: []byte("secret")}, line))
		if kept := must[store.Client](t)(org.Client(t.Context(), made.ID)); kept.Description != "reads" || kept.OrgName != "default" {
			t.Errorf("client %+v", kept)
		}
		store.Settle(t, s)
		all := string(bytes.Join(auditLines(t, org, store.AuditFilter{}), nil))
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
	eachClock(t, func(t *testing.T, now *clock, open func() *store.Store) {
		s := open()
		sys := s.System()
		c := must[store.Client](t)(sys.CreateClient(t.Context(), store.NewClient{Org: "default", Name: "app", Scopes: access.AllScopes, SecretHash: []byte("secret")}))
		hour := now.now().Truncate(time.Hour)
		for range 2 {
			if err := sys.AddUsage(t.Context(), []store.Usage{
				{Org: c.Org, Client: c.No, Hour: hour, Outcome: store.UsageAnswered, Requests: 5},
				{Org: c.Org, Client: c.No, Hour: hour, Outcome: store.UsageLimited, Requests: 1},
			}); err != nil {
				t.Fatal(err)
			}
		}
		p := c.Principal()
		got := must[[]store.Usage](t)(s.For(&p).Usage(t.Context(), c.No, hour))
		if len(got) != 2 || got[0].Requests != 10 || got[1].Requests != 2 || got[1].Outcome != store.UsageLimited || !got[0].Hour.Equal(hour) {
			t.Errorf("usage %+v", got)
		}
		now.pass(store.UsageKept + 2*time.Hour)
		if err := sys.Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := must[[]store.Usage](t)(s.For(&p).Usage(t.Context(), c.No, hour)); len(got) != 0 {
			t.Errorf("%d rows are left after the purge", len(got))
		}
	})
}
