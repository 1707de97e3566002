package webhook

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/webhooks"
)

// The environment of a process that delivers until it is killed.
const (
	childDatabase = "ANODYNE_TEST_DELIVER_DATABASE"
	childDataDir  = "ANODYNE_TEST_DELIVER_DATA_DIR"
)

// deliverUntilKilled is such a process.
func deliverUntilKilled(database string) {
	fail := func(err error) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s, err := store.Open(context.Background(), store.Config{Database: database, DataDir: os.Getenv(childDataDir), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		fail(err)
	}
	sender, err := NewSender(Config{Dev: true, Timeout: unhurried})
	if err != nil {
		fail(err)
	}
	w := NewWorker(Delivery{Store: s, Send: sender.Send, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	fail(w.Run(context.Background()))
}

// child starts such a process on the service's database.
func (s *service) child() *exec.Cmd {
	s.Helper()
	self, err := os.Executable()
	if err != nil {
		s.Fatal(err)
	}
	child := exec.Command(self)
	child.Env = append(os.Environ(), childDatabase+"="+s.cfg.Database, childDataDir+"="+storetest.Node(s, s.cfg).DataDir)
	child.Stderr = os.Stderr
	if err := child.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { // when the test has failed
		_ = child.Process.Kill()
		_ = child.Wait()
	})
	return child
}

// A killed process loses nothing: the next one sends again what was in
// progress, or sent but not stored, with the same identifiers, and nothing
// else. It detects that the other one is dead, and need not wait for its
// lease.
func TestFaultKillLosesNothing(t *testing.T) {
	const events, killAt = 600, 300
	for _, c := range []struct {
		name string
		// hold delays the responses beyond killAt, so that all results before
		// are stored before the kill.
		hold  bool
		twice int // how many may come again
	}{
		{"with attempts under way", true, inFlight},
		{"with results not written", false, events},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachService(t, func(t *testing.T, s *service) {
				reached, dead := make(chan struct{}), make(chan struct{})
				bury := sync.OnceFunc(func() { close(dead) })
				defer bury()
				var came atomic.Int64
				in := newInbox(t, func(string, int) int {
					n := came.Add(1)
					if n == killAt+1 {
						close(reached)
					}
					if n > killAt && c.hold {
						<-dead
					}
					return 200
				})
				w := storetest.AddWebhook(t, s.org, in.url)
				s.fill(events)
				child := s.child()
				<-reached
				if c.hold {
					s.eventually("what was answered is written", func() bool { return s.statuses(w)[webhooks.Delivered] >= killAt })
				}
				if err := child.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				_ = child.Wait() // it says that it was killed
				bury()
				written := storetest.Deliveries(t, s.org, w.ID)

				s.deliver() // with a stopped clock, so that no lease expires
				s.eventually("all have come and are written", func() bool {
					_, different := in.counts()
					return different == events && s.statuses(w)[webhooks.Delivered] == events
				})
				for _, d := range written {
					if n := in.times(d.Event); n != 1 {
						t.Errorf("an event that was written as %s came %d times", d.Status, n)
					}
				}
				if all, _ := in.counts(); all-events > c.twice {
					t.Errorf("%d came again, want at most %d", all-events, c.twice)
				}
			})
		})
	}
}
