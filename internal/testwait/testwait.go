// Package testwait lets tests wait: for another goroutine, node or process,
// and for the goroutines of a package to end.
//
// A test asserts what happens and in which order, never how fast. Its time
// limits only end a hang, and are far beyond what a busy machine needs.
package testwait

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// Bound is how long a test waits for something that will happen. It only ends
// a test that hangs.
const Bound = 5 * time.Minute

// The pause between checks is a twentieth of the time waited so far, within
// limits: fast events are noticed soon, and a long wait neither takes CPU time
// from what it waits for nor uses up a client's rate limit.
const shortestPause, longestPause = time.Millisecond, 500 * time.Millisecond

// Until waits until ask returns true, and fails the test after Bound.
func Until(tb testing.TB, what string, ask func() bool) {
	tb.Helper()
	if !Within(Bound, ask) {
		tb.Fatalf("not within %v: %s", Bound, what)
	}
}

// Within calls ask until it returns true, and reports whether it did. The last
// call is made after the limit, so that the condition is checked even if the
// test itself was suspended.
func Within(limit time.Duration, ask func() bool) bool {
	began := time.Now()
	for {
		last := time.Since(began) >= limit
		if ask() {
			return true
		}
		if last {
			return false
		}
		waited := time.Since(began)
		time.Sleep(min(max(waited/20, shortestPause), longestPause, max(limit-waited, 0)))
	}
}

// leakBound is how long goroutines have to end after the last test. The
// default of goleak is less than half a second.
const leakBound = time.Minute

// Main runs the tests of a package and fails if they leak goroutines. It then
// calls the functions, and never returns.
func Main(m *testing.M, after ...func()) {
	code := m.Run()
	if code == 0 {
		var left error
		if !Within(leakBound, func() bool { left = goleak.Find(); return left == nil }) {
			fmt.Fprintf(os.Stderr, "the tests left goroutines behind: %v\n", left)
			code = 1
		}
	}
	for _, f := range after {
		f()
	}
	os.Exit(code)
}
