package storetest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
)

// MigrationSQL returns the text of one of an engine's migrations.
func MigrationSQL(kind, name string) string {
	for _, step := range engine.Migrations(kind) {
		if step.Name == name {
			return step.SQL
		}
	}
	return ""
}

// MigrationStatements returns the statements of a migration, without comments.
func MigrationStatements(kind, name string) (stmts []string) {
	for _, sql := range engine.SplitSQL(MigrationSQL(kind, name)) {
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

// Exec runs one statement in its own transaction, bypassing all rules.
func Exec(tb testing.TB, s *store.Store, sql string, args ...any) int64 {
	tb.Helper()
	var changed int64
	if err := s.Database().Write(context.Background(), func(tx engine.Tx) (err error) {
		changed, err = tx.Exec(sql, args...)
		return err
	}); err != nil {
		tb.Fatal(err)
	}
	return changed
}

// Number reads one integer.
func Number(tb testing.TB, s *store.Store, sql string, args ...any) (n int64) {
	tb.Helper()
	if err := s.Database().Read(context.Background(), func(tx engine.Tx) error {
		_, err := engine.One(tx, sql, func(r engine.Row) { n = r.Int(0) }, args...)
		return err
	}); err != nil {
		tb.Fatal(err)
	}
	return n
}

// NumberThenLeave is Number for a caller that leaves before the read is over.
func NumberThenLeave(tb testing.TB, s *store.Store, sql string, args ...any) (n int64) {
	tb.Helper()
	ctx, leave := context.WithCancel(context.Background())
	if err := s.Database().Read(ctx, func(tx engine.Tx) error {
		_, err := engine.One(tx, sql, func(r engine.Row) { n = r.Int(0) }, args...)
		leave()
		return err
	}); err != nil {
		tb.Fatal(err)
	}
	return n
}

// Texts reads the text columns of all rows, joined by spaces.
func Texts(tb testing.TB, s *store.Store, columns int, sql string, args ...any) (rows []string) {
	tb.Helper()
	if err := s.Database().Read(context.Background(), func(tx engine.Tx) error {
		return tx.Query(sql, func(r engine.Row) error {
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

// Settle assigns positions to all committed journal entries, on PostgreSQL.
func Settle(tb testing.TB, s *store.Store) {
	tb.Helper()
	if err := s.System().SequencePending(context.Background()); err != nil {
		tb.Fatal(err)
	}
}

// AskPostgres runs a query with a boolean result on a server, in its own
// session.
func AskPostgres(t *testing.T, dsn, sql string) (yes bool) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if err := conn.QueryRow(t.Context(), sql).Scan(&yes); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		t.Fatal(err)
	}
	return yes
}
