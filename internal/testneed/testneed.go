// Package testneed is the only way for a test to skip itself: because it needs
// something that this machine does not have, or more time than a run with
// -short allows.
//
// The reason is also written to the file named by ANODYNE_TEST_SKIPS, so that
// scripts/test can list at the end what was not run. ANODYNE_TEST_NO_SKIP=1
// turns a skip into a failure, for environments where everything must run.
package testneed

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"testing"
)

const (
	noSkipEnv = "ANODYNE_TEST_NO_SKIP"
	skipsEnv  = "ANODYNE_TEST_SKIPS"
)

// Skip skips the test. reason completes the sentence "not run: ...". It never
// returns.
func Skip(tb testing.TB, reason string) {
	tb.Helper()
	if os.Getenv(noSkipEnv) == "1" {
		tb.Fatalf("%s (%s=1 forbids skipping)", reason, noSkipEnv)
	}
	// The file has a different name in each run, and go test records which
	// variables a test reads. So a package that skips is never served from the
	// test cache, which would leave the file empty.
	if path := os.Getenv(skipsEnv); path != "" {
		if err := record(path, tb.Name(), reason); err != nil {
			tb.Logf("the skip is not in the closing summary: %v", err)
		}
	}
	tb.Skip(reason)
}

// Long skips the test in a run with -short, which is for quick feedback: no
// PostgreSQL, no browser, nothing that takes longer than a few seconds. what
// says which of these the test needs.
func Long(tb testing.TB, what string) {
	tb.Helper()
	if testing.Short() {
		Skip(tb, what+" is left out with -short")
	}
}

// record appends one line, with the reason first so that the lines sort by it.
// Packages are tested in parallel; a single short write in append mode does
// not mix lines.
func record(path, test, reason string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = fmt.Fprintf(f, "%s\t%s\t%s\n", oneLine(reason), testedPackage(), test)
	return err
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// testedPackage returns the import path of the package under test.
func testedPackage() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown package"
	}
	return strings.TrimSuffix(info.Path, ".test")
}
