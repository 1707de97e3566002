package cohort

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/peer"
	"anodyne.example/anodyne/internal/testwait"
)

// A query does not ask other nodes while as many as are allowed hold answers of
// them. Two nodes that are at this limit still answer each other.
func TestGatheringIsLimited(t *testing.T) {
	a := newAlliance(t, 2, sameBuild)
	nodes := a.join(t, "general")
	const patients = 20
	nodes[0].enroll(t, patients)
	asks, owner := a.cohorts[0], a.cohorts[1]
	for _, cs := range a.cohorts {
		cs.scans.gathering, cs.scans.running = make(chan struct{}, 1), make(chan struct{}, 1)
	}
	owner.scans.running <- struct{}{} // it cannot answer
	first := make(chan int)
	go func() { first <- nodes[0].scored(t) }()
	testwait.Until(t, "it is asked", func() bool { return a.servers[1].Asked() == 1 })
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := asks.Population(short, nodes[0].Org, checked(t, analytics.Request{}), today)
	if waited := metricValue(t, asks.metrics.refused.WithLabelValues(waitedTooLong)); !fault.Is(err, fault.Unavailable) || waited != 1 || a.servers[1].Asked() != 1 {
		t.Errorf("error %v; %v queries were refused because they waited, and %d reached the other node", err, waited, a.servers[1].Asked())
	}
	<-owner.scans.running
	if got := <-first; got != patients {
		t.Errorf("%d have a score, want %d", got, patients)
	}
	var running sync.WaitGroup
	for i := range 8 {
		running.Go(func() {
			if got := nodes[i%2].scored(t); got != patients {
				t.Errorf("%d have a score, want %d", got, patients)
			}
		})
	}
	running.Wait()
}

// A node that hangs is asked by one query at a time, and less and less often.
func TestHangingNode(t *testing.T) {
	who, err := peer.NewIdentity([]byte("ours"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const no = 7
	client := peer.NewClient(who)
	defer client.Close()
	client.Patience(testwait.Bound)
	s := &sharing{Sharing: Sharing{Client: client}, away: map[int64]absence{}}
	ask := func() error {
		_, err := s.ask(t.Context(), &node{announcement: announcement{Address: l.Addr().String()}, no: no}, nil)
		return err
	}
	// rests sets until when the node is not asked, if it is away.
	rests := func(until time.Time) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if a, away := s.away[no]; away {
			a.until = until
			s.away[no] = a
		}
	}
	// probe asks once the node may be asked again, in the background, and returns
	// the connection to it.
	probe := func() (conn net.Conn, result chan error) {
		rests(time.Time{})
		result = make(chan error, 1)
		go func() { result <- ask() }()
		if conn, err = l.Accept(); err != nil {
			t.Fatal(err)
		}
		return conn, result
	}
	for i, rest := range []time.Duration{firstRest, 2 * firstRest, 4 * firstRest, 8 * firstRest, longestRest, longestRest} {
		before := time.Now()
		conn, result := probe()
		if i > 0 {
			if s.mayAsk(no, before.Add(probeTime-1)) {
				t.Errorf("%d: another query would wait for the node", i)
			}
		}
		conn.Close()
		if err := <-result; err == nil || errors.Is(err, errAway) {
			t.Errorf("%d: error %v", i, err)
		}
		s.failed(no, before, false) // a query that had waited as long
		if got := s.away[no].rest; got != rest {
			t.Errorf("%d: it is not asked for %v, want %v", i, got, rest)
		}
		rests(time.Now().Add(time.Hour)) // however long this machine takes
		if err := ask(); !errors.Is(err, errAway) {
			t.Errorf("%d: it was asked: %v", i, err)
		}
	}
	var well atomic.Bool
	answer := func(context.Context, []byte) ([]byte, error) {
		if !well.Load() {
			return nil, errors.New("a fault")
		}
		return nil, nil
	}
	server := peer.Serve(l, who, peer.Service{Self: func() int64 { return no }, Answer: answer, Log: slog.New(slog.DiscardHandler), Patience: testwait.Bound})
	defer server.Close()
	testwait.Until(t, "it says that it cannot answer", func() bool { // it connects within a fixed time
		rests(time.Time{})
		return errors.Is(ask(), peer.ErrFailed)
	})
	if got := s.away[no].rest; got != firstRest {
		t.Errorf("a node that responds is not asked for %v, want %v", got, firstRest)
	}
	well.Store(true)
	testwait.Until(t, "it answers", func() bool {
		rests(time.Time{})
		return ask() == nil
	})
	if len(s.away) != 0 {
		t.Error("a node that answers is away")
	}
}
