package webhook

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

var failed = Attempt{Status: 500, Error: "the receiver returned 500"}

func TestNext(t *testing.T) {
	lowest, middle, highest := func() float64 { return 0 }, func() float64 { return 0.5 }, func() float64 { return 1 }
	after := func(d time.Duration) Attempt { return Attempt{Status: 503, Error: "busy", RetryAfter: d} }
	for _, c := range []struct {
		name   string
		tries  int
		last   Attempt
		random func() float64
		wait   time.Duration
		again  bool
	}{
		{"the first try is at once", 0, Attempt{}, highest, 0, true},
		{"second", 1, failed, middle, 5 * time.Second, true},
		{"second, earliest", 1, failed, lowest, 4 * time.Second, true},
		{"second, latest", 1, failed, highest, 6 * time.Second, true},
		{"third", 2, failed, middle, 5 * time.Minute, true},
		{"fourth", 3, failed, middle, 30 * time.Minute, true},
		{"fifth", 4, failed, middle, 2 * time.Hour, true},
		{"sixth", 5, failed, middle, 5 * time.Hour, true},
		{"seventh", 6, failed, middle, 10 * time.Hour, true},
		{"eighth", 7, failed, middle, 14 * time.Hour, true},
		{"ninth", 8, failed, middle, 20 * time.Hour, true},
		{"tenth", 9, failed, middle, 24 * time.Hour, true},
		{"tenth, latest", 9, failed, highest, 24 * time.Hour * 6 / 5, true},
		{"there is no eleventh", 10, failed, middle, 0, false},
		{"no answer is a failure", 1, Attempt{Error: "no connection"}, middle, 5 * time.Second, true},
		{"a 2xx that did not end is a failure", 1, Attempt{Status: 200, Error: "late"}, middle, 5 * time.Second, true},
		{"delivered", 1, Attempt{Status: 204}, middle, 0, false},
		{"gone", 1, Attempt{Status: 410, Error: "gone"}, middle, 0, false},
		{"asked for more time", 1, after(time.Minute), lowest, time.Minute, true},
		{"asked for less than the schedule", 2, after(time.Second), middle, 5 * time.Minute, true},
		{"asked for a year", 1, after(365 * 24 * time.Hour), middle, 24 * time.Hour, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			wait, again := Next(c.tries, c.last, c.random)
			if wait > longestWait {
				t.Errorf("%v is longer than the longest wait", wait)
			}
			if again != c.again || (wait-c.wait).Abs() > time.Microsecond {
				t.Errorf("Next = %v, %v; want %v, %v", wait, again, c.wait, c.again)
			}
		})
	}
}

// TestWholeSchedule lives through the tries of a message that never arrives.
func TestWholeSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin, tries := time.Now(), 0
		for {
			wait, again := Next(tries, failed, rand.Float64)
			if !again {
				break
			}
			time.Sleep(wait)
			tries++
		}
		var sum time.Duration
		for _, wait := range schedule {
			sum += wait
		}
		took := time.Since(begin)
		if tries != 10 || took < sum*8/10 || took > sum*12/10 {
			t.Errorf("%d tries in %v, want 10 in %v and a fifth more or less", tries, took, sum)
		}
	})
}
