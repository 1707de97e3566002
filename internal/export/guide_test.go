package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/docs"
	"anodyne.example/anodyne/internal/analytics"
	"anodyne.example/anodyne/internal/cohort"
	"anodyne.example/anodyne/internal/fault"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/idempotency"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/synth"
	"anodyne.example/anodyne/internal/testneed"
	"anodyne.example/anodyne/internal/testnode"
)

// The queries of the guide, run by DuckDB on an export of synthetic patients,
// give the figures of the analytics.
func TestGuideWithDuckDB(t *testing.T) {
	t.Parallel()
	testneed.Long(t, "reading an export with DuckDB")
	modules := testnode.Modules(t)
	now := time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)
	s := storetest.Open(t, storetest.SQLite)
	who := storetest.Client(t, s, "north")
	o := s.For(&who)
	addSynthetic(t, o, 300, now)

	place := t.TempDir()
	dir, err := NewDirectory(filepath.Join(place, "research"))
	if err != nil {
		t.Fatal(err)
	}
	options := Default()
	made, err := Run(t.Context(), o, options, nil, now, dir, func(int64, int64) {})
	if err != nil {
		t.Fatal(err)
	}
	if err := dir.Finish("north", &options, made); err != nil {
		t.Fatal(err)
	}
	answers := duckdb(t, modules, place, guideSQL(t, now))
	if len(answers) != 3 {
		t.Fatalf("%d statements", len(answers))
	}

	var fields fault.Fields
	params := analytics.Request{}.Params(pain.DateOf(now), &fields)
	cohorts := cohort.New(64<<20, nil)
	outcomes, err := cohorts.Outcomes(t.Context(), o, &params, now)
	if err != nil {
		t.Fatal(err)
	}
	got := answers[1][0]
	responders := outcomes.Response.Responder30
	want := map[string]float64{"cohort": float64(*outcomes.Baseline.N), "mean_baseline": *outcomes.Baseline.Mean, "followed_up": float64(*responders.N), "responders": float64(*responders.Count)}
	for name, value := range want {
		if number := numberOf(t, got[name]); math.Abs(number-value) > 1e-6 || value == 0 {
			t.Errorf("%s is %v, the analytics have %v", name, number, value)
		}
	}
	population, err := cohorts.Population(t.Context(), o, &params, now)
	if err != nil {
		t.Fatal(err)
	}
	bands := map[string]float64{}
	for _, row := range answers[2] {
		bands[row["band"].(string)] = numberOf(t, row["patients"])
	}
	for _, group := range population.Opioids.MME.Peak.Bands.Groups {
		if group.Group != "0" && bands[group.Group] != float64(*group.Count) {
			t.Errorf("%v patients in band %s, the analytics have %d", bands[group.Group], group.Group, *group.Count)
		}
	}
	if len(bands) < 4 {
		t.Errorf("bands %v", bands)
	}
}

// numberOf returns a number, which DuckDB prints as a text if it is large.
func numberOf(t *testing.T, value any) (f float64) {
	t.Helper()
	if _, err := fmt.Sscan(fmt.Sprint(value), &f); err != nil {
		t.Fatal(err)
	}
	return f
}

var sqlBlock = regexp.MustCompile("(?s)```sql\n(.*?)```")

// guideSQL returns the statements of the guide, for an export of a day.
func guideSQL(t *testing.T, at time.Time) (statements []string) {
	t.Helper()
	for _, g := range docs.Guides() {
		if g.Slug != "get-your-data-out" {
			continue
		}
		for _, match := range sqlBlock.FindAllStringSubmatch(g.Text, -1) {
			statements = append(statements, strings.ReplaceAll(match[1], "2026-01-15", at.Format(time.DateOnly)))
		}
	}
	return statements
}

// program runs statements and prints their rows.
const program = `
const { DuckDBInstance } = require('@duckdb/node-api');
(async () => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const answers = [];
  for (const sql of JSON.parse(require('fs').readFileSync(0))) answers.push((await connection.runAndReadAll(sql)).getRowObjectsJson());
  console.log(JSON.stringify(answers));
})();`

// duckdb runs statements in a directory and returns the rows of each.
func duckdb(t *testing.T, modules, dir string, statements []string) (answers [][]map[string]any) {
	t.Helper()
	input, err := json.Marshal(statements)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "-e", program)
	cmd.Dir, cmd.Stdin, cmd.Env = dir, bytes.NewReader(input), append(os.Environ(), "NODE_PATH="+modules)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	if err := json.Unmarshal(out, &answers); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return answers
}

// addSynthetic stores synthetic patients with their records.
func addSynthetic(t testing.TB, o store.Org, count int, now time.Time) {
	t.Helper()
	generator := synth.Generator{Seed: 2026, Until: now} // those of the demo
	for n := range count {
		invented := generator.Patient(n)
		p := pain.Patient{ID: id.New[id.PatientKind](now), Name: invented.Name, DateOfBirth: pain.DateOf(invented.DateOfBirth), Gender: invented.Gender, CreatedAt: now, Version: 1,
			Contact: pain.Contact{Email: invented.Email, Phone: invented.Phone}, MedicalHistory: historyOf(invented.History)}
		if _, err := o.CreatePatient(t.Context(), &p, storetest.Created(p), nil, idempotency.Outcome{}); err != nil {
			t.Fatal(err)
		}
		var records []pain.Record
		for _, r := range invented.Records {
			value, err := json.Marshal(r.Value)
			if err != nil {
				t.Fatal(err)
			}
			records = append(records, storetest.RecordAt(t, now, p.ID, fmt.Sprintf(`{"data_type":%q,"recorded_at":%q,"value":%s}`, r.Type, r.At.UTC().Format(time.RFC3339), value)))
		}
		if len(records) == 0 {
			continue
		}
		if err := storetest.AddRecordsAt(t.Context(), o, now, p.ID, records...); err != nil {
			t.Fatal(err)
		}
	}
}

func historyOf(conditions []synth.Condition) pain.History {
	entries := make([]pain.HistoryEntry, len(conditions))
	for i, c := range conditions {
		entries[i] = pain.HistoryEntry{Condition: c.Name, ICD10Code: c.ICD10, Status: c.Status, Category: c.Category, OnsetDate: c.Onset}
	}
	return pain.NewHistory(entries...)
}
