package cohort

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/peer"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testwait"
)

func machines(memory ...int64) (list []node) {
	for i, bytes := range memory {
		list = append(list, node{announcement: announcement{Address: fmt.Sprint("10.0.0.", i+1, ":9465"), Memory: bytes}, no: int64(i) + 1})
	}
	return list
}

// held counts the slices of each node.
func held(owner []int, nodes int) []int {
	counts := make([]int, nodes)
	for _, i := range owner {
		counts[i]++
	}
	return counts
}

func TestOwners(t *testing.T) {
	for _, test := range []struct {
		memory []int64
		slices int
		most   []int
	}{
		{[]int64{1 << 28}, 5, []int{5}},
		{[]int64{1 << 28, 1 << 28, 1 << 28}, 0, []int{0, 0, 0}},
		{[]int64{1 << 28, 1 << 28, 1 << 28}, 62, []int{21, 21, 21}},
		{[]int64{1 << 28, 1 << 28, 1 << 29}, 100, []int{25, 25, 50}},
		{[]int64{1 << 40, 1 << 40}, 100_000, []int{50_000, 50_000}},
	} {
		got := held(owners(machines(test.memory...), 1, test.slices), len(test.memory))
		for i := range got {
			if got[i] > test.most[i] {
				t.Errorf("%v: %d slices are divided as %v, want at most %v", test.memory, test.slices, got, test.most)
				break
			}
		}
	}
}

// When a node comes or goes, most of the other slices stay where they are, and a
// node that restarts under the same address gets the same ones.
func TestOwnersMoveLittle(t *testing.T) {
	const count = 600
	nodes := machines(1<<28, 1<<28, 1<<28, 1<<28)
	before := owners(nodes, 3, count)
	after := owners(nodes[:3], 3, count)
	stayed, could := 0, 0
	for slice, i := range before {
		if i < 3 {
			could++
			if after[slice] == i {
				stayed++
			}
		}
	}
	if stayed < could*3/4 {
		t.Errorf("%d of %d slices stayed", stayed, could)
	}
	nodes[2].no = 77
	if !slices.Equal(owners(nodes, 3, count), before) {
		t.Error("slices moved when a node restarted")
	}
	if slices.Equal(owners(nodes, 4, count), before) {
		t.Error("all organisations are divided in the same way")
	}
}

// alliance is nodes on a PostgreSQL database that share read models.
type alliance struct {
	stores  []*store.Store
	cohorts []*Cohorts
	servers []*peer.Server
	stop    []func() // ends the process of a node, as seen by the others
}

// newAlliance starts nodes that divide every organisation into slices of few
// patients. build returns the program of a node.
func newAlliance(t *testing.T, count int, build func(i int) string) *alliance {
	t.Helper()
	cfg := storetest.Database(t, storetest.Postgres)
	a := &alliance{}
	for i := range count {
		s := storetest.Start(t, storetest.Node(t, cfg))
		who, err := peer.NewIdentity(s.System().NodeKey())
		if err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		cs, client := New(plenty, nil), peer.NewClient(who)
		t.Cleanup(client.Close)
		client.Patience(testwait.Bound)
		cs.sliceSize, cs.worthKeeping = 4, i%2
		if err := cs.Share(Sharing{Store: s, Client: client, Address: l.Addr().String(), Build: build(i)}); err != nil {
			t.Fatal(err)
		}
		self := func() int64 {
			no, _ := s.System().Members()
			return no
		}
		server := peer.Serve(l, who, peer.Service{Self: self, Answer: cs.Answer, Log: slog.New(slog.DiscardHandler), Patience: testwait.Bound})
		ctx, cancel := context.WithCancel(context.Background())
		var running sync.WaitGroup
		for _, work := range []func(context.Context) error{s.System().Listen, s.System().Elect, s.System().Sequence} {
			running.Go(func() {
				if err := work(ctx); err != nil {
					t.Errorf("a worker ended: %v", err)
				}
			})
		}
		stop := sync.OnceFunc(func() {
			if err := server.Close(); err != nil {
				t.Error(err)
			}
			cancel()
			running.Wait()
		})
		t.Cleanup(stop)
		a.stores, a.cohorts, a.servers, a.stop = append(a.stores, s), append(a.cohorts, cs), append(a.servers, server), append(a.stop, stop)
	}
	for _, s := range a.stores {
		testwait.Until(t, "all nodes are known", func() bool {
			_, all := s.System().Members()
			return len(all) == count
		})
	}
	return a
}

