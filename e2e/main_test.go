package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/testwait"
)

func TestMain(m *testing.M) {
	_ = os.Unsetenv("GOGC") // set for the tests; the program sets its own, see boundGarbage
	testwait.Main(m, func() {
		if err := os.RemoveAll(buildDir); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	})
}

var buildDir string

// build builds the binary, once for all tests.
var build = sync.OnceValues(func() (path string, err error) {
	if buildDir, err = os.MkdirTemp("", "anodyne-e2e-"); err != nil {
		return "", err
	}
	// One test runs the binary as another user.
	if err := os.Chmod(buildDir, 0o755); err != nil {
		return "", err
	}
	path = filepath.Join(buildDir, "anodyne")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", path, "anodyne.example/anodyne/cmd/anodyne")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", errors.Join(err, errors.New(string(out)))
	}
	return path, nil
})

func binary(tb testing.TB) string {
	tb.Helper()
	path, err := build()
	if err != nil {
		tb.Fatalf("building the binary: %v", err)
	}
	return path
}

// patience bounds every wait: the machine may be busy with other tests.
const patience = testwait.Bound

// eventually asks until the answer is yes.
func eventually(tb testing.TB, within time.Duration, what string, ask func() bool) {
	tb.Helper()
	if !soon(within, ask) {
		tb.Fatalf("not within %v: %s", within, what)
	}
}

// soon calls ask until it returns true, and reports whether it did. The last
// call is made after the time limit, so that the condition is checked even if
// the test itself was suspended.
func soon(within time.Duration, ask func() bool) bool {
	deadline := time.Now().Add(within)
	again := time.NewTicker(20 * time.Millisecond) // often: a fault is to come at about the moment that is waited for
	defer again.Stop()
	for {
		last := !time.Now().Before(deadline)
		if ask() {
			return true
		}
		if last {
			return false
		}
		<-again.C
	}
}
