// Package tables shows what a bench measured: as a table on a terminal, as
// Markdown for docs/performance.md, as a comparison of two runs, and as a plot
// of cost against size. It measures nothing itself.
package tables

import (
	"fmt"
	"strconv"
	"strings"

	"anodyne/internal/bench"
)

// engineNames are the engines as people write them.
var engineNames = map[string]string{bench.SQLite: "SQLite", bench.SQLiteEncrypted: "SQLite, encrypted", bench.Postgres: "PostgreSQL"}

// title names a run by what can be different between runs.
func title(r *bench.Result) string {
	if r.Target != "" {
		return fmt.Sprintf("%s, %s patients, %s", r.Target, count(r.Patients), plural(r.Connections, "connection"))
	}
	return fmt.Sprintf("%s, %s patients, %s, %s", engineNames[r.Engine], count(r.Patients), plural(r.Connections, "connection"), plural(r.CPUs, "core"))
}

func plural(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return count(n) + " " + word
}

// count writes a whole number with commas between thousands.
func count[N int | int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// part writes a part of the floor; there may be none.
func part(p *bench.PathResult, f float64) string {
	if p.FloorRate == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f", f)
}

// floor writes the floor's rate; there may be none.
func floor(p *bench.PathResult) string {
	if p.FloorRate == 0 {
		return "-"
	}
	return rate(p.FloorRate)
}

// allocations writes how many there were; they may not be known.
func allocations(p *bench.PathResult) string {
	if p.Allocations == 0 {
		return "-"
	}
	return count(int64(p.Allocations + 0.5))
}

// rate writes requests a second: exactly where they are few.
func rate(f float64) string {
	if f < 100 {
		return fmt.Sprintf("%.1f", f)
	}
	return count(int64(f + 0.5))
}

// ms writes milliseconds.
func ms(f float64) string {
	if f < 10 {
		return fmt.Sprintf("%.2f ms", f)
	}
	return fmt.Sprintf("%.1f ms", f)
}

// micros writes microseconds, in milliseconds where they are many.
func micros(f float64) string {
	switch {
	case f == 0:
		return "-"
	case f >= 10_000:
		return fmt.Sprintf("%.1f ms", f/1000)
	}
	return count(int64(f+0.5)) + " µs"
}

// mib writes bytes as whole MiB.
func mib(n int64) string { return count((n+1<<19)>>20) + " MiB" }

func met(ok bool) string {
	if ok {
		return "met"
	}
	return "not met"
}

// gate says what a path must reach, and whether it does; "" when nothing is
// asked of it.
func gate(p *bench.PathResult) string {
	var parts []string
	if p.Gate > 0 {
		parts = append(parts, fmt.Sprintf("%.2f", p.Gate))
	}
	if p.RateGate > 0 {
		parts = append(parts, count(int64(p.RateGate))+"/s")
	}
	if p.RecordGate > 0 {
		parts = append(parts, count(int64(p.RecordGate))+" records/s")
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + " " + met(p.GateMet)
}

// fact is a figure that stands by itself.
type fact struct{ what, figure string }

// facts are the figures of a run beside those of its paths.
func facts(r *bench.Result) (list []fact) {
	add := func(what, format string, args ...any) { list = append(list, fact{what, fmt.Sprintf(format, args...)}) }
	if r.Target != "" {
		add("no ratio", bench.NoFloor)
		add("records", "%s", count(r.Records))
		return append(list, pathFacts(r)...)
	}
	add("filled in", "%.1f s (%s patients, %s records)", r.FillSeconds, count(r.Patients), count(r.Records))
	if s := r.Start; s != nil {
		add("ready after", "%.0f ms (median of %d starts, %.0f to %.0f ms; a bare server %.0f ms; %.0f ms %s)",
			s.Median, s.Starts, s.Fastest, s.Slowest, s.Floor, s.Gate, met(s.GateMet))
	} else {
		add("ready after", "%.0f ms", r.ReadySeconds*1000)
	}
	if r.DeepPageCost > 0 {
		add("last page", "%.2f times the cost of the first", r.DeepPageCost)
	}
	for _, first := range []struct{ path, reads string }{{"search", "all names"}, {"outcomes", "all series"}, {"population", "all series, unless that is done"}} {
		if p := r.Path(first.path); p != nil {
			add("first "+first.path, "%.3f s (reads %s), then p99 %s", p.FirstSeconds, first.reads, ms(p.Latency.P99))
		}
	}
	list = append(list, pathFacts(r)...)
	if w := r.Webhook; w != nil {
		add("webhooks", "%s deliveries a second of a backlog of %s; from request to receipt p50 %s, p99 %s, beside dead receivers p50 %s, p99 %s (%.0f a second, p50 %.0f ms: %s)",
			rate(w.Rate), count(w.Deliveries), ms(w.Latency.P50), ms(w.Latency.P99), ms(w.BesideDead.P50), ms(w.BesideDead.P99), w.RateGate, w.P50Gate, met(w.GateMet))
		if w.Missing > 0 {
			add("webhooks", "%s events did not arrive", count(w.Missing))
		}
	}
	if r.RSSBound > 0 {
		held := "held"
		if !r.RSSHeld {
			held = "NOT held"
		}
		add("server memory", "%s, at most %s; of it read models %s", mib(r.ServerRSS), mib(r.ServerPeakRSS), mib(r.ReadModels))
		add("memory bound", "200 MB and the read models' %s: %s", mib(r.ReadModelsBound), held)
	}
	return list
}

// pathFacts are those that any server has.
func pathFacts(r *bench.Result) (list []fact) {
	add := func(what, format string, args ...any) { list = append(list, fact{what, fmt.Sprintf(format, args...)}) }
	for i := range r.Paths {
		p := &r.Paths[i]
		if p.Reads != nil && p.Writes != nil {
			add(p.Title, "reads p50 %s, p99 %s; writes p50 %s, p99 %s", ms(p.Reads.P50), ms(p.Reads.P99), ms(p.Writes.P50), ms(p.Writes.P99))
		}
		if p.RecordRate > 0 {
			add(p.Title, "%s records a second", count(int64(p.RecordRate)))
		}
	}
	for _, skip := range r.Skipped {
		add("not measured", "%s: %s", skip.Path, skip.Reason)
	}
	if r.Interrupted {
		add("interrupted", "what follows in the order of the paths was not measured")
	}
	return list
}
