// Package tables shows what a bench measured: as a table on a terminal, as
// Markdown for docs/performance.md, as a comparison of two runs, and as a plot
// of cost against size. It measures nothing itself.
package tables

import (
	"fmt"
	"strconv"
	"strings"

	"anodyne.example/anodyne/internal/bench"
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
