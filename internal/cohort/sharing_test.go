package cohort

import (
	"context"
	"sync"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/fault"
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
