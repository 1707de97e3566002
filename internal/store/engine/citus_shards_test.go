package engine

import "testing"

// Queries are rewritten for the tables of a shard.
func TestQueriesAboutShards(t *testing.T) {
	s := &shard{tables: map[string]string{"patient": "patient_102", "org_counter": "clinic.org_counter_103"}}
	for sql, want := range map[string]string{
		`SELECT id FROM patient WHERE org_no = $1`:            `SELECT id FROM patient_102 AS patient WHERE org_no = $1`,
		`SELECT patient.id FROM patient`:                      `SELECT patient.id FROM patient_102 AS patient`,
		`SELECT p.id FROM patient p WHERE p.org_no = $1`:      `SELECT p.id FROM patient_102 p WHERE p.org_no = $1`,
		`SELECT p.id FROM patient AS p`:                       `SELECT p.id FROM patient_102 AS p`,
		`SELECT 1 FROM org_counter c LEFT JOIN patient ON id`: `SELECT 1 FROM clinic.org_counter_103 c LEFT JOIN patient_102 AS patient ON id`,
		`SELECT (SELECT gone FROM org_counter) FROM patient`:  `SELECT (SELECT gone FROM clinic.org_counter_103 AS org_counter) FROM patient_102 AS patient`,
		// Tables that the worker does not have.
		`SELECT 1 FROM patient JOIN org o ON true`: "",
		`SELECT 1 FROM setting`:                    "",
		`SELECT 1 FROM unnest($1) AS n`:            "",
	} {
		for range 2 { // the second time from memory
			if got, ok := s.statement(sql); got != want || ok != (want != "") {
				t.Errorf("%s\ngot  %s, %t\nwant %s", sql, got, ok, want)
			}
		}
	}
}

// A worker is connected to as safely as the coordinator, and only to read.
func TestWorkerConfig(t *testing.T) {
	for _, tt := range []struct {
		dsn  string
		ways []string // the names that certificates must have; "plain" without TLS
	}{
		{"postgres://u:secret@coordinator:1/db?sslmode=verify-full", []string{"worker"}},
		{"postgres://u:secret@coordinator:1,standby:2/db?sslmode=verify-full", []string{"worker"}},
		{"postgres://u:secret@coordinator/db?sslmode=prefer", []string{"worker", "plain"}},
		{"postgres://u:secret@coordinator/db?sslmode=disable", []string{"plain"}},
		// Connections that stay on this machine may be plain; those to others may not.
		{"postgres://u:secret@/db?host=/run/postgresql", nil},
		{"postgres://u:secret@localhost/db?sslmode=disable", nil},
		{"postgres://u:secret@127.0.0.1/db?sslmode=prefer", nil},
		{"postgres://u:secret@127.0.0.1/db?sslmode=verify-full", []string{"worker"}},
	} {
		coordinator, err := postgresConfig(tt.dsn, limitsWith(0))
		if err != nil {
			t.Fatal(err)
		}
		before, secure := coordinator.ConnConfig.Host, coordinator.ConnConfig.TLSConfig
		cfg, err := workerConfig(coordinator, "worker:5433")
		if (err == nil) != (tt.ways != nil) {
			t.Errorf("%s: %v", tt.dsn, err)
		}
		if err != nil {
			continue
		}
		conn := cfg.ConnConfig
		if conn.Host != "worker" || conn.Port != 5433 || conn.User != "u" || conn.Password != "secret" || conn.Database != "db" {
			t.Errorf("%s: connects to %s:%d/%s as %s", tt.dsn, conn.Host, conn.Port, conn.Database, conn.User)
		}
		if conn.RuntimeParams["default_transaction_read_only"] != "on" || coordinator.ConnConfig.RuntimeParams["default_transaction_read_only"] != "" {
			t.Errorf("%s: the worker can be written to, or the coordinator cannot", tt.dsn)
		}
		way := func(host string, port uint16, name string) string {
			if host != "worker" || port != 5433 {
				t.Errorf("%s: also connects to %s:%d", tt.dsn, host, port)
			}
			return name
		}
		ways := []string{"plain"}
		if conn.TLSConfig != nil {
			ways[0] = conn.TLSConfig.ServerName
		}
		for _, f := range conn.Fallbacks {
			name := "plain"
			if f.TLSConfig != nil {
				name = f.TLSConfig.ServerName
			}
			ways = append(ways, way(f.Host, f.Port, name))
		}
		if len(ways) != len(tt.ways) || ways[0] != tt.ways[0] || ways[len(ways)-1] != tt.ways[len(ways)-1] {
			t.Errorf("%s: connects in the ways %v, want %v", tt.dsn, ways, tt.ways)
		}
		if coordinator.ConnConfig.Host != before || secure != nil && (secure.ServerName == "worker" || coordinator.ConnConfig.TLSConfig != secure) {
			t.Errorf("%s: the configuration of the coordinator was changed", tt.dsn)
		}
	}
	for dsn, usable := range map[string]bool{
		"postgres://u@coordinator/db?sslmode=disable":           false,
		"postgres://u@127.0.0.1/db?sslmode=disable":             true,
		"postgres://u@/db?host=/run/postgresql&sslmode=disable": true,
	} {
		coordinator, err := postgresConfig(dsn, limitsWith(0))
		if err != nil {
			t.Fatal(err)
		}
		for _, address := range []string{"localhost:5433", "127.0.0.1:5433", "[::1]:5433"} {
			if _, err := workerConfig(coordinator, address); (err == nil) != usable {
				t.Errorf("%s, a worker at %s: %v", dsn, address, err)
			}
		}
	}
}
