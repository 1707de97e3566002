package tables

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/bench"
)

// report is of one run on each of three engines, with something of everything.
func report() *bench.Report {
	var r bench.Report
	for i, engine := range []string{bench.SQLite, bench.SQLiteEncrypted, bench.Postgres} {
		scale := float64(i + 1)
		r.Runs = append(r.Runs, bench.Result{
			Version: "v1", StartedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Go: "go1", OS: "linux", Arch: "amd64", CPUs: 2, Engine: engine,
			Patients: 10_000, Records: 100_000, Connections: 64, PathSeconds: 5, FillSeconds: 1.5, ReadySeconds: 0.02 * scale, DeepPageCost: 1.01,
			ServerRSS: 100 << 20, ServerPeakRSS: 120 << 20, ReadModels: 3 << 20, ReadModelsBound: 1 << 30, RSSBound: 1<<30 + 200_000_000, RSSHeld: true,
			Start:   &bench.StartResult{Starts: 5, Median: 20 * scale, Fastest: 19, Slowest: 99, Floor: 7, Gate: 300, GateMet: true},
			Webhook: &bench.WebhookResult{Deliveries: 1234, Rate: 5678, RateGate: 3000, P50Gate: 20, Latency: bench.Latency{P50: 1.5, P95: 2, P99: 3}, GateMet: true},
			Nodes: &bench.NodesResult{Nodes: 3, Paths: []bench.NodesPath{{Name: "get", Title: "GET patient", OneRate: 1000, Rate: 2500, Ratio: bench.Ratio{Total: 2.5},
				OneLatency: bench.Latency{P50: 1, P95: 2, P99: 3}, Latency: bench.Latency{P50: 4, P95: 5, P99: 6}}}},
			Skipped: []bench.Skip{{Path: "nodes", Reason: "one | two"}},
			Paths: []bench.PathResult{
				{Name: "get", Title: "GET patient", Requests: 100, Rate: 27_735.4 / scale, FloorRate: 51_038, Ratio: bench.Ratio{Total: 0.5434 / scale, Median: 0.5, Q1: 0.4, Q3: 0.6, Pairs: 10},
					Latency: bench.Latency{P50: 2.214 * scale, P95: 5, P99: 12.34}, CPU: 31.7 * scale, DatabaseCPU: 52.1 * scale, Allocations: 57.2, Gate: 0.45, GateMet: i == 0, Bytes: 300, FirstSeconds: 0.001},
				{Name: "mixed", Title: "mixed", Rate: 12.34, Allocations: 12, Latency: bench.Latency{P50: 1.25, P95: 2.5, P99: 33}, FloorRate: 99, Ratio: bench.Ratio{Total: 0.125}, CPU: 45_600, DatabaseCPU: 1_200, GateMet: true,
					Reads: &bench.Latency{P50: 1, P95: 2, P99: 3}, Writes: &bench.Latency{P50: 4, P95: 5, P99: 6}},
				{Name: "token", Title: "POST /oauth/token", Rate: 4321, RateGate: 10_000, Errors: 3, FirstError: "status 500 instead of 200"},
				{Name: "ingest", Title: "POST 100 records", Rate: 500, RecordRate: 50_000, RecordGate: 15_000, GateMet: true},
			},
		})
	}
	return &r
}

