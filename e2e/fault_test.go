package e2e

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// faultRounds gives how often a fault test is to make its fault: few says how
// often where nobody asked for more.
func faultRounds(tb testing.TB, few int) int {
	tb.Helper()
	text := os.Getenv("ANODYNE_FAULT_ROUNDS")
	if text == "" {
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		tb.Fatalf("ANODYNE_FAULT_ROUNDS=%s is no number of rounds", text)
	}
	return n
}

// seed gives the seed of a test's random choices and logs it.
func seed(tb testing.TB) uint64 {
	tb.Helper()
	s := uint64(time.Now().UnixNano())
	if text := os.Getenv("ANODYNE_FAULT_SEED"); text != "" {
		var err error
		if s, err = strconv.ParseUint(text, 10, 64); err != nil {
			tb.Fatalf("ANODYNE_FAULT_SEED: %v", err)
		}
	}
	tb.Logf("SEED=%d", s)
	return s
}
