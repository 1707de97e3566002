package testwait

import (
	"testing"
	"testing/synctest"
	"time"
)

// The last check is made after the limit, even if one check took longer than
// that.
func TestWithinAsksAfterTheLimit(t *testing.T) {
	for name, took := range map[string]time.Duration{"quick": 0, "slow": 7 * time.Second, "stands still": time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const limit = time.Minute
				began := time.Now()
				if !Within(limit, func() bool {
					holds := time.Since(began) >= limit
					time.Sleep(took)
					return holds
				}) {
					t.Error("what holds after the limit was not found")
				}
			})
		})
	}
}

func TestWithinGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, asked := time.Now(), 0
		if Within(Bound, func() bool { asked++; return false }) {
			t.Error("yes")
		}
		if took := time.Since(began); took != Bound {
			t.Errorf("gave up after %v", took)
		}
		if asked > 800 { // the smallest allowance of a client is 1,000 requests
			t.Errorf("asked %d times", asked)
		}
	})
}
