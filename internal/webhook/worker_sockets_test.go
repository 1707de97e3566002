package webhook

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/webhooks"
)

// The same as with five thousand dead endpoints, on real connections: more
// endpoints than one look finds refuse to be connected to or never answer, and
// one that failed once is retried on time.
func TestDeadEndpointsOnSockets(t *testing.T) {
	const each = 3 * webhooks.MaxWebhooks // of those that hang, and of those that refuse
	// By then the first retry is due, however long the attempt took, and the
	// second is not.
	const retried = time.Minute
	eachService(t, func(t *testing.T, s *service) {
		var hangs atomic.Bool
		var hung atomic.Int64
		over := make(chan struct{})
		silent := newInbox(t, func(string, int) int {
			if hangs.Load() {
				hung.Add(1)
				<-over
			}
			return 503
		})
		defer close(over)
		orgs := s.hospitals("Dead ", 2*each/webhooks.MaxWebhooks, func(org int) (urls []string) {
			for i := range webhooks.MaxWebhooks {
				url := silent.url
				if i%2 == 0 {
					url = "http://" + closedPort(t)
				}
				urls = append(urls, fmt.Sprintf("%s/%d/%d", url, org, i))
			}
			return urls
		})
		in := newInbox(t, func(_ string, times int) int {
			if times == 1 {
				return 503
			}
			return 200
		})
		w := storetest.AddWebhook(t, s.org, in.url)
		worker := s.deliver()
		for _, org := range orgs {
			storetest.AddPatient(t, org, "A")
		}
		s.eventually("each is tried, and has failed", s.pending(2*each))
		hangs.Store(true)
		s.clock.pass(retried)
		worker.poke()
		s.eventually("each that hangs is tried again", func() bool { return hung.Load() == each })
		s.event()
		s.eventually("the healthy one fails once", func() bool { return s.statuses(w)[webhooks.Pending] == 1 })
		s.clock.pass(retried)
		worker.poke()
		s.eventually("and is delivered", func() bool { return s.statuses(w)[webhooks.Delivered] == 1 })
	})
}

// closedPort returns an address that refuses connections until the test ends.
// The port stays taken: on a free one, a server of another test could listen and
// accept what is sent.
func closedPort(tb testing.TB) string {
	tb.Helper()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { syscall.Close(socket) })
	if err := syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		tb.Fatal(err)
	}
	name, err := syscall.Getsockname(socket)
	if err != nil {
		tb.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
}
