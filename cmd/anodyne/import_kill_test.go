package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/event"
	"anodyne.example/anodyne/internal/faulttest"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testneed"
	"anodyne.example/anodyne/internal/testwait"
)

// The patients and scores of an import that is killed.
const (
	killedPatients = 2000
	killedScores   = 6000
)

// TestFaultImportSurvivesKill kills an import with SIGKILL again and again, each
// time further on, and lets the next one go on, until one runs to its end.
// Everything must be there once, with its event.
func TestFaultImportSurvivesKill(t *testing.T) {
	t.Parallel()
	people, clinical := writeImport(t, killedPatients, killedScores)
	// Each patient is an entry of the journal, and each one's scores are at
	// least another.
	killImports(t, killedPatients+killedPatients/2, people, clinical)
}

// TestFaultFHIRImportSurvivesKill does the same to an import of FHIR resources, a
// Bundle and files with one a line.
func TestFaultFHIRImportSurvivesKill(t *testing.T) {
	testneed.Long(t, "killing a second import")
	t.Parallel()
	killImports(t, killedPatients+killedPatients/2, writeFHIR(t, killedPatients, killedScores)...)
}

func killImports(t *testing.T, entries int, files ...string) {
	storetest.EachDatabase(t, func(t *testing.T, cfg store.Config) {
		s := storetest.Start(t, cfg)
		storetest.Run(t, s)
		who := storetest.Client(t, s, "Ours")
		org := s.For(&who)
		started, _, err := org.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		at := stops(t, entries, faulttest.Rounds(t, 4))
		for i := range at {
			if killAt(t, s, org, started+at[i], anodyne(t, t.TempDir(), importing(t, cfg, files...)...)) {
				continue
			}
			// The one that was to be killed near its end may get there first.
			if i < len(at)-1 {
				t.Fatalf("ended before entry %d", at[i])
			}
			t.Logf("ended before entry %d", at[i])
		}
		if output := must(t, t.TempDir(), importing(t, cfg, files...)...); !strings.Contains(output, "already present") {
			t.Errorf("the last import said %s", output)
		}
		checkImport(t, s, org, killedPatients, killedScores)

		// Once more, it has nothing to do.
		head, _, err := org.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if output := must(t, t.TempDir(), importing(t, cfg, files...)...); !strings.Contains(output, "6,000") {
			t.Errorf("again: %s", output)
		}
		if after, _, err := org.Head(t.Context()); after != head || err != nil {
			t.Errorf("the journal went from %d to %d, %v", head, after, err)
		}
	})
}

// stops returns n positions, one somewhere in each nth part of the entries, but
// for the first: the start of the process.
func stops(t *testing.T, entries, n int) []journal.Pos {
	random := rand.New(rand.NewPCG(faulttest.Seed(t), 0))
	list := make([]journal.Pos, n)
	for i := 1; i < n; i++ {
		list[i] = journal.Pos((float64(i-1) + random.Float64()) / float64(n-1) * float64(entries-1))
	}
	return list
}

// killAt runs a command and kills it once the journal has reached a position.
// It reports whether it did; otherwise the command succeeded before.
func killAt(t *testing.T, s *store.Store, org store.Org, at journal.Pos, cmd *exec.Cmd) bool {
	t.Helper()
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for {
		// Entries get their positions here, at once: the sequencer may be late.
		err := s.System().FlushReads(t.Context())
		head, _, headErr := org.Head(t.Context())
		if err = errors.Join(err, headErr); err != nil || head >= at {
			_ = cmd.Process.Kill() // it may have ended
			ended := <-ended
			if err != nil {
				t.Fatal(err)
			}
			if code := cmd.ProcessState.ExitCode(); code > 0 {
				t.Fatalf("not killed at entry %d: %v\n%s", at, ended, &output)
			}
			return ended != nil
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("failed before entry %d: %v\n%s", at, err, &output)
			}
			return false
		case <-again.C:
		}
	}
}

// importing is the command line of an import.
func importing(t *testing.T, cfg store.Config, files ...string) []string {
	t.Helper()
	return append([]string{"import", "--organization", "Ours", "--database", cfg.Database, "--data-dir", storetest.Node(t, cfg).DataDir}, files...)
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

// writeFHIR makes the files of FHIR resources: a Bundle with a quarter of the
// patients, and the others with one a line. Half of the patients have no
// identifier, and some of these say the same; so do some of the scores.
func writeFHIR(t *testing.T, patients, scores int) (files []string) {
	patient := func(i int) string {
		name, identifier := fmt.Sprintf("Q%d", i/8), ""
		if i%2 == 0 {
			name, identifier = fmt.Sprintf("P%d", i), fmt.Sprintf(`"identifier":[{"system":"http://hospital.example/mrn","value":"%d"}],`, i)
		}
		return fmt.Sprintf(`{"resourceType":"Patient","id":"p%d",%s"name":[{"text":%q}],"birthDate":"1984-05-17","address":[{"city":"Uppsala"}]}`, i, identifier, name)
	}
	score := func(i int, patient string) string {
		return fmt.Sprintf(`{"resourceType":"Observation","id":"s%d","status":"final","code":{"coding":[{"system":"http://loinc.org","code":"72514-3"}]},"subject":{"reference":%q},"effectiveDateTime":"2026-01-15","valueQuantity":{"value":%d,"unit":"{score}"}}`, i, patient, i%5)
	}
	var bundle, people, observations []string
	bundled := patients / 4
	entry := func(url, resource string) {
		bundle = append(bundle, fmt.Sprintf(`{"fullUrl":%q,"resource":%s,"request":{"method":"POST","url":"x"}}`, url, resource))
	}
	for i := range patients {
		if i < bundled {
			entry(fmt.Sprintf("urn:uuid:p%d", i), patient(i))
		} else {
			people = append(people, patient(i))
		}
	}
	for i := range scores {
		if p := i % patients; p < bundled {
			entry(fmt.Sprintf("urn:uuid:s%d", i), score(i, fmt.Sprintf("urn:uuid:p%d", p)))
		} else {
			observations = append(observations, score(i, fmt.Sprintf("Patient/p%d", p)))
		}
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"bundle.json":        `{"resourceType":"Bundle","type":"transaction","entry":[` + strings.Join(bundle, ",\n") + `]}`,
		"Patient.ndjson":     strings.Join(people, "\n"),
		"Observation.ndjson": strings.Join(observations, "\n"),
	} {
		files = append(files, filepath.Join(dir, name))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// checkImport compares the database with the files.
func checkImport(t *testing.T, s *store.Store, org store.Org, people, scores int) {
	t.Helper()
	names, records := map[string]int{}, map[string]bool{}
	var items []patients.PatientItem
	if _, err := org.PatientPage(t.Context(), 1, 1_000_000, func(i patients.PatientItem) {
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
	if len(items) != people {
		t.Errorf("%d patients, want %d", len(items), people)
	}
	for _, i := range items {
		if _, err := org.Records(t.Context(), i.ID, patients.RecordQuery{Page: 1, Limit: 1000}, func(r *pain.Record) { records[r.ID.String()] = true }); err != nil {
			t.Fatal(err)
		}
	}
	if len(records) != scores {
		t.Errorf("%d records, want %d", len(records), scores)
	}
	created, told := 0, map[string]int{}
	for after := journal.Pos(0); created < people || len(told) < scores; {
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
	if created != people {
		t.Errorf("%d events of new patients, want %d", created, people)
	}
	if problems, err := s.System().CheckTables(t.Context()); len(problems) > 0 || err != nil {
		t.Errorf("check: %q, %v", problems, err)
	}
}
