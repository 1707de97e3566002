package bench

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/config"
)

// used is the resources that a server has used since it started.
type used struct {
	mallocs  float64
	cpu      time.Duration
	database time.Duration // CPU time of PostgreSQL
}

func (u used) less(before used) used {
	return used{u.mallocs - before.mallocs, u.cpu - before.cpu, u.database - before.database}
}

// used returns the product's allocations and CPU time, and those of a PostgreSQL
// that was started here. It returns zeros for a
// server that was not started here.
func (m *measurement) used(ctx context.Context) (u used, err error) {
	if !m.ours() {
		return u, nil
	}
	m.server.resume()
	if u.mallocs, err = m.metric(ctx, "go_memstats_mallocs_total"); err != nil {
		return u, err
	}
	u.cpu = cpuOf(m.server.cmd.Process.Pid)
	for _, parent := range m.database {
		u.database += cpuOfFamily(parent)
	}
	return u, nil
}

// metric returns a metric of the product, summed over its labels.
func (m *measurement) metric(ctx context.Context, name string) (total float64, err error) {
	page, err := fetch(ctx, m.server.admin+"/metrics")
	if err != nil {
		return 0, err
	}
	found := false
	for line := range bytes.Lines(page) {
		rest, ok := strings.CutPrefix(string(line), name)
		if !ok || rest[0] != ' ' && rest[0] != '{' {
			continue
		}
		value, err := strconv.ParseFloat(strings.TrimSpace(rest[strings.LastIndexByte(rest, ' '):]), 64)
		if err != nil {
			return 0, err
		}
		total, found = total+value, true
	}
	if !found {
		return 0, fmt.Errorf("the server's metrics do not tell %s", name)
	}
	return total, nil
}

// beside is the memory that a server may use besides its read models.
const beside = 200_000_000

// memory sets the product's memory use and limits.
func (m *measurement) memory(ctx context.Context, r *Result) error {
	models, err := m.metric(ctx, "anodyne_cohort_bytes")
	if err != nil {
		return err
	}
	var cfg config.Config
	cfg.Serve(flag.NewFlagSet("", flag.ContinueOnError)) // the server was started with the defaults
	r.ServerRSS, r.ServerPeakRSS = memoryOf(m.server.cmd.Process.Pid)
	r.ReadModels, r.ReadModelsBound, r.RSSBound = int64(models), int64(cfg.CohortMemory), beside+int64(cfg.CohortMemory)
	r.RSSHeld = r.ServerPeakRSS < r.RSSBound
	return nil
}
