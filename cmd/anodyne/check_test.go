package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"anodyne.example/anodyne/internal/cli"
	"anodyne.example/anodyne/internal/store/storetest"
)

// A series that is not what the records say is found, and repaired when asked.
func TestCheckRepairsSeries(t *testing.T) {
	cfg := storetest.Database(t, storetest.SQLite)
	s := storetest.Start(t, cfg)
	who := storetest.Client(t, s, "North")
	o := s.For(&who)
	p := storetest.AddPatient(t, o, "Arlo Finch").ID
	if err := storetest.AddRecords(t.Context(), o, p, storetest.Record(t, p, `{"data_type":"pain_scores","recorded_at":"2024-05-01","value":5}`)); err != nil {
		t.Fatal(err)
	}
	check := func(code int, want string, flags ...string) {
		t.Helper()
		var out, errs bytes.Buffer
		args := append([]string{"check", "--database", cfg.Database, "--data-dir", cfg.DataDir}, flags...)
		if got := run(context.Background(), args, cli.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Lookup: os.LookupEnv}); got != code || out.String() != want {
			t.Errorf("check %q: exit code %d, %q, %s", flags, got, out.String(), errs.String())
		}
	}
	check(cli.ExitOK, "ok\n")
	conn, err := sqlite3.Open(strings.TrimPrefix(cfg.Database, "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Exec(`DELETE FROM patient_series`); err != nil {
		t.Fatal(err)
	}
	check(cli.ExitFailed, "problem: organisation North: patient "+p.String()+": the series of [2024] does not match the records\n")
	check(cli.ExitOK, "repaired: 1 patient-years of series\nok\n", "--repair")
	check(cli.ExitOK, "ok\n")
}
