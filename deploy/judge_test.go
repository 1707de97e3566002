package deploy

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"anodyne.example/anodyne/internal/testneed"
)

const rulesFile = "prometheus/alerts.yml"

// daysTests are the tests of rules that take days, in larger steps.
const daysTests = "prometheus/alerts_days_test.yml"

// rulesTests are the rules' own tests.
var rulesTests = []string{"prometheus/alerts_test.yml", daysTests}

// rule is one alert.
type rule struct {
	Alert, Expr string
	// whole is the complete rule as in the file.
	whole yaml.Node
}

func (r *rule) UnmarshalYAML(node *yaml.Node) error {
	type plain rule // without this method
	if err := node.Decode((*plain)(r)); err != nil {
		return err
	}
	r.whole = *node
	return nil
}

// rules reads the alerts.
func rules(t *testing.T) []rule {
	t.Helper()
	text, err := os.ReadFile(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Groups []struct{ Rules []rule } }
	if err := yaml.Unmarshal(text, &file); err != nil || len(file.Groups) != 1 {
		t.Fatalf("%d groups, %v", len(file.Groups), err)
	}
	return file.Groups[0].Rules
}

func ruleOf(t *testing.T, name string) rule {
	t.Helper()
	for _, r := range rules(t) {
		if r.Alert == name {
			return r
		}
	}
	t.Fatalf("there is no alert %s", name)
	return rule{}
}

// promtool runs promtool, where there is one.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	tool, err := exec.LookPath("promtool")
	if err != nil {
		testneed.Skip(t, "promtool is not installed (Debian package prometheus)")
	}
	if out, err := exec.Command(tool, args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// course is how a trial's series go on: as they are before the fault for lead,
// and after it for hold.
type course struct {
	lead, hold time.Duration
	// ongoing makes counters grow by as much every minute as the fault moved
	// them; otherwise they keep what they have.
	ongoing bool
}

// judge lets promtool evaluate the rule on the scrapes of a trial: it must not
// fire before the fault, and fire after it.
func judge(t *testing.T, r rule, c course, before, after scrape, at time.Time) {
	t.Helper()
	testneed.Long(t, "evaluating each alert with promtool")
	minutes := func(d time.Duration) int { return int(d / time.Minute) }
	names := metric.FindAllString(r.Expr, -1)
	if strings.Contains(r.Expr, "up{") {
		names = append(names, "up")
	}
	var lines []string
	for _, series := range slices.Sorted(maps.Keys(after)) {
		name, _, _ := strings.Cut(series, "{")
		if !slices.Contains(names, name) {
			continue
		}
		was, there := before[series]
		is := after[series]
		if strings.HasSuffix(name, "_timestamp_seconds") {
			was, is = rebase(was, at, c.lead), rebase(is, at, c.lead)
		}
		first := fmt.Sprintf("%sx%d", number(was), minutes(c.lead)-1)
		switch {
		case !there:
			first = fmt.Sprintf("_x%d", minutes(c.lead)-1)
		case name == "anodyne_worker_last_success_timestamp_seconds":
			first = fmt.Sprintf("0+60x%d", minutes(c.lead)-1) // a worker that works
		}
		then := fmt.Sprintf("%sx%d", number(is), minutes(c.hold))
		if c.ongoing && isCounter(name) && is > was {
			then = fmt.Sprintf("%s+%sx%d", number(is), number(is-was), minutes(c.hold))
		}
		lines = append(lines, fmt.Sprintf("      - {series: '%s', values: '%s %s'}", strings.Replace(series, "{", `{instance="a",`, 1), first, then))
	}
	judgeSeries(t, r, lines, minutes(c.lead)-1, minutes(c.lead+c.hold))
}

// judgeSeries expects the rule not to fire at one minute, and to fire at
// another.
func judgeSeries(t *testing.T, r rule, lines []string, quiet, firing int) {
	t.Helper()
	// It is evaluated every minute of the course, and the others would be too.
	alone, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "anodyne", "rules": []*yaml.Node{&r.whole}}}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "rule.yml"), alone, 0o600); err != nil {
		t.Fatal(err)
	}
	fires := fmt.Sprintf(`(count(ALERTS{alertname="%s", alertstate="firing"}) or vector(0)) > bool 0`, r.Alert)
	text := fmt.Sprintf(`rule_files: [rule.yml]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
%s
    promql_expr_test:
      - {expr: '%s', eval_time: %dm, exp_samples: [{labels: '{}', value: 0}]}
      - {expr: '%s', eval_time: %dm, exp_samples: [{labels: '{}', value: 1}]}
`, strings.Join(lines, "\n"), fires, quiet, fires, firing)
	path := filepath.Join(dir, "test.yml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "test", "rules", path)
	if t.Failed() {
		for _, line := range lines {
			if !strings.Contains(line, "'0x") || !strings.Contains(line, " 0x") { // zeros say nothing
				t.Log(line)
			}
		}
	}
}

// rebase converts a time to the time of a test, which begins at 0 and has the
// fault after lead. 0 means none.
func rebase(moment float64, at time.Time, lead time.Duration) float64 {
	if moment == 0 {
		return 0
	}
	return moment - float64(at.Unix()) + lead.Seconds()
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func isCounter(name string) bool {
	for _, suffix := range []string{"_total", "_bucket", "_count", "_sum"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}
