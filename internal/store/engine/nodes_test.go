package engine

import (
	"testing"
	"testing/synctest"
	"time"
)

// A node that is elected after another was killed polls again when the leases of
// that one have expired, and so finds what it was working on.
func TestElectedNodeLooksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := &DB{nodes: newNodes()}
		poll := db.NewPoll(0)
		db.nodes.listening(true)
		for i := range 40 {
			db.nodes.beat("", time.Now())
			db.nodes.lead(time.Now().Add(leaseTime))
			if due, want := poll.Due(), i == 0 || i == int(lookAgain/time.Second)+1; due != want {
				t.Errorf("after %d s: due is %v", i, due)
			}
			time.Sleep(time.Second)
		}
	})
}
