package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/bench"
	"anodyne.example/anodyne/internal/cli"
	"anodyne.example/anodyne/internal/config"
)

func measured() *bench.Report {
	return &bench.Report{Runs: []bench.Result{{Engine: "sqlite", Patients: 10, FillSeconds: 1, DeepPageCost: 1.5, Paths: []bench.PathResult{
		{Name: "get", Title: "GET patient", Rate: 400, FloorRate: 1000, Ratio: bench.Ratio{Total: 0.4}, Gate: 0.45},
		{Name: "search", Title: "search", FirstSeconds: 0.25, Rate: 500, FloorRate: 1000, Ratio: bench.Ratio{Total: 0.5}, GateMet: true},
	}}}}
}

func TestBenchOutput(t *testing.T) {
	dir := t.TempDir()
	inJSON, inMarkdown := filepath.Join(dir, "result.json"), filepath.Join(dir, "result.md")
	isJSON := func(text []byte) bool { return json.Valid(text) }
	isMarkdown := func(text []byte) bool { return bytes.Contains(text, []byte("| GET patient | 400 | 1,000 | 0.400 |")) }
	isTable := func(text []byte) bool { return bytes.Contains(text, []byte("PATH")) }
	for name, tt := range map[string]struct {
		json, markdown string
		printed        func([]byte) bool
	}{
		"table":           {"", "", isTable},
		"JSON":            {"-", "", isJSON},
		"Markdown":        {"", "-", isMarkdown},
		"table and files": {inJSON, inMarkdown, isTable},
		"JSON and a file": {"-", inMarkdown, isJSON},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			b := commandLine{json: tt.json, markdown: tt.markdown}
			if err := b.write(&out, measured()); err != nil {
				t.Fatal(err)
			}
			kinds := 0
			for _, is := range []func([]byte) bool{isJSON, isMarkdown, isTable} {
				if is(out.Bytes()) {
					kinds++
				}
			}
			if !tt.printed(out.Bytes()) || kinds != 1 {
				t.Errorf("printed something else, or more than one thing:\n%s", &out)
			}
			for file, is := range map[string]func([]byte) bool{inJSON: isJSON, inMarkdown: isMarkdown} {
				text, err := os.ReadFile(file)
				if wanted := file == tt.json || file == tt.markdown; wanted != (err == nil) || wanted && !is(text) {
					t.Errorf("%s: %v, %s", file, err, text)
				}
				_ = os.Remove(file)
			}
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
	r.Runs[0].Paths[0].GateMet = true
	if err := judge(r, true); err != nil {
		t.Errorf("met gates fail: %v", err)
	}
	r.Runs[0].Paths[1].Errors = 1
	if judge(r, false) == nil {
		t.Error("wrong answers do not fail")
	}
}

func TestBenchRefusesWhatItCannotMeasure(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"engine":             {[]string{"--engine", "mysql"}, `"mysql"`},
		"database of sqlite": {[]string{"--database", "sqlite:precious.db"}, "SQLite"},
		"not postgres":       {[]string{"--engine", "postgres", "--database", "sqlite:precious.db"}, "PostgreSQL"},
		"one for all":        {[]string{"--engine", "sqlite,postgres", "--database", "postgres://localhost/x"}, "--database"},
		"one for all sizes":  {[]string{"--engine", "postgres", "--grow", "1,2", "--database", "postgres://localhost/x"}, "--database"},
		"grow to nothing":    {[]string{"--grow", "10,many"}, `"many"`},
		"plot of one size":   {[]string{"--plot", "x.svg"}, "--grow"},
		"two on one stream":  {[]string{"--json", "-", "--markdown", "-"}, "--markdown"},
		"compare nothing":    {[]string{"compare", "missing.json", "missing.json"}, "missing.json"},
		"compare others":     {[]string{"compare", "main.go", "main.go"}, "no file of a bench"},
		"path":               {[]string{"--paths", "gte"}, `"gte"`},
		"no server":          {[]string{"--server", "missing/anodyne"}, "missing/anodyne"},
		"none beside it":     {nil, "make build"},
		"another program":    {[]string{"--server", "echo"}, "is no anodyne server"},
		"server of a target": {[]string{"--target", "http://127.0.0.1:1", "--clients", "testdata/clients.json", "--server", "anodyne"}, "a target has its program"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			e := cli.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Lookup: func(string) (string, bool) { return "", false }}
			if code := cli.Run(t.Context(), program, e, tt.args, benchmark); code != cli.ExitFailed || !strings.HasPrefix(out.String(), "anodyne-bench: ") || !strings.Contains(out.String(), tt.want) {
				t.Errorf("exit code %d and %q, want %q", code, &out, tt.want)
			}
		})
	}
}

// Records grow with the patients.
func TestBenchRunsEveryEngineAtEverySize(t *testing.T) {
	b := commandLine{engines: config.List{"sqlite", "postgres"}, grow: config.List{"50", "5000"}, paths: config.List{"get"}}
	b.Patients, b.Records = 1000, 3000
	runs, err := b.runs()
	if err != nil || len(runs) != 4 {
		t.Fatal(runs, err)
	}
	for i, want := range []struct {
		engine            string
		patients, records int
	}{{"sqlite", 50, 150}, {"sqlite", 5000, 15_000}, {"postgres", 50, 150}, {"postgres", 5000, 15_000}} {
		if o := runs[i]; o.Engine != want.engine || o.Patients != want.patients || o.Records != want.records || len(o.Paths) != 1 {
			t.Errorf("run %d is %+v, want %+v", i, o, want)
		}
	}
}
