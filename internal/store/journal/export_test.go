package journal

import (
	"testing"
	"time"
)

var PackLines, AuditScan = packLines, auditScan

// ShortWalks has logs verified a few entries at a time.
func ShortWalks(tb testing.TB) {
	walk, catchUp := walkEntries, catchUpEntries
	walkEntries, catchUpEntries = 3, 5
	tb.Cleanup(func() { walkEntries, catchUpEntries = walk, catchUp })
}

// LookSeldom makes those who wait for events from now on not look for
// themselves, as long as the test takes.
func LookSeldom(tb testing.TB) {
	before := lookEvery
	lookEvery = 24 * time.Hour
	tb.Cleanup(func() { lookEvery = before })
}

// WitnessPath is the file in which a node keeps what was sealed.
func WitnessPath(s *Journal) string { return s.witness.path() }
