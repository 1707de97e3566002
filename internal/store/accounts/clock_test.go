package accounts_test

import (
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/accounts"
	"anodyne.example/anodyne/internal/store/storetest"
)

// Setting the clock back does not extend a session: one last seen in what is
// now the future is invalid, and one from before continues normally.
func TestSessionsOfAClockPutBack(t *testing.T) {
	const idle, lifetime = 30 * time.Minute, 12 * time.Hour
	storetest.EachClock(t, func(t *testing.T, now *storetest.Clock, open func() *store.Store) {
		sys := open().System()
		a := storetest.Must[accounts.Account](t)(sys.CreateAccount(t.Context(), "default", storetest.NewMember(1, access.Viewer)))
		signIn := func(cookie string) {
			t.Helper()
			if err := sys.SignIn(t.Context(), &a, storetest.TryOf("email"), []byte(cookie), lifetime, storetest.PortalLine(now.Now())); err != nil {
				t.Fatal(err)
			}
		}
		expect := func(cookie string, want bool, why string) {
			t.Helper()
			if found, _, err := sys.Session(t.Context(), []byte(cookie), idle); err != nil || found != want {
				t.Errorf("%s: found %v, %v", why, found, err)
			}
		}
		signIn("before")
		now.Pass(time.Hour)
		signIn("ahead")
		expect("before", false, "idle by a clock that is ahead")
		now.Pass(-time.Hour)
		expect("before", true, "idle no more")
		expect("ahead", false, "seen in an hour")
		now.Pass(-4 * time.Minute)
		expect("before", true, "a clock a little off")

		now.Pass(4*time.Minute + 20*time.Minute)
		expect("before", true, "in use")
		now.Pass(-15 * time.Minute)
		expect("before", false, "seen in a quarter of an hour")
		now.Pass(15*time.Minute + idle)
		expect("before", false, "idle")
	})
}