func sameBuild(int) string { return "the same" }

// join returns an organisation on all nodes, which does not fit into memory.
func (a *alliance) join(t *testing.T, name string) (nodes []hospital) {
	t.Helper()
	for i, s := range a.stores {
		h := newHospital(t, s, name, a.cohorts[i])
		a.cohorts[i].tooLarge[place{h.no, charts.name}] = true
		nodes = append(nodes, h)
	}
	return nodes
}

// results returns how often questions to other nodes had a result.
func (a *alliance) results(t *testing.T, result string) (total float64) {
	for _, cs := range a.cohorts {
		total += metricValue(t, cs.metrics.asked.WithLabelValues(result))
	}
	return total
}

func (a *alliance) streamed(t *testing.T) (total float64) {
	for _, cs := range a.cohorts {
		total += cs.metrics.streamedTotal(t)
	}
	return total
}

// Whatever was written, on any node, the next response of every node matches the
// records, while the patients are divided among them.
func TestSlicesAreThoseOfTheRecords(t *testing.T) {
	const histories = 10
	a := newAlliance(t, 3, sameBuild)
	asked := 0
	for seed := range histories {
		w := &ward{records: map[id.Patient][]id.Record{}, nodes: a.join(t, fmt.Sprint("history ", seed))}
		for i, act := range acts.Example(seed) {
			if act.what != "ask" {
				w.do(t, act)
				continue
			}
			p := checked(t, act.request)
			want, _ := w.nodes[0].naive(t, p)
			asked++
			for n, node := range w.nodes {
				if got := node.both(t, p); got != want {
					t.Fatalf("history %d, act %d: node %d measured\n%s\nwant\n%s", seed, i, n, got, want)
				}
			}
		}
	}
	if answered := a.results(t, resultAnswered); asked < histories || answered < histories {
		t.Errorf("%d questions; %v were answered by other nodes", asked, answered)
	}
	for i, cs := range a.cohorts {
		if metricValue(t, cs.metrics.slices) == 0 {
			t.Errorf("node %d holds nothing", i)
		}
	}
}

// enroll adds patients with scores.
func (h hospital) enroll(t *testing.T, count int) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	for range count {
		p := storetest.AddPatient(t, h.Org, "Arlo Finch")
		h.addScore(t, p.ID, random.IntN(11))
	}
}

// While many write, each finds its own write in the next answer of each node.
func TestAcknowledgedIsInEverySlice(t *testing.T) {
	const writers, each = 4, 6
	a := newAlliance(t, 3, sameBuild)
	nodes := a.join(t, "general")
	var running sync.WaitGroup
	for range writers {
		running.Go(func() {
			for i := range each {
				before := nodes[(i+1)%3].scored(t)
				p := storetest.AddPatient(t, nodes[i%3].Org, "Arlo Finch")
				nodes[i%3].addScore(t, p.ID, i)
				for n, node := range nodes {
					if got := node.scored(t); got <= before {
						t.Errorf("node %d: %d have a score, %d had before one more", n, got, before)
					}
				}
			}
		})
	}
	running.Wait()
	for n, node := range nodes {
		if got := node.scored(t); got != writers*each {
			t.Errorf("node %d: %d have a score, want %d", n, got, writers*each)
		}
	}
}

