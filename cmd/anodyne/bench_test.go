package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anodyne/internal/bench"
)

func measured() bench.Result {
	return bench.Result{Engine: "sqlite", Patients: 10, FillSeconds: 1, DeepPageCost: 1.5, Paths: []bench.PathResult{
		{Name: "get", Title: "GET patient", Rate: 400, FloorRate: 1000, Ratio: bench.Ratio{Total: 0.4}, Gate: 0.45},
		{Name: "search", Title: "search", FirstSeconds: 0.25, Rate: 500, FloorRate: 1000, Ratio: bench.Ratio{Total: 0.5}, GateMet: true},
	}}
}

func TestBenchOutput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "result.json")
	for name, tt := range map[string]struct {
		flag        string
		table, json bool
		file        bool
	}{
		"table":          {table: true},
		"JSON":           {flag: "true", json: true},
		"table and file": {flag: file, table: true, file: true},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := (&jsonOutput{tt.flag}).write(&out, measured()); err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(out.String(), "0.45 not met"); got != tt.table {
				t.Errorf("table is %v, want %v:\n%s", got, tt.table, &out)
			}
			if got := json.Valid(out.Bytes()); got != tt.json {
				t.Errorf("JSON is %v, want %v:\n%s", got, tt.json, &out)
			}
			text, err := os.ReadFile(file)
			if tt.file != (err == nil && json.Valid(text)) {
				t.Errorf("file: %v, %s", err, text)
			}
			_ = os.Remove(file)
		})
	}
}

func TestBenchFailsOnErrorsAndOnGatesWhenAsked(t *testing.T) {
	r := measured()
	if err := judge(r, false); err != nil {
		t.Errorf("a missed gate fails without --gate: %v", err)
	}
	if judge(r, true) == nil {
		t.Error("a missed gate does not fail with --gate")
	}
	r.Paths[0].GateMet = true
	if err := judge(r, true); err != nil {
		t.Errorf("met gates fail: %v", err)
	}
	r.Paths[1].Errors = 1
	if judge(r, false) == nil {
		t.Error("wrong answers do not fail")
	}
}

func TestBenchRefusesWhatItCannotMeasure(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"engine":              {[]string{"--engine", "mysql"}, "--engine"},
		"postgres, nowhere":   {[]string{"--engine", "postgres"}, "--database"},
		"database of sqlite":  {[]string{"--database", "sqlite:precious.db"}, "--database"},
		"not postgres at all": {[]string{"--engine", "postgres", "--database", "sqlite:precious.db"}, "PostgreSQL"},
		"path":                {[]string{"--paths", "gte"}, `"gte"`},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			e := env{&out, &out, func(string) (string, bool) { return "", false }}
			if code := run(context.Background(), append([]string{"bench"}, tt.args...), e); code != exitFailed || !strings.Contains(out.String(), tt.want) {
				t.Errorf("exit code %d and %q, want %q", code, &out, tt.want)
			}
		})
	}
}
