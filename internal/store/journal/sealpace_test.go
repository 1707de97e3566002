package journal

import (
	"testing"
	"time"
)

// A walk uses little of the processor if there is little to do, and ends before
// the next one is due as long as that is possible.
func TestPaceOfAWalk(t *testing.T) {
	r := &watchRounds{}
	walk := func(work time.Duration) (rounds int, most time.Duration) {
		r.begun, r.took = r.n, 0
		for ; r.took < work; r.n++ {
			share := min(r.patrolTime(), work-r.took)
			r.took, most = r.took+share, max(most, share)
		}
		r.share = r.took / patrolGoal
		return r.n - r.begun, most
	}
	if rounds, most := walk(time.Second); rounds != 20 || most != patrolTime {
		t.Errorf("a small log takes %d rounds and %v of one", rounds, most)
	}
	if rounds, _ := walk(5 * time.Second); rounds > 40 {
		t.Errorf("the first walk over a log that has grown takes %d rounds", rounds)
	}
	if rounds, most := walk(5 * time.Second); rounds > patrolRounds || most == longestPatrol {
		t.Errorf("the next one takes %d rounds and %v of one", rounds, most)
	}
	if rounds, _ := walk(10 * time.Second); rounds > 50 {
		t.Errorf("a huge log takes %d rounds", rounds)
	}
	if rounds, most := walk(10 * time.Second); rounds != 40 || most != longestPatrol {
		t.Errorf("a huge log takes %d rounds and %v of one", rounds, most)
	}
	if walk(time.Second); r.share > patrolTime {
		t.Errorf("after the log has become small, a round may take %v", r.share)
	}
}
