//go:build !race

package api

import (
	"fmt"
	"testing"
)

// What a read allocates is known: garbage is a good part of what a request
// costs, and grows without anybody noticing. The race detector makes pools
// forget, so it is not counted there. It is not parallel: all that the process
// allocates is counted.
func TestAllocationsOfARead(t *testing.T) {
	a := newAsker(t)
	var patient string
	for i := range 100 {
		patient = a.create(fmt.Sprintf("Patient %d", i))
	}
	for _, c := range []struct {
		path string
		most float64
	}{
		{"/v1/patients/" + patient, 18},
		{"/v1/patients", 20},
		{"/v1/patients?limit=100", 28},
	} {
		a.to(c.path)
		if got := testing.AllocsPerRun(500, a.ask); got > c.most {
			t.Errorf("GET %s: %v allocations, at most %v", c.path, got, c.most)
		}
	}
}
