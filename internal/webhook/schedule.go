package webhook

import "time"

// schedule is how long to wait before each try, counted from the one before.
var schedule = [...]time.Duration{
	0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour,
	5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

const (
	// spread is how far a wait is moved either way, so that the messages
	// that failed together do not all come back together.
	spread = 0.2
	// longestPause bounds Retry-After by the schedule's own longest wait: a
	// receiver may ask for time, not for silence.
	longestPause = 24 * time.Hour
	// longestWait is the longest that Next gives.
	longestWait = longestPause * 6 / 5
)

// Next says how long after the last of so many tries the next one is due, and
// whether there is one at all. random gives numbers in [0, 1).
//
// A receiver that said Retry-After is not tried earlier than it asked, nor
// earlier than the schedule says, however little it asked for.
func Next(tries int, last Attempt, random func() float64) (wait time.Duration, again bool) {
	if tries >= len(schedule) || last.OK() || last.Gone() {
		return 0, false
	}
	wait = time.Duration(float64(schedule[tries]) * (1 - spread + 2*spread*random()))
	return max(wait, min(last.RetryAfter, longestPause)), true
}
