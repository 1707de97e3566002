package journal

import (
	"testing"
	"testing/synctest"
	"time"
)

// On a distributed database, shipping takes a small part of the time.
func TestShipPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			apart      bool
			took, rest time.Duration
		}{
			{false, time.Second, 0},
			{true, 0, 0},
			{true, 100 * time.Millisecond, time.Second},
			{true, time.Second, longestShipRest},
		} {
			p := shipPace{apart: tt.apart}
			if !p.due() {
				t.Errorf("%+v: the first round does not ship", tt)
			}
			_ = p.measure(func() error {
				time.Sleep(tt.took)
				return nil
			})
			rested := time.Now()
			for !p.due() {
				time.Sleep(time.Millisecond)
			}
			if got := time.Since(rested); got != tt.rest {
				t.Errorf("%+v: rested for %v", tt, got)
			}
		}
	})
}
