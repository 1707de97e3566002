package bench

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/store/pgserver"
	"anodyne.example/anodyne/internal/store/storetest/pgcluster"
	"anodyne.example/anodyne/internal/testneed"
)

// small measures just long enough to see that something was measured: every
// connection sends at least one request per turn.
func small(tb testing.TB) Options {
	return Options{Server: program(tb), Program: program(tb), Engine: SQLite, Dir: tb.TempDir(), Duration: 20 * time.Millisecond, Connections: 4, Patients: 50, Records: 500, Paths: PathNames()}
}

func TestRunMeasuresEveryPath(t *testing.T) {
	testneed.Long(t, "a measurement")
	for _, engine := range Engines {
		if engine == Citus && os.Getenv(CitusVariable) == "" {
			continue // it is measured where there is a cluster
		}
		t.Run(engine, func(t *testing.T) {
			o := small(t)
			o.Engine, o.IdempotencyKey = engine, true
			switch engine {
			case Postgres:
				o.Database, o.Nodes = pgcluster.Database(t, nil), 2
			case SQLiteEncrypted:
				o.Paths, o.Nodes, o.Organizations, o.Records = []string{"get", "post", "mixed", "start"}, 2, 2, 600
			case Citus:
				o.Paths = []string{"get", "post"}
			}
			everyPath(t, o)
		})
	}
}

// everyPath measures for a moment and looks whether everything was.
func everyPath(t *testing.T, o Options) {
	filled := 0
	o.Progress = func(step string, done, total int) {
		if done == total && (step == "patients" || step == "records") {
			filled += total
		}
	}
	o.Note = func(s string) {
		// A node that joins is new, and says so.
		if strings.Contains(s, "server:") && !strings.Contains(s, "no record of sealed heads") {
			t.Errorf("the server worries: %s", s)
		}
	}
	result, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if want := o.Patients + o.Records; filled != want {
		t.Errorf("progress ended at %d of %d", filled, want)
	}
	text, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	var r Result
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range r.Paths {
		names = append(names, p.Name)
		soundPath(t, &p)
	}
	if w := r.Webhook; w != nil {
		names = append(names, webhookPath)
		if w.Deliveries == 0 || w.Rate <= 0 || w.Latency.P50 <= 0 || w.BesideDead.P99 <= 0 || w.Missing != 0 {
			t.Errorf("webhooks were not measured: %+v", w)
		}
	}
	if s := r.Start; s != nil {
		names = append(names, startPath)
		if s.Starts != starts || s.Fastest <= 0 || s.Median < s.Fastest || s.Slowest < s.Median || s.Floor <= 0 {
			t.Errorf("starts were not measured: %+v", s)
		}
	}
	soundNodes(t, &r, &o)
	if !slices.Equal(names, o.Paths) {
		t.Errorf("measured %v, want %v", names, o.Paths)
	}
	if r.Engine != o.Engine || r.Organizations != o.Organizations || r.Patients != 50 || r.Records != o.Records || r.ReadySeconds <= 0 || r.FillSeconds <= 0 || (r.DeepPageCost > 0) != (r.Path("list-deep") != nil) {
		t.Errorf("something of the whole was not measured: %s", text)
	}
	if r.ServerRSS <= 0 || r.ServerPeakRSS < r.ServerRSS || (r.ReadModels > 0) != (r.Path("search") != nil) || r.RSSBound != r.ReadModelsBound+200_000_000 || !r.RSSHeld {
		t.Errorf("memory was not measured: %s", text)
	}
	empty(t, o.Dir)
}

// soundNodes checks that several servers were measured where possible, and
// that the rest is reported as not measured.
func soundNodes(t *testing.T, r *Result, o *Options) {
	t.Helper()
	if left := slices.ContainsFunc(r.Skipped, func(s Skip) bool { return s.Path == "nodes" && s.Reason != "" }); left != (o.Nodes > 1 && o.Engine != Postgres) {
		t.Errorf("left out: %v", r.Skipped)
	}
	if (r.Nodes != nil) != (o.Nodes > 1 && o.Engine == Postgres) {
		t.Errorf("nodes: %+v", r.Nodes)
	}
	if r.Nodes == nil {
		return
	}
	if r.Nodes.Nodes != o.Nodes || len(r.Nodes.Paths) != len(r.Paths) {
		t.Errorf("nodes: %+v", r.Nodes)
	}
	for _, p := range r.Nodes.Paths {
		if p.OneRate <= 0 || p.Rate <= 0 || p.Ratio.Total <= 0 || p.OneLatency.P50 <= 0 || p.Latency.P50 <= 0 || p.Errors > 0 {
			t.Errorf("%s: something was not measured of several nodes: %+v", p.Name, p)
		}
	}
}

