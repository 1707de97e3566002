package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// Report is the result of one command, with several runs if there are several
// engines or sizes. It is the format of --json.
type Report struct {
	Runs []Result `json:"runs"`
}

// ReadReport reads a file written by --json.
func ReadReport(name string) (r Report, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return r, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields() // reject files of other programs
	if err := decoder.Decode(&r); err != nil {
		return r, fmt.Errorf("%s is no file of a bench: %w", name, err)
	}
	return r, nil
}

// Skip is a path that could not be measured, and the reason.
type Skip struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Result is the result of one run.
type Result struct {
	Version   string    `json:"version"`
	StartedAt time.Time `json:"started_at"`
	Go        string    `json:"go"`
	OS        string    `json:"os"`
	Arch      string    `json:"arch"`
	CPUs      int       `json:"cpus"`
	// CPUsWorth is the throughput of all CPUs together, as a multiple of one.
	CPUsWorth float64 `json:"cpus_worth,omitempty"`
	// Engine is "" if a running server was measured, at Target.
	Engine         string  `json:"engine,omitempty"`
	Target         string  `json:"target,omitempty"`
	Organizations  int     `json:"organizations,omitempty"` // if more than one
	Patients       int     `json:"patients"`
	Records        int     `json:"records,omitempty"`
	Connections    int     `json:"connections"`
	PathSeconds    float64 `json:"path_seconds"`
	IdempotencyKey bool    `json:"idempotency_key"`
	FillSeconds    float64 `json:"fill_seconds"`
	ReadySeconds   float64 `json:"ready_seconds"`
	// Interrupted is set if the run ended before everything was measured.
	Interrupted bool         `json:"interrupted,omitempty"`
	Skipped     []Skip       `json:"skipped,omitempty"`
	Paths       []PathResult `json:"paths"`
	// Webhook, Start and Nodes are nil if not measured.
	Webhook *WebhookResult `json:"webhook,omitempty"`
	Start   *StartResult   `json:"start,omitempty"`
	Nodes   *NodesResult   `json:"nodes,omitempty"`

	// DeepPageCost is the time of the last page as a multiple of the first,
	// each relative to its own baseline; 0 if not measured.
	DeepPageCost  float64 `json:"deep_page_cost"`
	ServerRSS     int64   `json:"server_rss_bytes"`
	ServerPeakRSS int64   `json:"server_peak_rss_bytes"`
	// ReadModels is the part used by search and analytics, and ReadModelsBound
	// its limit. The peak must stay below RSSBound, which is that limit plus
	// 200 MB.
	ReadModels      int64 `json:"read_model_bytes"`
	ReadModelsBound int64 `json:"read_model_bound_bytes"`
	RSSBound        int64 `json:"rss_bound_bytes"`
	RSSHeld         bool  `json:"rss_held"`
}

// PathResult is the result of one path.
type PathResult struct {
	Name     string `json:"name"`
	Title    string `json:"title"`
	Bytes    int    `json:"body_bytes"`
	Requests int64  `json:"requests"`
	// FirstSeconds is the time of the first response, which reads all names
	// into memory for a search, and all series for analytics.
	FirstSeconds float64 `json:"first_seconds"`
	Rate         float64 `json:"requests_per_second"`
	FloorRate    float64 `json:"floor_requests_per_second"`
	Ratio        Ratio   `json:"ratio"`
	Latency      Latency `json:"latency"`
	FloorLatency Latency `json:"floor_latency"`
	// Reads and Writes are the separate latencies of a mix.
	Reads  *Latency `json:"latency_of_reads,omitempty"`
	Writes *Latency `json:"latency_of_writes,omitempty"`
	// Allocations is the number of allocations per request of the product, and
	// CPU its CPU time in microseconds, including background work. DatabaseCPU
	// is that of the processes of PostgreSQL, if it was started here.
	Allocations float64 `json:"allocations_per_request"`
	CPU         float64 `json:"cpu_us_per_request"`
	DatabaseCPU float64 `json:"database_cpu_us_per_request,omitempty"`
	Errors      int     `json:"errors"`
	FirstError  string  `json:"first_error,omitempty"`
	// RecordRate is the number of clinical records per second, and RecordGate
	// its minimum; 0 for paths without records.
	RecordRate float64 `json:"records_per_second,omitempty"`
	RecordGate float64 `json:"record_gate,omitempty"`
	// Gate is the minimum ratio to the baseline, and RateGate the minimum
	// number of requests per second, or 0.
	Gate     float64 `json:"gate,omitempty"`
	RateGate float64 `json:"rate_gate,omitempty"`
	GateMet  bool    `json:"gate_met"`
}