func TestJSONComesBackAsItWas(t *testing.T) {
	want := report()
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := bench.ReadReport(file)
	if err != nil || !reflect.DeepEqual(&got, want) {
		t.Errorf("%v: got %+v, want %+v", err, got, want)
	}
	if err := os.WriteFile(file, []byte(`{"openapi":"3.1.0"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := bench.ReadReport(file); err == nil {
		t.Error("another program's JSON is taken for a report")
	}
}

// parse reads the tables of a Markdown text: heading, then rows by their first
// cell and their number of cells.
func parse(t *testing.T, text string) map[string]map[string][]string {
	t.Helper()
	sections := map[string]map[string][]string{}
	var section map[string][]string
	columns := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if heading, ok := strings.CutPrefix(line, "### "); ok {
			section = map[string][]string{}
			sections[heading] = section
		}
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		cells := strings.Split(strings.ReplaceAll(strings.Trim(line, "|"), `\|`, "\x00"), "|")
		for i := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(cells[i]), "\x00", "|")
		}
		if columns == 0 {
			columns = len(cells)
		} else if len(cells) != columns {
			t.Errorf("%d cells under %d: %s", len(cells), columns, line)
		}
		section[fmt.Sprintf("%s/%d", cells[0], len(cells))] = cells
	}
	return sections
}

// number reads a cell back, in the unit that is measured in.
func number(t *testing.T, cell string) float64 {
	t.Helper()
	digits, unit, _ := strings.Cut(cell, " ")
	f, err := strconv.ParseFloat(strings.ReplaceAll(digits, ",", ""), 64)
	if err != nil {
		t.Fatalf("%q is no number", cell)
	}
	if unit == "µs" {
		f /= 1000
	}
	return f
}

func TestMarkdownHoldsTheNumbers(t *testing.T) {
	r := report()
	var out bytes.Buffer
	if err := Markdown(&out, r); err != nil {
		t.Fatal(err)
	}
	sections := parse(t, out.String())
	for i := range r.Runs {
		run := &r.Runs[i]
		section := sections[title(run)]
		for _, p := range run.Paths[:2] {
			cells := section[p.Title+"/11"]
			if cells == nil {
				t.Fatalf("%s: %q in\n%s", p.Title, cells, &out)
			}
			for column, want := range map[int]float64{1: p.Rate, 2: p.FloorRate, 3: p.Ratio.Total, 5: p.Latency.P50, 6: p.Latency.P95, 7: p.Latency.P99, 8: p.CPU / 1000, 9: p.DatabaseCPU / 1000, 10: p.Allocations} {
				if got := number(t, cells[column]); math.Abs(got-want) > 0.02*want {
					t.Errorf("%s, %s: %q, want %v", title(run), p.Title, cells[column], want)
				}
			}
		}
		if got := section["GET patient/11"][4]; got != map[bool]string{true: "0.45 met", false: "0.45 not met"}[i == 0] {
			t.Errorf("gate %q", got)
		}
		if got := section["POST 100 records/2"]; got == nil || !strings.Contains(strings.Join(got, " "), "50,000 records a second") {
			t.Errorf("records: %q", got)
		}
		if got, n := sections["3 nodes on one PostgreSQL"]["GET patient/8"], &run.Nodes.Paths[0]; got == nil || number(t, got[1]) != n.OneRate || number(t, got[4]) != n.Rate || math.Abs(number(t, got[7])-n.Ratio.Total) > 0.006 {
			t.Errorf("nodes: %q", got)
		}
		if got := section["not measured/2"]; got == nil || got[1] != "nodes: one | two" {
			t.Errorf("what was left out: %q", got)
		}
	}
}

func TestTextTellsTheSame(t *testing.T) {
	r := report()
	var out bytes.Buffer
	if err := Text(&out, &r.Runs[1]); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"SQLite, encrypted, 10,000 patients", "0.45 not met", "10,000/s not met", "status 500", "median of 5 starts", "reads p50 1.00 ms", "1,024 MiB: met", "nodes: one", "3 servers on one database"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("there is no %q in\n%s", want, &out)
		}
	}
	r.Runs[1].RSSHeld, r.Runs[1].Interrupted = false, true
	out.Reset()
	if err := Text(&out, &r.Runs[1]); err != nil || !strings.Contains(out.String(), "NOT met") || !strings.Contains(out.String(), "interrupted") {
		t.Errorf("%v:\n%s", err, &out)
	}
}

func TestCompare(t *testing.T) {
	old, new := report(), report()
	for i := range new.Runs {
		new.Runs[i].Paths[0].Rate *= 2
		new.Runs[i].Paths[0].Ratio.Total *= 1.5
		new.Runs[i].Paths[0].CPU /= 4
		new.Runs[i].Paths = new.Runs[i].Paths[:1]
	}
	new.Runs = new.Runs[1:]
	var out bytes.Buffer
	if err := Compare(&out, old, new); err != nil {
		t.Fatal(err)
	}
	lines := 0
	for line := range strings.Lines(out.String()) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "GET patient"); ok {
			lines++
			if f := strings.Join(strings.Fields(rest), " "); !strings.Contains(f, " 2.00 ") || !strings.Contains(f, " 1.50 ") || !strings.Contains(f, " 0.25 ") {
				t.Errorf("ratios are missing in %q", f)
			}
		}
		if strings.Contains(line, "mixed") {
			t.Errorf("a path that only one has: %s", line)
		}
	}
	if lines != 2 {
		t.Errorf("%d runs compared, want 2:\n%s", lines, &out)
	}
	new.Runs[0].Patients, new.Runs[1].Connections = 1, 1
	if err := Compare(&out, old, new); err == nil {
		t.Error("no error although nothing is alike")
	}
}

// grown is one engine at several sizes.
func grown() *bench.Report {
	var r bench.Report
	for _, patients := range []int{100_000, 1_000, 10_000} {
		run := report().Runs[0]
		run.Patients = patients
		run.Paths[0].CPU = 30
		run.Paths[1].CPU = float64(patients)
		r.Runs = append(r.Runs, run)
	}
	return &r
}

func TestGrowthTableAndPlot(t *testing.T) {
	if GrowthSVG(report()) != nil {
		t.Error("a plot of one size")
	}
	r := grown()
	var out bytes.Buffer
	if err := Markdown(&out, r); err != nil {
		t.Fatal(err)
	}
	section := parse(t, out.String())["SQLite, from 1,000 to 100,000 patients"]
	if got := strings.Join(section["mixed/5"], ";"); got != "mixed;1,000 µs (0.125);10.0 ms (0.125);100.0 ms (0.125);100.00" {
		t.Errorf("growth of mixed: %q in\n%s", got, &out)
	}
	if got := section["GET patient/5"]; got == nil || got[4] != "1.00" {
		t.Errorf("growth of get: %q", got)
	}

	c := Growth(r)
	if len(c.Lines) != 2 { // the others have no processor time
		t.Fatalf("lines %+v", c.Lines)
	}
	for i, p := range c.Lines[1].Points {
		if p.Size != p.Cost || i > 0 && p.Size <= c.Lines[1].Points[i-1].Size {
			t.Errorf("point %d: %+v", i, p)
		}
	}
	svg := GrowthSVG(r)
	decoder, elements := xml.NewDecoder(bytes.NewReader(svg)), 0
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		if start, ok := token.(xml.StartElement); ok {
			if elements++; elements == 1 && start.Name.Local != "svg" {
				t.Errorf("it is a %s", start.Name.Local)
			}
		}
	}
	for _, want := range []string{"GET patient", "100,000", "patients"} {
		if !bytes.Contains(svg, []byte(">"+want+"<")) {
			t.Errorf("the plot does not say %q", want)
		}
	}
}
