package e2e

import (
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/ncruces/go-sqlite3"

	"anodyne.example/anodyne/internal/store/storetest"
)

// exec changes the database behind the service's back.
func (s *service) exec(sql string) {
	s.tb.Helper()
	if s.engine == storetest.Postgres {
		s.postgres(func(conn *pgx.Conn) error {
			_, err := conn.Exec(s.tb.Context(), sql)
			return err
		})
		return
	}
	s.sqlite(func(conn *sqlite3.Conn) error { return conn.Exec(sql) })
}

// number asks the database for one.
func (s *service) number(sql string) (n int64) {
	s.tb.Helper()
	if s.engine == storetest.Postgres {
		s.postgres(func(conn *pgx.Conn) error { return conn.QueryRow(s.tb.Context(), sql).Scan(&n) })
		return n
	}
	s.sqlite(func(conn *sqlite3.Conn) error {
		stmt, _, err := conn.Prepare(sql)
		if err != nil {
			return err
		}
		defer stmt.Close()
		if stmt.Step() {
			n = stmt.ColumnInt64(0)
		}
		return stmt.Err()
	})
	return n
}

func (s *service) postgres(do func(*pgx.Conn) error) {
	s.tb.Helper()
	conn, err := pgx.Connect(s.tb.Context(), s.database)
	if err != nil {
		s.tb.Fatal(err)
	}
	defer conn.Close(s.tb.Context())
	if err := do(conn); err != nil {
		s.tb.Fatal(err)
	}
}

func (s *service) sqlite(do func(*sqlite3.Conn) error) {
	s.tb.Helper()
	conn, err := sqlite3.Open(strings.TrimPrefix(s.database, "sqlite:"))
	if err != nil {
		s.tb.Fatal(err)
	}
	defer conn.Close()
	if err := do(conn); err != nil {
		s.tb.Fatal(err)
	}
}