// Latency is the time from a request to its response, in milliseconds, with
// all connections always busy.
type Latency struct {
	P50 float64 `json:"p50_ms"`
	P95 float64 `json:"p95_ms"`
	P99 float64 `json:"p99_ms"`
}

// newPathResult summarises a path. floor is nil if there was no baseline.
func newPathResult(p *path, product, floor *side) PathResult {
	reads, writes, all := product.latencies()
	total := sum(product.turns)
	r := PathResult{Name: p.name, Title: p.title, Requests: total.requests, Rate: total.rate(), Latency: latencyOf(&all), RateGate: p.rateGate, RecordGate: p.recordGate}
	if p.mix != nil {
		r.Reads, r.Writes = new(latencyOf(&reads)), new(latencyOf(&writes))
	}
	r.RecordRate = r.Rate * float64(p.records)
	r.Errors, r.FirstError = product.errors()
	if floor != nil {
		_, _, ofFloor := floor.latencies()
		r.FloorRate, r.FloorLatency, r.Ratio, r.Gate = sum(floor.turns).rate(), latencyOf(&ofFloor), compare(product.turns, floor.turns), p.gate
		if count, first := floor.errors(); count > 0 {
			r.Errors += count
			r.FirstError = "baseline: " + first
		}
	}
	r.GateMet = r.Ratio.Total >= r.Gate && r.Rate >= r.RateGate && r.RecordRate >= r.RecordGate
	return r
}

// charge divides the resources used by the number of requests.
func (r *PathResult) charge(u used) {
	if r.Requests > 0 {
		r.Allocations = u.mallocs / float64(r.Requests)
		r.CPU = float64(u.cpu.Microseconds()) / float64(r.Requests)
		r.DatabaseCPU = float64(u.database.Microseconds()) / float64(r.Requests)
	}
}

func latencyOf(h *histogram) Latency {
	ms := func(q float64) float64 { return float64(h.quantile(q).Microseconds()) / 1000 }
	return Latency{ms(0.50), ms(0.95), ms(0.99)}
}

// derive sets the results that follow from the paths.
func (r *Result) derive() {
	first, deep := r.Path("list"), r.Path("list-deep")
	if first != nil && deep != nil && deep.Ratio.Total > 0 {
		r.DeepPageCost = first.Ratio.Total / deep.Ratio.Total
	}
}

// Path returns the result of a path, or nil.
func (r *Result) Path(name string) *PathResult {
	for i := range r.Paths {
		if r.Paths[i].Name == name {
			return &r.Paths[i]
		}
	}
	return nil
}

// Errors returns the number of wrong responses of all paths plus missing
// events.
func (r *Result) Errors() (count int) {
	for _, p := range r.Paths {
		count += p.Errors
	}
	if r.Webhook != nil {
		count += r.Webhook.Missing
	}
	if r.Nodes != nil {
		for _, p := range r.Nodes.Paths {
			count += p.Errors
		}
	}
	return count
}

// GatesMet reports whether every path met its gate.
func (r *Result) GatesMet() bool {
	for _, p := range r.Paths {
		if !p.GateMet {
			return false
		}
	}
	return (r.Webhook == nil || r.Webhook.GateMet) && (r.Start == nil || r.Start.GateMet)
}

// Measured reports whether there are any results.
func (r *Result) Measured() bool {
	return len(r.Paths) > 0 || r.Webhook != nil || r.Start != nil
}
