// Package testwait is how tests wait: for something that another goroutine,
// node or process does, and for the goroutines of a package to end.
//
// A test asserts what happens and in which order, never how fast. Its bounds
// only end a hang, and are far beyond what a busy machine needs.
package testwait

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// Bound is how long a test waits for something that will happen. It ends a
// test that hangs and measures nothing.
const Bound = 5 * time.Minute

// A pause between questions is a twentieth of the wait so far, within bounds:
// what is near is seen soon, and a long wait neither takes the processor from
// what it waits for nor uses up a client's allowance of requests.
const shortestPause, longestPause = time.Millisecond, 500 * time.Millisecond

// Until asks until the answer is yes.
func Until(tb testing.TB, what string, ask func() bool) {
	tb.Helper()
	if !Within(Bound, ask) {
		tb.Fatalf("not within %v: %s", Bound, what)
	}
}

// Within asks until the answer is yes, and reports whether it ever was. The
// last question is asked after the limit: what holds from then on is found,
// even if the test itself stood still meanwhile.
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

// leakBound is how long goroutines have to end after the last test. goleak
// alone gives them less than half a second.
const leakBound = time.Minute

// Main runs the tests of a package and fails if they leave goroutines behind.
// It then calls the functions, and never returns.
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