// A node that ends in the middle of a question, and then stays away, only makes
// answers slower.
func TestOwnerEndsDuringAQuestion(t *testing.T) {
	a := newAlliance(t, 3, sameBuild)
	nodes := a.join(t, "general")
	const patients = 60
	nodes[0].enroll(t, patients)
	p := checked(t, analytics.Request{})
	want, _ := nodes[0].naive(t, p)
	// The node gets the question, and cannot count before it ends.
	for range cap(a.cohorts[2].scans.running) {
		a.cohorts[2].scans.running <- struct{}{}
	}
	answer := make(chan string)
	go func() { answer <- nodes[0].both(t, p) }()
	testwait.Until(t, "it is asked", func() bool { return a.servers[2].Asked() > 0 })
	a.stop[2]()
	if got := <-answer; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if a.results(t, resultFailed) == 0 || a.streamed(t) == 0 {
		t.Errorf("%v questions failed, %v were read from the database", a.results(t, resultFailed), a.streamed(t))
	}
	testwait.Until(t, "the others notice", func() bool { return len(a.cohorts[0].sharing.nodes()) == 2 && len(a.cohorts[1].sharing.nodes()) == 2 })
	taken := 0.0
	for n, node := range nodes[:2] {
		if got := node.both(t, p); got != want {
			t.Errorf("node %d: %s, want %s", n, got, want)
		}
		taken += metricValue(t, a.cohorts[n].metrics.slices)
	}
	if taken != patients/4 {
		t.Errorf("the others hold %v slices, want %d", taken, patients/4)
	}
}

// A node with another program is not asked.
func TestOtherProgramIsNotAsked(t *testing.T) {
	a := newAlliance(t, 2, func(i int) string { return fmt.Sprint("program ", i) })
	nodes := a.join(t, "general")
	nodes[0].enroll(t, 20)
	p := checked(t, analytics.Request{})
	want, _ := nodes[0].naive(t, p)
	for n, node := range nodes {
		if got := node.both(t, p); got != want {
			t.Errorf("node %d: %s, want %s", n, got, want)
		}
	}
	if a.results(t, resultAnswered)+a.results(t, resultFailed) != 0 {
		t.Error("nodes with different programs asked each other")
	}
}

// Nodes hold what there is room for, and the rest is read from the database.
func TestSlicesWithinMemory(t *testing.T) {
	a := newAlliance(t, 2, sameBuild)
	nodes := a.join(t, "general")
	nodes[0].enroll(t, 100)
	p := checked(t, analytics.Request{})
	want, _ := nodes[0].naive(t, p)
	if got := nodes[0].both(t, p); got != want {
		t.Fatalf("%s, want %s", got, want)
	}
	// From now on one node has room for about half of what it held.
	less := a.cohorts[1]
	nodes[1].both(t, p)
	at := place{nodes[1].no, sliced}
	less.mu.Lock()
	less.limit = less.bytes / 2
	less.mu.Unlock()
	other := newHospital(t, a.stores[1], "other", less)
	other.scored(t) // evicts it
	less.mu.Lock()
	if less.places[at] != nil {
		t.Error("it was not evicted")
	}
	less.mu.Unlock()
	for n, node := range nodes {
		if got := node.both(t, p); got != want {
			t.Errorf("node %d: %s, want %s", n, got, want)
		}
	}
	less.mu.Lock()
	defer less.mu.Unlock()
	if held := metricValue(t, less.metrics.slices); held == 0 || less.bytes > less.limit+2*modelBytes || a.results(t, resultPartial)+a.results(t, resultFailed) == 0 || a.streamed(t) == 0 {
		t.Errorf("%v slices with %d of %d bytes; %v answers were partial, %v were read from the database", held, less.bytes, less.limit, a.results(t, resultPartial), a.streamed(t))
	}
}

// A question about an organisation is answered from its patients only.
func TestAnswerIsOfOneOrganisation(t *testing.T) {
	a := newAlliance(t, 2, sameBuild)
	north, south := a.join(t, "north"), a.join(t, "south")
	north[0].enroll(t, 12)
	south[0].enroll(t, 5)
	if got := []int{north[0].scored(t), north[1].scored(t), south[0].scored(t), south[1].scored(t)}; !slices.Equal(got, []int{12, 12, 5, 5}) {
		t.Errorf("%v patients", got)
	}
	_, err := a.cohorts[0].Answer(t.Context(), []byte(`{"org":1}`))
	if err == nil {
		t.Error("a question without parameters was answered")
	}
}

