package deploy

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testneed"
	"anodyne.example/anodyne/internal/testwait"
)

// trial causes the fault behind an alert.
type trial struct {
	engine string
	course course
	// fault causes it in a healthy server.
	fault func(n *node)
	// shows reports whether the metrics have changed.
	shows func(before, now scrape) bool
	// only, if set, selects the series that the rule is evaluated on.
	only string
}

// trials has one for each alert.
var trials = map[string]trial{
	"AnodyneDown":          {fault: (*node).stop, shows: at(`up{job="anodyne"}`, func(v float64) bool { return v == 0 })},
	"AnodyneInternalError": {fault: breakTable, shows: moved("anodyne_http_requests_total", `status="500"`)},
	"AnodyneUnavailable": {engine: storetest.Postgres, course: course{hold: 40 * time.Minute, ongoing: true},
		fault: lockTable, shows: moved("anodyne_http_requests_total", `status="503"`)},
	"AnodyneSlow": {engine: storetest.Postgres, course: course{hold: 40 * time.Minute, ongoing: true},
		fault: lockTable, shows: moved("anodyne_http_request_seconds_bucket", `route="GET /v1/patients",le="+Inf"`)},
	"AnodyneWritesWait": {course: course{hold: 40 * time.Minute, ongoing: true}, fault: lockFile, shows: slowWrite},
	"AnodyneWorkerStalled": {fault: func(n *node) { n.exec(`ALTER TABLE journal_seal RENAME TO away`) },
		shows: moved("anodyne_worker_rounds_total", `result="error",worker="sealer"`), only: `worker="sealer"`},
	"AnodyneOrganizationsFailing": {engine: storetest.Postgres, fault: stopSequencer,
		shows: at(`anodyne_worker_failing_organizations{worker="sequencer",job="anodyne"}`, func(v float64) bool { return v > 0 }), only: `worker="sequencer"`},
	"AnodyneNodeAlone":      {engine: storetest.Postgres, fault: func(n *node) { n.exec(`ALTER TABLE leader RENAME TO away`) }, shows: isAlone, only: `duty="alone"`},
	"AnodyneSequencerStuck": {engine: storetest.Postgres, fault: stopSequencer, shows: over("anodyne_journal_oldest_pending_seconds", 60)},
	"AnodyneSealerStuck":    {fault: makeHole, shows: over("anodyne_journal_oldest_unsealed_seconds", 300)},
	"AnodyneSealBroken":     {fault: func(n *node) { n.sealed(); n.exec(`DELETE FROM journal_seal`) }, shows: over("anodyne_audit_seal_broken", 0)},
	"AnodyneWitnessLost":    {fault: loseWitness, shows: witnessLost},
	"AnodyneSpoolStuck":     {fault: stopShipping, shows: over("anodyne_spool_oldest_seconds", 300)},
	"AnodyneBackupOld": {course: course{lead: 96 * time.Hour, hold: 10 * time.Minute}, fault: func(n *node) {
		if err := n.server.Store().System().RecordBackup(n.t.Context(), time.Now().Add(-48*time.Hour)); err != nil {
			n.t.Fatal(err)
		}
	}, shows: over("anodyne_backup_last_success_timestamp_seconds", 0)},
	"AnodyneNoBackup": {course: course{hold: 37 * time.Hour}, fault: func(*node) {}, // a new database has none
		shows: at(`anodyne_backup_last_success_timestamp_seconds{job="anodyne"}`, func(v float64) bool { return v == 0 })},
	"AnodyneDiskFilling": {fault: fillDisk, shows: fullDisk, only: `volume="data"`},
	"AnodyneDiskFull":    {fault: fillDisk, shows: fullDisk, only: `volume="data"`},
	"AnodyneWebhooksLate": {fault: func(n *node) { n.receiver(http.StatusBadGateway); n.agePending() },
		shows: over("anodyne_webhook_oldest_undelivered_seconds", 6*3600)},
	"AnodyneWebhookDisabled": {fault: func(n *node) { n.receiver(http.StatusGone) }, shows: moved("anodyne_webhook_disables_total", "")},
	"AnodyneGuessing":        {course: course{hold: 40 * time.Minute, ongoing: true}, fault: guess, shows: by("anodyne_http_bad_credentials_total", 150)},
	"AnodyneCohortsRefuse":   {course: course{hold: 40 * time.Minute, ongoing: true}, fault: refuseSearches, shows: by("anodyne_cohort_refused_total", 20)},
	"AnodyneCohortsThrash":   {course: course{hold: 40 * time.Minute, ongoing: true}, fault: loadMany, shows: by("anodyne_cohort_loads_total", 10)},
}

// Alerts about processes, which have their own tests below, and about a Citus
// cluster, which e2e tests.
var ofProcesses = []string{"AnodyneFilesRunOut", "AnodyneRestarts", "AnodyneStoreWorkersDown"}

// TestAlertsFire causes the fault behind each alert in a running server, checks
// that its metrics change, and lets promtool evaluate the rule on them.
func TestAlertsFire(t *testing.T) {
	t.Parallel()
	tried := map[string]bool{}
	for _, name := range ofProcesses {
		tried[name] = true
	}
	for _, r := range rules(t) {
		trial, ok := trials[r.Alert]
		if !ok {
			if !tried[r.Alert] {
				t.Errorf("no test causes the fault of %s", r.Alert)
			}
			continue
		}
		tried[r.Alert] = true
		t.Run(r.Alert, func(t *testing.T) {
			t.Parallel()
			testneed.Long(t, "causing a fault in a running node")
			trial.run(t, r)
		})
	}
	for name := range trials {
		if !tried[name] {
			t.Errorf("there is no alert %s", name)
		}
	}
}