// soundPath looks whether the numbers of a path can be.
func soundPath(t *testing.T, p *PathResult) {
	t.Helper()
	if p.Requests == 0 || p.Rate <= 0 || p.FloorRate <= 0 || p.Ratio.Total <= 0 || p.Ratio.Median <= 0 || p.Ratio.Pairs < 1 ||
		p.Latency.P50 <= 0 || p.Latency.P99 < p.Latency.P50 || p.Allocations <= 0 || p.CPU < 0 || p.Bytes == 0 || p.FirstSeconds <= 0 {
		t.Errorf("%s: something was not measured: %+v", p.Name, p)
	}
	if moves := p.Name == "ingest" || p.Name == "range"; (p.RecordRate > 0) != moves || (p.RecordGate > 0) != (p.Name == "ingest") {
		t.Errorf("%s: %.0f records a second, gate %.0f", p.Name, p.RecordRate, p.RecordGate)
	}
	if mixed := p.Name == "mixed"; (p.Reads != nil) != mixed || (p.Writes != nil) != mixed {
		t.Errorf("%s: latencies of reads %v, of writes %v", p.Name, p.Reads, p.Writes)
	}
	if p.Errors != 0 {
		t.Errorf("%s: %d errors, the first: %s", p.Name, p.Errors, p.FirstError)
	}
}

// Nobody names a database, so PostgreSQL is started, and gone afterwards.
func TestRunStartsPostgres(t *testing.T) {
	testneed.Long(t, "PostgreSQL")
	if err := pgserver.Available(); err != nil {
		testneed.Skip(t, err.Error())
	}
	o := small(t)
	if err := os.Chmod(filepath.Dir(o.Dir), 0o755); err != nil { // PostgreSQL runs as another user than root
		t.Fatal(err)
	}
	o.Engine, o.Paths = Postgres, []string{"post"}
	r, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	soundPath(t, r.Path("post"))
	empty(t, o.Dir)
}

// empty checks that nothing is left of the throw-away database.
func empty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
}

func TestRunLeavesAProfile(t *testing.T) {
	o := small(t)
	o.Paths, o.ProfileDir = []string{"get"}, t.TempDir()
	if _, err := Run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(o.ProfileDir, "get.pprof")); err != nil || info.Size() == 0 {
		t.Errorf("no profile: %v", err)
	}
}

func TestRunStopsWhenItsContextEnds(t *testing.T) {
	o := small(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o.Progress = func(_ string, done, total int) {
		if done == total {
			cancel()
		}
	}
	if _, err := Run(ctx, o); err == nil {
		t.Error("no error after the context ended")
	}
	empty(t, o.Dir)
}

// What was measured before an interruption is not lost.
func TestRunKeepsWhatWasMeasured(t *testing.T) {
	o := small(t)
	o.Paths = []string{"list", "list-deep", "get", "search"}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o.Progress = func(step string, done, _ int) {
		if step == "measuring" && done == 2 {
			cancel()
		}
	}
	r, err := Run(ctx, o)
	if err == nil || len(r.Paths) != 2 || !r.Measured() || r.DeepPageCost <= 0 {
		t.Errorf("error %v with %+v", err, r)
	}
	empty(t, o.Dir)
}

func TestRunReportsAServerThatDoesNotStart(t *testing.T) {
	o := small(t)
	o.Server = filepath.Join(o.Dir, "missing")
	if _, err := Run(context.Background(), o); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("error %v, want one that names the program", err)
	}
	empty(t, o.Dir)
}

func TestValidate(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"good":           {func(*Options) {}, ""},
		"no duration":    {func(o *Options) { o.Duration = 0 }, "duration"},
		"too long":       {func(o *Options) { o.Duration = time.Hour }, "duration"},
		"no connections": {func(o *Options) { o.Connections = 0 }, "connections"},
		"no patients":    {func(o *Options) { o.Patients = 0 }, "patients"},
		"many orgs":      {func(o *Options) { o.Organizations = 2 }, "organizations"},
		"orgs' webhooks": {func(o *Options) { o.Organizations, o.Connections, o.Patients = 2, 2, 2 }, "one organization"},
		"minus records":  {func(o *Options) { o.Records = -1 }, "records"},
		"many nodes":     {func(o *Options) { o.Nodes = 17 }, "nodes"},
		"no paths":       {func(o *Options) { o.Paths = nil }, "path"},
		"unknown path":   {func(o *Options) { o.Paths = []string{"gte"} }, `"gte"`},
		"sqlite address": {func(o *Options) { o.Database = "sqlite:precious.db" }, "SQLite"},
		"no postgres":    {func(o *Options) { o.Engine, o.Database = Postgres, "sqlite:precious.db" }, "PostgreSQL"},
		"unknown engine": {func(o *Options) { o.Engine = "mysql" }, `"mysql"`},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Engine: SQLite, Duration: time.Second, Connections: 1, Patients: 1, Paths: PathNames()}
			tt.change(&o)
			err := o.Validate()
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}
