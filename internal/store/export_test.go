package store

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/id"
)

// What the tests outside the package need of its inside.

var (
	MigrationsOf = migrations
	PurgeSlice   = int64(purgeSlice)
	PackLines    = packLines
	AuditScan    = auditScan
	RecoverScan  = recoverScan
	UntilSweep   = untilSweep
	SweepBegun   = sweepBegun
	SweepAhead   = sweepAhead
	OldDelivery  = oldDeliveryID
)

// MigrationLock is what a node holds while it migrates.
const MigrationLock int64 = migrationLock

// ShortSweepSlice makes sweeps look up a few patients at a time.
func ShortSweepSlice(tb testing.TB) {
	before := sweepSlice
	sweepSlice = 3
	tb.Cleanup(func() { sweepSlice = before })
}

// ShortNearby has pages of records ask on which day they begin.
func ShortNearby(tb testing.TB) {
	before := nearby
	nearby = 3
	tb.Cleanup(func() { nearby = before })
}

// ShortWalks has logs verified a few entries at a time.
func ShortWalks(tb testing.TB) {
	walk, catchUp := walkEntries, catchUpEntries
	walkEntries, catchUpEntries = 3, 5
	tb.Cleanup(func() { walkEntries, catchUpEntries = walk, catchUp })
}

// MigrationSQL is the text of a step.
func MigrationSQL(engine, name string) string {
	for _, step := range migrations(engine) {
		if step.Name == name {
			return step.sql
		}
	}
	return ""
}

// MigrationStatements are the statements of a step, without comments.
func MigrationStatements(engine, name string) (stmts []string) {
	for _, sql := range splitSQL(MigrationSQL(engine, name)) {
		var lines []string
		for line := range strings.Lines(sql) {
			if !strings.HasPrefix(line, "--") {
				lines = append(lines, line)
			}
		}
		stmts = append(stmts, strings.TrimSpace(strings.Join(lines, "")))
	}
	return stmts
}

// Exec runs one statement in a transaction of its own, past all rules.
func Exec(tb testing.TB, s *Store, sql string, args ...any) int64 {
	tb.Helper()
	var changed int64
	if err := s.write(context.Background(), func(tx Tx) (err error) {
		changed, err = tx.Exec(sql, args...)
		return err
	}); err != nil {
		tb.Fatal(err)
	}
	return changed
}

// Number reads one whole number.
func Number(tb testing.TB, s *Store, sql string, args ...any) (n int64) {
	tb.Helper()
	if err := s.read(context.Background(), func(tx Tx) error {
		_, err := one(tx, sql, func(r Row) { n = r.Int(0) }, args...)
		return err
	}); err != nil {
		tb.Fatal(err)
	}
	return n
}

// NumberThenLeave is Number of a caller who leaves before the read is over.
func NumberThenLeave(tb testing.TB, s *Store, sql string, args ...any) (n int64) {
	tb.Helper()
	ctx, leave := context.WithCancel(context.Background())
	if err := s.read(ctx, func(tx Tx) error {
		_, err := one(tx, sql, func(r Row) { n = r.Int(0) }, args...)
		leave()
		return err
	}); err != nil {
		tb.Fatal(err)
	}
	return n
}

// Texts reads the text columns of all rows, joined by spaces.
func Texts(tb testing.TB, s *Store, columns int, sql string, args ...any) (rows []string) {
	tb.Helper()
	if err := s.read(context.Background(), func(tx Tx) error {
		return tx.Query(sql, func(r Row) error {
			row := r.Text(0)
			for i := 1; i < columns; i++ {
				row += " " + r.Text(i)
			}
			rows = append(rows, row)
			return nil
		}, args...)
	}); err != nil {
		tb.Fatal(err)
	}
	return rows
}

// Settle gives all committed journal entries their position, on PostgreSQL.
func Settle(tb testing.TB, s *Store) {
	tb.Helper()
	if s.Engine() != postgresDialect.name {
		return
	}
	for {
		given, _, err := s.sequenceOnce(context.Background())
		if err != nil {
			tb.Fatal(err)
		}
		if given == 0 {
			return
		}
	}
}

// Write is a write of the test's own.
func (s *Store) Write(ctx context.Context, fn func(Tx) error) error { return s.write(ctx, fn) }

// Read is a read of the test's own.
func (s *Store) Read(ctx context.Context, fn func(Tx) error) error { return s.read(ctx, fn) }

// ShortBusyTimeout makes connections that are opened from now on wait shortly
// for another process's lock.
func ShortBusyTimeout(tb testing.TB) {
	before := busyTimeout
	busyTimeout = 50 * time.Millisecond
	tb.Cleanup(func() { busyTimeout = before })
}

// LookSeldom makes those who wait for events from now on not look for
// themselves, as long as the test takes.
func LookSeldom(tb testing.TB) {
	before := lookEvery
	lookEvery = 24 * time.Hour
	tb.Cleanup(func() { lookEvery = before })
}

// Series reads the packed series of a patient by year.
func Series(tb testing.TB, o Org, patientID id.Patient) map[int]string {
	tb.Helper()
	years := map[int]string{}
	if err := o.read(context.Background(), func(tx Tx) error {
		return tx.Query(`SELECT year, bytes FROM patient_series WHERE org_no = $1
			AND patient_no = (SELECT patient_no FROM patient WHERE org_no = $1 AND id = $2)`, func(r Row) error {
			years[int(r.Int(0))] = string(r.Raw(1))
			return nil
		}, int64(o.org), patientID.Bytes())
	}); err != nil {
		tb.Fatal(err)
	}
	return years
}

// Now is the store's clock.
func (s System) Now() time.Time { return s.now() }

// WitnessPath is the file in which a node keeps what was sealed.
func (s *Store) WitnessPath() string { return s.witness.path() }

// Measure looks once at all that KeepMeasured looks at.
func (s System) Measure(ctx context.Context) error {
	return errors.Join(s.measure(ctx), s.measureSize(ctx))
}

// ShortDerivation makes the slices of a derivation one patient each.
func ShortDerivation(tb testing.TB) {
	old := derivedAtOnce
	derivedAtOnce = 1
	tb.Cleanup(func() { derivedAtOnce = old })
}

// FewAliases lowers how many an organisation may have.
func FewAliases(tb testing.TB, most int64) {
	old := mostAliases
	mostAliases = most
	tb.Cleanup(func() { mostAliases = old })
}

// AskForAliases makes nodes ask often whether others changed aliases.
func AskForAliases(tb testing.TB, every time.Duration) {
	old := aliasesEvery
	aliasesEvery = every
	tb.Cleanup(func() { aliasesEvery = old })
}