func (tr trial) run(t *testing.T, r rule) {
	engine := tr.engine
	if engine == "" {
		engine = storetest.SQLite
	}
	dir := ""
	if strings.HasPrefix(r.Alert, "AnodyneDisk") {
		dir = storetest.Tmpfs(t, "64m")
		storetest.PutKeys(t, dir)
	}
	n := newNode(t, engine, dir)
	before, _ := n.eventually(nil, func(_, now scrape) bool { return !isAlone(now, now) }) // until a node is elected
	tr.fault(n)
	after, when := n.eventually(before, tr.shows)
	c := tr.course
	if c.lead == 0 {
		c.lead = 10 * time.Minute
	}
	if c.hold == 0 {
		c.hold = 12 * time.Minute
	}
	if tr.only != "" {
		for series := range after {
			if !strings.Contains(series, tr.only) {
				delete(after, series)
			}
		}
	}
	judge(t, r, c, before, after, when)
}

// eventually scrapes until the metrics show what is expected.
func (n *node) eventually(before scrape, shows func(before, now scrape) bool) (scrape, time.Time) {
	n.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for patience := time.After(testwait.Bound); ; {
		now, when := n.look()
		if shows(before, now) {
			return now, when
		}
		select {
		case <-tick.C:
		case <-patience:
			n.t.Fatal("the metrics do not show the fault")
		}
	}
}

// moved expects a series that was there before to have grown.
func moved(name, labels string) func(before, now scrape) bool {
	return func(before, now scrape) bool {
		for series, v := range now {
			was, there := before[series]
			if strings.HasPrefix(series, name+"{") && strings.Contains(series, labels) && there && v > was {
				return true
			}
		}
		return false
	}
}

// by expects all series of a metric together to have grown so much.
func by(name string, least float64) func(before, now scrape) bool {
	return func(before, now scrape) bool {
		sum := 0.0
		for series, v := range now {
			if strings.HasPrefix(series, name+"{") {
				sum += v - before[series]
			}
		}
		return sum >= least
	}
}

func over(name string, bound float64) func(before, now scrape) bool {
	return at(name+`{job="anodyne"}`, func(v float64) bool { return v > bound })
}

func at(series string, is func(float64) bool) func(before, now scrape) bool {
	return func(before, now scrape) bool {
		v, there := now[series]
		_, was := before[series]
		return there && was && is(v)
	}
}

// isAlone reports whether the node receives no notifications from an elected one.
var isAlone = at(`anodyne_node_duty{duty="alone",job="anodyne"}`, func(v float64) bool { return v == 1 })

// A process that has nearly used up its files.
func TestFilesRunOut(t *testing.T) {
	t.Parallel()
	n, end := newProcess(t, storetest.Database(t, storetest.SQLite).Database, 120)
	defer end()
	before, _ := n.look()
	address := strings.TrimPrefix(n.url, "http://")
	for range 80 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	after, when := n.eventually(before, func(_, now scrape) bool {
		return now[`process_open_fds{job="anodyne"}`]/now[`process_max_fds{job="anodyne"}`] > 0.8
	})
	judge(t, ruleOf(t, "AnodyneFilesRunOut"), course{lead: 10 * time.Minute, hold: 10 * time.Minute}, before, after, when)
}

// A process that starts again and again. The rule is about changes, so each
// start is a step of the series.
func TestRestarts(t *testing.T) {
	t.Parallel()
	const series = `process_start_time_seconds{job="anodyne"}`
	database := storetest.Database(t, storetest.SQLite).Database
	var values []string
	seen := map[float64]bool{}
	for range 4 {
		n, end := newProcess(t, database, 1024)
		now, _ := n.look()
		end()
		seen[now[series]] = true
		values = append(values, fmt.Sprintf("%sx2", number(now[series])))
	}
	if len(seen) != 4 {
		t.Fatalf("%d times of start in four processes", len(seen))
	}
	judgeSeries(t, ruleOf(t, "AnodyneRestarts"), []string{fmt.Sprintf("      - {series: '%s', values: '%s'}", series, strings.Join(values, " "))}, 2, 11)
}

// TestRules runs the rules' own tests, which must have one for each alert.
func TestRules(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, name := range rulesTests {
		part, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(part)
	}
	operations, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules(t) {
		if !strings.Contains(text.String(), "alertname: "+r.Alert+"\n") {
			t.Errorf("%q expect no %s", rulesTests, r.Alert)
		}
		if !strings.Contains(string(operations), "`"+r.Alert+"`") {
			t.Errorf("docs/operations.md does not say what to do about %s", r.Alert)
		}
	}
	promtool(t, "check", "rules", rulesFile)
	promtool(t, append([]string{"test", "rules"}, rulesTests...)...)
}

var statusAsked = regexp.MustCompile(`status="(\d+)"`)

// A counter that appears with its first value has not increased, so what rules
// count by status is exported from the start, for every route.
func TestCountersBeginAtZero(t *testing.T) {
	t.Parallel()
	n := newNode(t, storetest.SQLite, "")
	begin, _ := n.look()
	routes := map[string]bool{}
	for series := range begin {
		if strings.HasPrefix(series, "anodyne_http_request_seconds_count{") {
			routes[series[len("anodyne_http_request_seconds_count{"):strings.Index(series, ",job=")]] = true
		}
	}
	if len(routes) < 40 {
		t.Fatalf("%d routes", len(routes))
	}
	for _, r := range rules(t) {
		for _, asked := range statusAsked.FindAllStringSubmatch(r.Expr, -1) {
			for route := range routes {
				if _, there := begin[fmt.Sprintf(`anodyne_http_requests_total{%s,%s,job="anodyne"}`, route, asked[0])]; !there {
					t.Errorf("%s asks for %s, which %s does not export from the start", r.Alert, asked[0], route)
				}
			}
		}
	}
}
