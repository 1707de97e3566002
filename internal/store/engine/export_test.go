package engine

import (
	"context"
	"testing"
	"time"
)

// ShortBusyTimeout reduces how long connections opened from now on wait for
// another process's lock.
func ShortBusyTimeout(tb testing.TB) {
	before := busyTimeout
	busyTimeout = 50 * time.Millisecond
	tb.Cleanup(func() { busyTimeout = before })
}

// Places returns the declared place of every table.
func Places() map[string]Place { return places }

// Created lists the tables that the migrations of an engine create.
func Created(engine string) []string { return created(engine) }

// MigrateTo migrates up to a version.
var MigrateTo = migrateTo

// PlaceTables distributes the tables that the schema has so far.
func PlaceTables(ctx context.Context, cfg Config) error {
	db, err := Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer db.Close()
	return db.migrate(ctx, func(tx Tx) error {
		_, err := place(tx)
		return err
	})
}

// Ask sends statements without arguments in one round, and returns their errors.
func Ask(ctx context.Context, db *DB, sql ...string) (errs []error) {
	questions := make([]question, len(sql))
	for i := range sql {
		questions[i] = question{sql: sql[i], each: func(postgresRow) error { return nil }}
	}
	_ = db.engine.(*postgresEngine).inRound(ctx, db.engine.(*postgresEngine).rounds, questions)
	for i := range questions {
		errs = append(errs, questions[i].err)
	}
	return errs
}

// Waiting returns how many writes of a group wait for their round.
func (t *Together[W]) Waiting(number int64) (n int) {
	t.groups.mu.Lock()
	defer t.groups.mu.Unlock()
	rounds := t.groups.values[number].value.Rounds
	rounds.mu.Lock()
	defer rounds.mu.Unlock()
	for _, next := range rounds.waiting {
		n += len(next.calls)
	}
	return n
}

// PingWorker connects to a worker whose server has an identity.
func PingWorker(ctx context.Context, db *DB, address, identity string) error {
	w, err := db.engine.(*postgresEngine).apart.direct.newWorker(address)
	if err != nil {
		return err
	}
	defer w.pool.Close()
	w.identity = identity
	return w.pool.Ping(ctx)
}
