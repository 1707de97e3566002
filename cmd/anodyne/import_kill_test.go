package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"anodyne/internal/event"
	"anodyne/internal/pain"
	"anodyne/internal/store"
	"anodyne/internal/store/storetest"
	"anodyne/internal/testwait"
)

// TestFaultImportSurvivesKill kills an import with SIGKILL again and again, later
// each time, and starts it again, until one comes to its end. Everything must
// be there once, with its event.
func TestFaultImportSurvivesKill(t *testing.T) {
	const patients, scores = 2000, 6000
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		s := storetest.Start(t, cfg)
		who := storetest.Client(t, s, "Ours")
		people, clinical := writeImport(t, patients, scores)
		kills, partial := 0, 0
		for limit := 40 * time.Millisecond; ; limit += limit / 6 {
			killed, output := importOrKill(t, cfg, limit, people, clinical)
			if !killed {
				if !strings.Contains(output, "there already") {
					t.Errorf("the last import said %s", output)
				}
				break
			}
			kills++
			if _, have, err := s.For(&who).Head(t.Context()); err != nil {
				t.Fatal(err)
			} else if have > 0 {
				partial++
			}
		}
		t.Logf("killed %d times, %d of them with a part imported", kills, partial)
		if partial == 0 {
			t.Error("no kill came in the middle of an import")
		}
		checkImport(t, s, s.For(&who), patients, scores)

		// Once more, it has nothing to do.
		head, _, err := s.For(&who).Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if killed, output := importOrKill(t, cfg, time.Hour, people, clinical); killed || !strings.Contains(output, "6,000") {
			t.Errorf("again: %s", output)
		}
		if after, _, err := s.For(&who).Head(t.Context()); after != head || err != nil {
			t.Errorf("the journal went from %d to %d, %v", head, after, err)
		}
	})
}

// writeImport makes the files. Half of the patients have no identifier, and
// some of these say the same; so do some of the scores.
func writeImport(t *testing.T, patients, scores int) (people, clinical string) {
	var p, c strings.Builder
	p.WriteString("external_id,name,date_of_birth\n")
	for i := range patients / 2 {
		fmt.Fprintf(&p, "%d,P%d,1984-05-17\n,Q%d,1984-05-17\n", i, i, i/4)
	}
	c.WriteString("external_id,data_type,recorded_at,score\n")
	for i := range scores {
		fmt.Fprintf(&c, "%d,pain_scores,2026-01-15,%d\n", i%(patients/2), i%5)
	}
	dir := t.TempDir()
	people, clinical = filepath.Join(dir, "p.csv"), filepath.Join(dir, "c.csv")
	for path, text := range map[string]string{people: p.String(), clinical: c.String()} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return people, clinical
}

// importOrKill runs an import in a process of its own, which is killed when it
// takes longer than the limit.
func importOrKill(t *testing.T, cfg store.Config, limit time.Duration, files ...string) (killed bool, output string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit) // the end of which is SIGKILL
	defer cancel()
	args := append([]string{"import", "--organization", "Ours", "--database", cfg.Database, "--data-dir", storetest.Node(t, cfg).DataDir}, files...)
	text, err := exec.CommandContext(ctx, "anodyne", args...).CombinedOutput()
	if err == nil {
		return false, string(text)
	}
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("%v: %s", err, text)
	}
	return true, string(text)
}

// checkImport holds what is there against the files.
func checkImport(t *testing.T, s *store.Store, org store.Org, patients, scores int) {
	t.Helper()
	names, records := map[string]int{}, map[string]bool{}
	var items []store.PatientItem
	if _, err := org.PatientPage(t.Context(), 1, 1_000_000, func(i store.PatientItem) {
		names[string(i.Name)]++
		items = append(items, i)
	}); err != nil {
		t.Fatal(err)
	}
	for name, n := range names {
		if name[0] == 'P' && n != 1 || name[0] == 'Q' && n != 4 {
			t.Errorf("%s is there %d times", name, n)
		}
	}
	if len(items) != patients {
		t.Errorf("%d patients, want %d", len(items), patients)
	}
	for _, i := range items {
		if _, err := org.Records(t.Context(), i.ID, store.RecordQuery{Page: 1, Limit: 1000}, func(r *pain.Record) { records[r.ID.String()] = true }); err != nil {
			t.Fatal(err)
		}
	}
	if len(records) != scores {
		t.Errorf("%d records, want %d", len(records), scores)
	}
	storetest.Run(t, s)
	created, told := 0, map[string]int{}
	for after := store.Pos(0); created < patients || len(told) < scores; {
		ctx, cancel := context.WithTimeout(t.Context(), testwait.Bound)
		events, next, err := org.WaitEvents(ctx, after, 1000)
		cancel()
		if err != nil || len(events) == 0 {
			t.Fatalf("%d patients and %d records have an event, %v", created, len(told), err)
		}
		after = next
		for _, e := range events {
			if e.Type == event.PatientCreated {
				created++
				continue
			}
			var data struct {
				Records []string `json:"record_ids"`
			}
			if err := json.Unmarshal(e.Data, &data); err != nil {
				t.Fatal(err)
			}
			for _, r := range data.Records {
				if told[r]++; told[r] > 1 || !records[r] {
					t.Errorf("record %s has %d events, is there: %v", r, told[r], records[r])
				}
			}
		}
	}
	if created != patients {
		t.Errorf("%d events of new patients, want %d", created, patients)
	}
	if problems, err := s.System().CheckTables(t.Context()); len(problems) > 0 || err != nil {
		t.Errorf("check: %q, %v", problems, err)
	}
}
