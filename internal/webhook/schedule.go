package webhook

import "time"

// schedule is the delay before each attempt, counted from the previous one.
var schedule = [...]time.Duration{
	0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour,
	5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

const (
	// spread is the relative jitter of a delay, so that messages that failed
	// together are not all retried together.
	spread = 0.2
	// longestPause limits Retry-After to the longest delay of the schedule, so
	// that a receiver cannot suspend deliveries indefinitely.
	longestPause = 24 * time.Hour
	// longestWait is the longest delay that Next returns.
	longestWait = longestPause * 6 / 5
)

// Next returns the delay after the last of this many attempts, and whether
// there is another attempt at all. random returns numbers in [0, 1).
//
// A receiver that sent Retry-After is not tried earlier than it asked, nor
// earlier than scheduled.
func Next(tries int, last Attempt, random func() float64) (wait time.Duration, again bool) {
	if tries >= len(schedule) || last.OK() || last.Gone() {
		return 0, false
	}
	wait = time.Duration(float64(schedule[tries]) * (1 - spread + 2*spread*random()))
	return max(wait, min(last.RetryAfter, longestPause)), true
}
