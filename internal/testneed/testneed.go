// Package testneed is the one way in which a test may leave itself out: it
// needs something that this machine does not have, or more time than a run with
// -short has, and says what.
//
// The reason is also written to the file that ANODYNE_TEST_SKIPS names, so
// that scripts/test can say at the end what was not run. Where everything must
// run, ANODYNE_TEST_NO_SKIP=1 turns a skip into a failure.
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

// Skip ends the test for the reason given, which completes the sentence "not
// run: ...". It never returns.
func Skip(tb testing.TB, reason string) {
	tb.Helper()
	if os.Getenv(noSkipEnv) == "1" {
		tb.Fatalf("%s (%s=1 forbids to skip)", reason, noSkipEnv)
	}
	// The file has another name in each run, and go test notes which variables
	// a test reads: a package that skips is therefore never answered from the
	// test cache, which would leave the file empty.
	if path := os.Getenv(skipsEnv); path != "" {
		if err := record(path, tb.Name(), reason); err != nil {
			tb.Logf("the skip is not in the closing summary: %v", err)
		}
	}
	tb.Skip(reason)
}

// Long ends the test in a run with -short, which is for quick feedback: no
// PostgreSQL, no browser, nothing that takes longer than a few seconds. what
// says which of these the test needs.
func Long(tb testing.TB, what string) {
	tb.Helper()
	if testing.Short() {
		Skip(tb, what+" is left out with -short")
	}
}

// record appends one line, reason first so that the lines sort by it. Packages
// are tested in parallel; one short write in append mode does not mix lines.
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

// testedPackage is the import path of the package whose tests this process runs.
func testedPackage() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown package"
	}
	return strings.TrimSuffix(info.Path, ".test")
}