// crowd fills the places for questions of other nodes at a node, which does not
// answer until the returned function is called.
func (a *alliance) crowd(t *testing.T, at int, org access.OrgNo) (leave func()) {
	t.Helper()
	cs, server := a.cohorts[at], a.servers[at]
	for range cap(cs.scans.running) {
		cs.scans.running <- struct{}{}
	}
	params, err := checked(t, analytics.Request{}).Pack()
	if err != nil {
		t.Fatal(err)
	}
	question, err := json.Marshal(sliceQuestion{org, measureOutcomes, params, []int{0}, 1, 0})
	if err != nil {
		t.Fatal(err)
	}
	no, _ := a.stores[at].System().Members()
	ctx, cancel := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	var refused atomic.Int64
	for asked := 0; refused.Load() == 0; {
		const atOnce = 64
		for range atOnce {
			asking.Go(func() {
				w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodPost, "/ask", bytes.NewReader(question))
				r.Header.Set("Anodyne-Node", fmt.Sprint(no))
				if server.ServeHTTP(w, r); w.Code == http.StatusServiceUnavailable {
					refused.Add(1)
				}
			})
		}
		asked += atOnce
		testwait.Until(t, "questions wait", func() bool { return server.Asked()+int(refused.Load()) == asked })
	}
	return sync.OnceFunc(func() {
		cancel()
		asking.Wait()
		for range cap(cs.scans.running) {
			<-cs.scans.running
		}
	})
}

// If another node has too many questions to answer, a query with a deadline is
// refused, and one without, such as a report, reads that part from the database.
func TestBusyOwner(t *testing.T) {
	a := newAlliance(t, 2, sameBuild)
	nodes := a.join(t, "general")
	nodes[0].enroll(t, 30)
	p := checked(t, analytics.Request{})
	want, _ := nodes[0].naive(t, p)
	leave := a.crowd(t, 1, nodes[1].no)
	t.Cleanup(leave)
	testwait.Until(t, "the other node is busy", func() bool {
		if got := nodes[0].both(t, p); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
		return a.results(t, resultBusy) > 0
	})
	hurried, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	testwait.Until(t, "a query with a deadline is refused", func() bool {
		_, err := nodes[0].cohorts.Outcomes(hurried, nodes[0].Org, p, today)
		return fault.Is(err, fault.Unavailable)
	})
	leave()
	if got := nodes[0].both(t, p); got != want {
		t.Errorf("afterwards %s, want %s", got, want)
	}
}

// An organisation of which other nodes have a part is not read to the end to find
// out that it does not fit. If such a load is interrupted, the next one estimates
// the size from all that was read.
func TestLoadEndsEarly(t *testing.T) {
	const patients = 200
	h := newHospital(t, storetest.Open(t, storetest.SQLite), "general", nil)
	for range patients {
		storetest.AddPatient(t, h.Org, "Anna")
	}
	var read atomic.Int64
	k := *charts
	k.size = 1
	k.read = func(ctx context.Context, org store.Org, first, last int64) (*panel, error) {
		c, err := readPanel(ctx, org, first, last)
		if err == nil {
			read.Add(1)
		}
		return c, err
	}
	whole := newModel(&k, plenty, func() {})
	if _, err := whole.fresh(t.Context(), h.Org); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		sampled bool
		limit   int64
		most    int64
	}{{true, whole.bytes() * 6 / 10, 80}, {false, whole.bytes() * 6 / 10, 150}, {true, whole.bytes() * 9 / 10, patients}} {
		read.Store(0)
		m := newModel(&k, test.limit, func() {})
		m.sampled = test.sampled
		if _, err := m.fresh(t.Context(), h.Org); !errors.Is(err, errNoRoom) || !m.tooLarge || read.Load() > test.most {
			t.Errorf("%+v: read %d; %v", test, read.Load(), err)
		}
	}
	ctx, interrupt := context.WithCancel(t.Context())
	readOne := k.read
	k.read = func(ctx context.Context, org store.Org, first, last int64) (*panel, error) {
		if read.Load() >= patients/2 {
			interrupt()
		}
		return readOne(ctx, org, first, last)
	}
	read.Store(0)
	m := newModel(&k, whole.bytes()*3/2, func() {})
	m.sampled = true
	if _, err := m.fresh(ctx, h.Org); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	if _, err := m.fresh(t.Context(), h.Org); err != nil || m.tooLarge || read.Load() > patients+patients/4 {
		t.Errorf("after an interrupted load, read %d; too large: %v; %v", read.Load(), m.tooLarge, err)
	}
}
