package journal

import (
	"bytes"
	"context"
	"os"
	"testing"
	"time"
)

// PackLines and AuditScan are the limits of packs and of reading the audit log.
var PackLines, AuditScan = packLines, auditScan

// ShortWalks makes the patrol verify a few entries at a time.
func ShortWalks(tb testing.TB) {
	walk, catchUp := walkEntries, catchUpEntries
	walkEntries, catchUpEntries = 3, 5
	tb.Cleanup(func() { walkEntries, catchUpEntries = walk, catchUp })
}

// LookSeldom makes callers that wait for events from now on rely on
// notifications, without polling during the test.
func LookSeldom(tb testing.TB) {
	before := lookEvery
	lookEvery = 24 * time.Hour
	tb.Cleanup(func() { lookEvery = before })
}

// WitnessPath returns the path of a node's witness.
func WitnessPath(s *Journal) string { return s.witness.path() }

// PlanAcceptances makes erasures store their acceptances first, as in a Citus
// cluster.
func PlanAcceptances(s *Journal) { s.plans = true }

// BeginPatrol starts a walk over all logs.
func (s System) BeginPatrol() { s.beginPatrol() }

// GoOnPatrol verifies a few parts of the walk, after comparing the seals as a
// server does, and reports whether the walk is complete.
func (s System) GoOnPatrol(ctx context.Context, parts int) (done bool, err error) {
	if err := s.compareSeals(ctx); err != nil {
		return false, err
	}
	return s.goOnPatrol(ctx, func() bool { parts--; return parts >= 0 })
}

// HoldSpool keeps audit lines of reads from being written until release is
// called. gathered returns how many lines wait to be written together.
func HoldSpool(s *Journal) (gathered func() int, release func()) {
	sp := s.spool
	sp.mu.Lock()
	return func() int {
		sp.gathering.Lock()
		defer sp.gathering.Unlock()
		if sp.next == nil {
			return 0
		}
		return bytes.Count(sp.next.bytes, []byte{'\n'})
	}, sp.mu.Unlock
}

// BreakSpool makes writing audit lines of reads fail until the end of the test.
func BreakSpool(tb testing.TB, s *Journal) {
	tb.Helper()
	readOnly, err := os.Open(os.DevNull)
	if err != nil {
		tb.Fatal(err)
	}
	sp := s.spool
	exchange := func(f *os.File) (before *os.File) {
		sp.mu.Lock()
		defer sp.mu.Unlock()
		before, sp.seg.File = sp.seg.File, f
		return before
	}
	writable := exchange(readOnly)
	tb.Cleanup(func() { _ = exchange(writable).Close() })
}
