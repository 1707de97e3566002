package deploy

import (
	"encoding/json"
	"flag"
	"regexp"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/config"
)

// defaults are the settings of a server without flags.
func defaults(t *testing.T) config.Config {
	t.Helper()
	var cfg config.Config
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	cfg.Serve(flags)
	if err := flags.Parse(nil); err != nil {
		t.Fatal(err)
	}
	return cfg
}

var (
	stage   = regexp.MustCompile(`(?m)^FROM (?:--\S+ )*(\S+)(?: AS (\S+))?$`)
	pinned  = regexp.MustCompile(`^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$`)
	healthy = regexp.MustCompile(`(?m)^HEALTHCHECK (.*)CMD (\[.*\])$`)
	option  = regexp.MustCompile(`--([a-z-]+)=(\S+)`)
)

// The image is built from components pinned by digest, and has a health check.
func TestImage(t *testing.T) {
	t.Parallel()
	text := files(t)["docker/Dockerfile"]
	if strings.Contains(text, "# syntax=") {
		t.Error("the frontend is an image too, and not fixed by a digest; the one of BuildKit will do")
	}
	stages := stage.FindAllStringSubmatch(text, -1)
	own := map[string]bool{"scratch": true}
	for _, s := range stages {
		if !own[s[1]] && !pinned.MatchString(s[1]) {
			t.Errorf("%s is not fixed by a digest", s[1])
		}
		own[s[2]] = true
	}
	if len(stages) != strings.Count(text, "\nFROM ") || stages[len(stages)-1][1] != "scratch" {
		t.Errorf("stages %q", stages)
	}
	for _, copied := range regexp.MustCompile(`--from=(\S+)`).FindAllStringSubmatch(text, -1) {
		if !own[copied[1]] {
			t.Errorf("something is copied from %s, which is no stage", copied[1])
		}
	}

	check := healthy.FindStringSubmatch(text)
	if check == nil {
		t.Fatal("there is no health check")
	}
	var words []string
	if err := json.Unmarshal([]byte(check[2]), &words); err != nil || len(words) != 2 || words[0] != "/anodyne" || words[1] != "health" {
		t.Errorf("the health check is %s, %v; there is no shell in the image", check[2], err)
	}
	options := map[string]time.Duration{}
	for _, o := range option.FindAllStringSubmatch(check[1], -1) {
		options[o[1]], _ = time.ParseDuration(o[2])
	}
	if wait := defaults(t).DatabaseWait; options["start-period"] <= wait {
		t.Errorf("a container is unhealthy after %v, while --database-wait is %v", options["start-period"], wait)
	}
	if options["timeout"] <= 5*time.Second { // of anodyne health itself, which says more
		t.Errorf("the health check has only %v", options["timeout"])
	}
}

// The times of the systemd unit leave the program the time it takes.
func TestUnitTimes(t *testing.T) {
	t.Parallel()
	cfg := defaults(t)
	settings := map[string]string{}
	for line := range strings.Lines(files(t)["systemd/anodyne.service"]) {
		if name, value, found := strings.Cut(strings.TrimSpace(line), "="); found && !strings.HasPrefix(line, "#") {
			settings[name] = value
		}
	}
	seconds := func(name string) time.Duration {
		d, err := time.ParseDuration(settings[name] + "s")
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return d
	}
	// With these types, a start is complete when the program runs; with others,
	// it would be when the program reports it, within TimeoutStartSec.
	if kind := settings["Type"]; kind != "exec" && kind != "simple" && seconds("TimeoutStartSec") <= cfg.DatabaseWait {
		t.Errorf("systemd ends a start of type %s before --database-wait, %v", kind, cfg.DatabaseWait)
	}
	if stop := seconds("TimeoutStopSec"); stop < cfg.ShutdownDelay+cfg.ShutdownTimeout+10*time.Second {
		t.Errorf("systemd kills after %v", stop)
	}
	if settings["UMask"] != "0077" || settings["StateDirectoryMode"] != "0700" {
		t.Errorf("files are not the service's own: %v", settings)
	}
}
