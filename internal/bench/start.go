package bench

import (
	"context"
	"errors"
	"slices"
	"time"
)

// startPath measures starts on the filled database. It comes before all other
// paths, which use the server started last.
const startPath = "start"

const (
	starts    = 5
	startGate = 300 // milliseconds
)

// StartResult is the time from starting the process until /readyz succeeds, in
// milliseconds, with warm file caches.
type StartResult struct {
	Starts  int     `json:"starts"`
	Median  float64 `json:"median_ms"`
	Fastest float64 `json:"fastest_ms"`
	Slowest float64 `json:"slowest_ms"`
	// Floor is the median time of a bare HTTP server.
	Floor   float64 `json:"floor_median_ms"`
	Gate    float64 `json:"gate_ms"`
	GateMet bool    `json:"gate_met"`
}

// start starts the server to be measured, several times if requested.
func (r *Result) start(ctx context.Context, o *Options, db *database) (*child, error) {
	if !slices.Contains(o.Paths, startPath) {
		server, err := startServer(ctx, o, db)
		if err == nil {
			r.ReadySeconds = server.ready.Seconds()
		}
		return server, err
	}
	var times, floors []float64
	for range starts {
		began := time.Now()
		floor, err := startFloor(ctx, o.Program, recordings{{Status: 200}})
		if err != nil {
			return nil, err
		}
		floors = append(floors, milliseconds(time.Since(began)))
		if err := floor.stop(); err != nil {
			return nil, err
		}
	}
	for {
		server, err := startServer(ctx, o, db)
		if err != nil {
			return nil, err
		}
		times = append(times, milliseconds(server.ready))
		o.Progress("starts", len(times), starts)
		if len(times) == starts {
			r.Start = newStartResult(times, floors)
			r.ReadySeconds = r.Start.Median / 1000
			return server, nil
		}
		if err := errors.Join(server.stop(), ctx.Err()); err != nil {
			return nil, err
		}
	}
}

func newStartResult(times, floors []float64) *StartResult {
	slices.Sort(times)
	slices.Sort(floors)
	median := quantile(times, 0.5)
	return &StartResult{Starts: len(times), Median: median, Fastest: times[0], Slowest: times[len(times)-1],
		Floor: quantile(floors, 0.5), Gate: startGate, GateMet: median <= startGate}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
