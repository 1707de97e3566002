package fhir

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/synth"
)

// TestSyntheticPatients validates what synthetic patients become. If
// ANODYNE_TEST_FHIR_JUDGE is the path of a program that validates a file of
// resources, it does so too, which covers the profiles of US Core.
func TestSyntheticPatients(t *testing.T) {
	var m Mapping
	var lines bytes.Buffer
	write := func(list []Resource, err error) {
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			lines.Write(append(r.JSON, '\n'))
			if readers[r.Type] == nil {
				continue
			}
			if issues := validate(parse(t, string(r.JSON)), r.Type); len(issues) > 0 {
				t.Fatalf("%v in %s", issues, r.JSON)
			}
		}
	}
	write(m.Questionnaires(), nil)
	for _, body := range clinicalBodies {
		rec := newRecord(t, body)
		for _, status := range pain.Statuses() {
			rec.Status = status
			write(m.Record(&rec, Version{Number: 2, LastUpdated: testNow}))
			write(m.As(medicationStatement).Record(&rec, Version{Number: 2, LastUpdated: testNow}))
		}
	}
	until := time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC)
	for n := range 12 {
		for _, r := range (synth.Generator{Seed: 1, Until: until}).Patient(n).Records {
			body, err := json.Marshal(map[string]any{"data_type": r.Type, "recorded_at": r.At, "source": r.Source, "value": r.Value})
			if err != nil {
				t.Fatal(err)
			}
			rec := newRecord(t, string(body))
			write(m.Record(&rec, Version{Number: 1, LastUpdated: testNow}))
		}
	}
	judge := os.Getenv("ANODYNE_TEST_FHIR_JUDGE")
	if judge == "" {
		return
	}
	file := filepath.Join(t.TempDir(), "all.ndjson")
	if err := os.WriteFile(file, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), judge, file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	} else {
		t.Logf("%s", out)
	}
}
