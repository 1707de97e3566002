// Package tables formats benchmark results: as a table for a terminal, as
// Markdown for docs/performance.md, as a comparison of two runs, and as a plot
// of cost by size.
package tables

import (
	"fmt"
	"strconv"
	"strings"

	"anodyne.example/anodyne/internal/bench"
)

// engineNames are the display names of the engines.
var engineNames = map[string]string{bench.SQLite: "SQLite", bench.SQLiteEncrypted: "SQLite, encrypted", bench.Postgres: "PostgreSQL", bench.Citus: "Citus"}

// title returns a title with everything that may differ between runs.
func title(r *bench.Result) string {
	if r.Target != "" {
		return fmt.Sprintf("%s, %s patients, %s", r.Target, count(r.Patients), plural(r.Connections, "connection"))
	}
	engine := engineNames[r.Engine]
	if r.Organizations > 1 {
		engine += fmt.Sprintf(", %s organizations", count(r.Organizations))
	}
	return fmt.Sprintf("%s, %s patients, %s, %s", engine, count(r.Patients), plural(r.Connections, "connection"), plural(r.CPUs, "core"))
}

func plural(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return count(n) + " " + word
}

// count formats a whole number with thousands separators.
func count[N int | int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// part formats a ratio to the baseline, if there is one.
func part(p *bench.PathResult, f float64) string {
	if p.FloorRate == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f", f)
}

// floor formats the rate of the baseline, if there is one.
func floor(p *bench.PathResult) string {
	if p.FloorRate == 0 {
		return "-"
	}
	return rate(p.FloorRate)
}

// allocations formats the number of allocations, if known.
func allocations(p *bench.PathResult) string {
	if p.Allocations == 0 {
		return "-"
	}
	return count(int64(p.Allocations + 0.5))
}

// rate formats requests per second, with decimals for small numbers.
func rate(f float64) string {
	if f < 100 {
		return fmt.Sprintf("%.1f", f)
	}
	return count(int64(f + 0.5))
}

// ms formats milliseconds.
func ms(f float64) string {
	if f < 10 {
		return fmt.Sprintf("%.2f ms", f)
	}
	return fmt.Sprintf("%.1f ms", f)
}

// micros formats microseconds, as milliseconds if they are many.
func micros(f float64) string {
	switch {
	case f == 0:
		return "-"
	case f >= 10_000:
		return fmt.Sprintf("%.1f ms", f/1000)
	}
	return count(int64(f+0.5)) + " µs"
}

// mib formats bytes as whole MiB.
func mib(n int64) string { return count((n+1<<19)>>20) + " MiB" }

func met(ok bool) string {
	if ok {
		return "met"
	}
	return "not met"
}

// gate returns what a path must reach and whether it does, or "".
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
