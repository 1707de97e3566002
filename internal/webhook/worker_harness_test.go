package webhook

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/webhooks"
	"anodyne.example/anodyne/internal/testwait"
)

// clock is a time that tests move.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Now().Truncate(time.Second)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// service is a database with an organisation, a clock, and workers on it.
type service struct {
	testing.TB
	cfg   store.Config
	clock *clock
	store *store.Store
	who   access.Principal
	org   store.Org
}

// eachService runs a subtest with a service on each engine, beside those of
// other tests: most of them wait most of the time.
func eachService(t *testing.T, test func(t *testing.T, s *service)) {
	t.Helper()
	t.Parallel()
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) { test(t, newService(t, cfg)) })
}

func newService(tb testing.TB, cfg store.Config) *service {
	tb.Helper()
	c := newClock()
	cfg.Now = c.now
	s := &service{TB: tb, cfg: cfg, clock: c, store: storetest.Start(tb, cfg)}
	storetest.Run(tb, s.store)
	s.who = storetest.Client(tb, s.store, "General Hospital")
	s.org = s.store.For(&s.who)
	return s
}

// node opens the database once more, as another process does.
func (s *service) node() *store.Store {
	s.Helper()
	other := storetest.Start(s, storetest.Node(s, s.cfg))
	storetest.Run(s, other)
	return other
}

// worker is a running worker.
type worker struct {
	*Worker
	stop func()
}

// work starts a worker on a store, or on the service's own; stop, or the end
// of the test, ends it.
func (s *service) work(on *store.Store, send func(context.Context, Message) Attempt) *worker {
	s.Helper()
	return s.start(NewWorker(Delivery{Store: on, Send: send, Grace: time.Minute, Now: s.clock.now, Log: slog.New(slog.DiscardHandler)}))
}

// start runs a worker.
func (s *service) start(w *Worker) *worker {
	s.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := w.Run(ctx); err != nil {
			s.Errorf("the worker ended: %v", err)
		}
	}()
	stop := sync.OnceFunc(func() {
		cancel()
		<-done
	})
	s.Cleanup(stop)
	return &worker{w, stop}
}

// deliver starts a worker with a real sender.
func (s *service) deliver() *worker {
	s.Helper()
	return s.work(s.store, newSender(s, Config{}).Send)
}

// event makes an event: a patient is created.
func (s *service) event() {
	s.Helper()
	storetest.AddPatient(s, s.org, "A")
}

// fill makes events, a few at a time. All of one organisation wait for one row;
// with many of them, on a machine that is very busy, the last would wait for it
// longer than the store lets anybody.
func (s *service) fill(n int) {
	s.Helper()
	const writers = 8
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for range n/writers + min(1, max(0, n%writers-i)) {
				s.event()
			}
		})
	}
	wg.Wait()
}

// eventually waits until ask returns true, without moving a clock.
func (s *service) eventually(what string, ask func() bool) {
	s.Helper()
	testwait.Until(s, what, ask)
}

// statuses counts an endpoint's deliveries by status.
func (s *service) statuses(w webhooks.Webhook) map[webhooks.DeliveryStatus]int {
	s.Helper()
	counts := map[webhooks.DeliveryStatus]int{}
	for _, d := range storetest.Deliveries(s, s.org, w.ID) {
		counts[d.Status]++
	}
	return counts
}

// inbox is a receiver that keeps what it gets.
type inbox struct {
	url string
	mu  sync.Mutex
	got map[string]int // by webhook-id
	// answer returns the status for a message and how often it arrived,
	// starting at 1; nil means always 200.
	answer func(id string, times int) int
}

func newInbox(tb testing.TB, answer func(id string, times int) int) *inbox {
	tb.Helper()
	in := &inbox{got: map[string]int{}, answer: answer}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(headerID)
		in.mu.Lock()
		in.got[id]++
		times := in.got[id]
		in.mu.Unlock()
		if in.answer != nil {
			w.WriteHeader(in.answer(id, times))
		}
	}))
	tb.Cleanup(server.Close)
	in.url = server.URL
	return in
}

// counts returns the number of messages, and of different ones.
func (in *inbox) counts() (all, different int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, n := range in.got {
		all += n
	}
	return all, len(in.got)
}

// has reports whether just n messages have come, each once.
func (in *inbox) has(n int) func() bool {
	return func() bool {
		all, different := in.counts()
		return all == n && different == n
	}
}

func (in *inbox) times(event id.Event) int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.got[event.String()]
}
