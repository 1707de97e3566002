package bench

import "time"

// Result is what a run measured.
type Result struct {
	Version        string       `json:"version"`
	StartedAt      time.Time    `json:"started_at"`
	Go             string       `json:"go"`
	OS             string       `json:"os"`
	Arch           string       `json:"arch"`
	CPUs           int          `json:"cpus"`
	Engine         string       `json:"engine"`
	Patients       int          `json:"patients"`
	Records        int          `json:"records,omitempty"`
	Connections    int          `json:"connections"`
	PathSeconds    float64      `json:"path_seconds"`
	IdempotencyKey bool         `json:"idempotency_key"`
	FillSeconds    float64      `json:"fill_seconds"`
	ReadySeconds   float64      `json:"ready_seconds"`
	Paths          []PathResult `json:"paths"`

	// DeepPageCost is the time of the last page as a multiple of the first's,
	// each held against its own floor; 0 when not measured.
	DeepPageCost  float64 `json:"deep_page_cost"`
	ServerRSS     int64   `json:"server_rss_bytes"`
	ServerPeakRSS int64   `json:"server_peak_rss_bytes"`
}

// PathResult is what was measured of one path.
type PathResult struct {
	Name     string `json:"name"`
	Title    string `json:"title"`
	Bytes    int    `json:"body_bytes"`
	Requests int64  `json:"requests"`
	// FirstSeconds is how long the first answer took. That of a search reads
	// all names into memory, that of analytics all series.
	FirstSeconds float64 `json:"first_seconds"`
	Rate         float64 `json:"requests_per_second"`
	FloorRate    float64 `json:"floor_requests_per_second"`
	Ratio        Ratio   `json:"ratio"`
	Latency      Latency `json:"latency"`
	FloorLatency Latency `json:"floor_latency"`
	// Allocations is the product's number of allocations for a request, what
	// it does in the background included.
	Allocations float64 `json:"allocations_per_request"`
	Errors      int     `json:"errors"`
	FirstError  string  `json:"first_error,omitempty"`
	// RecordRate is the number of clinical records moved in a second, and
	// RecordGate what it must reach; 0 for paths that move none.
	RecordRate float64 `json:"records_per_second,omitempty"`
	RecordGate float64 `json:"record_gate,omitempty"`
	// Gate is the part of the floor that must be reached, or 0.
	Gate    float64 `json:"gate,omitempty"`
	GateMet bool    `json:"gate_met"`
}

// Latency is the time from a request to its answer, in milliseconds, with all
// connections always busy.
type Latency struct {
	P50 float64 `json:"p50_ms"`
	P95 float64 `json:"p95_ms"`
	P99 float64 `json:"p99_ms"`
}

func newPathResult(p *path, product, floor *side) PathResult {
	ratio := compare(product.turns, floor.turns)
	r := PathResult{
		Name: p.name, Title: p.title, Requests: sum(product.turns).requests,
		Rate: sum(product.turns).rate(), FloorRate: sum(floor.turns).rate(), Ratio: ratio,
		Latency: latencyOf(product.latency()), FloorLatency: latencyOf(floor.latency()),
		Gate: p.gate, RecordGate: p.recordGate,
	}
	r.RecordRate = r.Rate * float64(p.records)
	r.GateMet = ratio.Total >= p.gate && r.RecordRate >= p.recordGate
	r.Errors, r.FirstError = product.errors()
	if count, first := floor.errors(); count > 0 {
		r.Errors += count
		r.FirstError = "floor: " + first
	}
	return r
}

func latencyOf(h *histogram) Latency {
	ms := func(q float64) float64 { return float64(h.quantile(q).Microseconds()) / 1000 }
	return Latency{ms(0.50), ms(0.95), ms(0.99)}
}

// derive fills in what follows from the paths.
func (r *Result) derive() {
	first, deep := r.Path("list"), r.Path("list-deep")
	if first != nil && deep != nil && deep.Ratio.Total > 0 {
		r.DeepPageCost = first.Ratio.Total / deep.Ratio.Total
	}
}

// Path finds a path's result, or nil.
func (r *Result) Path(name string) *PathResult {
	for i := range r.Paths {
		if r.Paths[i].Name == name {
			return &r.Paths[i]
		}
	}
	return nil
}

// Errors counts the wrong answers of all paths.
func (r *Result) Errors() (count int) {
	for _, p := range r.Paths {
		count += p.Errors
	}
	return count
}

// GatesMet reports whether every path reached its gate.
func (r *Result) GatesMet() bool {
	for _, p := range r.Paths {
		if !p.GateMet {
			return false
		}
	}
	return true
}
