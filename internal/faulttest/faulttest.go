// Package faulttest holds the settings that fault tests share: how many rounds
// a test runs and the seed of its random choices. make test runs a few rounds
// of each; make faults sets both variables for a long run.
package faulttest

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// Rounds returns how many rounds a test runs: ANODYNE_FAULT_ROUNDS if it is
// set, few otherwise, and one with -short.
func Rounds(tb testing.TB, few int) int {
	tb.Helper()
	text := os.Getenv("ANODYNE_FAULT_ROUNDS")
	if text == "" {
		if testing.Short() {
			return 1
		}
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		tb.Fatalf("ANODYNE_FAULT_ROUNDS=%s is not a number of rounds", text)
	}
	return n
}

// Seed returns the seed of a test's random choices, ANODYNE_FAULT_SEED if it is
// set, and logs it.
func Seed(tb testing.TB) uint64 {
	tb.Helper()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("ANODYNE_FAULT_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			tb.Fatalf("ANODYNE_FAULT_SEED: %v", err)
		}
	}
	tb.Logf("SEED=%d", seed)
	return seed
}
