package tables

import (
	"fmt"
	"io"
	"strings"

	"anodyne.example/anodyne/internal/bench"
)

// Markdown writes the tables of a report in the format of docs/performance.md.
func Markdown(w io.Writer, report *bench.Report) error {
	var b strings.Builder
	for i := range report.Runs {
		r := &report.Runs[i]
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "### %s\n\n", title(r))
		fmt.Fprintf(&b, "%s, %s on %s/%s, %.3g s a path.\n", r.StartedAt.Format("2 January 2006"), r.Go, r.OS, r.Arch, r.PathSeconds)
		if len(r.Paths) > 0 {
			b.WriteString("\n")
			markdownPaths(&b, r.Paths)
		}
		b.WriteString("\n")
		row(&b, "what", "figure")
		row(&b, "---", "---")
		for _, f := range facts(r) {
			row(&b, f.what, f.figure)
		}
		if r.Nodes != nil {
			fmt.Fprintf(&b, "\n### %s on one PostgreSQL\n\n", plural(r.Nodes.Nodes, "node"))
			markdownNodes(&b, r.Nodes)
		}
	}
	markdownGrowth(&b, sizes(report))
	_, err := io.WriteString(w, b.String())
	return err
}

// markdownGrowth writes the cost of paths by size, if several were measured.
func markdownGrowth(b *strings.Builder, runs []*bench.Result) {
	if len(runs) < 2 {
		return
	}
	least, most := runs[0], runs[len(runs)-1]
	fmt.Fprintf(b, "\n### %s, from %s to %s patients\n\nCPU time of the server per request and, in parentheses, the fraction of the baseline.\n\n", engineNames[least.Engine], count(least.Patients), count(most.Patients))
	header := []string{"path"}
	for _, r := range runs {
		header = append(header, count(r.Patients))
	}
	header = append(header, "largest to smallest")
	row(b, header...)
	row(b, rule(len(header))...)
	for _, p := range least.Paths {
		cells := []string{p.Title}
		for _, r := range runs {
			cell := ""
			if q := r.Path(p.Name); q != nil {
				cell = fmt.Sprintf("%s (%.3f)", micros(q.CPU), q.Ratio.Total)
			}
			cells = append(cells, cell)
		}
		last := ""
		if q := most.Path(p.Name); q != nil {
			last = times(p.CPU, q.CPU)
		}
		row(b, append(cells, last)...)
	}
	facts := []struct {
		what   string
		figure func(*bench.Result) string
	}{
		{"ready after", func(r *bench.Result) string { return fmt.Sprintf("%.0f ms", r.ReadySeconds*1000) }},
		{"records", func(r *bench.Result) string { return count(r.Records) }},
		{"memory at most", func(r *bench.Result) string { return mib(r.ServerPeakRSS) }},
		{"of which read models", func(r *bench.Result) string { return mib(r.ReadModels) }},
		{"memory limit", func(r *bench.Result) string { return mib(r.RSSBound) }},
	}
	for _, f := range facts {
		cells := []string{f.what}
		for _, r := range runs {
			cells = append(cells, f.figure(r))
		}
		row(b, append(cells, "")...)
	}
}

func markdownPaths(b *strings.Builder, paths []bench.PathResult) {
	header := []string{"path", "req/s", "baseline", "ratio", "gate", "p50", "p95", "p99", "CPU", "database CPU", "allocations"}
	row(b, header...)
	row(b, rule(len(header))...)
	for i := range paths {
		p := &paths[i]
		name := p.Title
		if p.Errors > 0 {
			name += fmt.Sprintf(" (%s wrong answers: %s)", count(p.Errors), p.FirstError)
		}
		row(b, name, rate(p.Rate), floor(p), part(p, p.Ratio.Total), gate(p),
			ms(p.Latency.P50), ms(p.Latency.P95), ms(p.Latency.P99), micros(p.CPU), micros(p.DatabaseCPU), allocations(p))
	}
}

func markdownNodes(b *strings.Builder, n *bench.NodesResult) {
	all := plural(n.Nodes, "node")
	header := []string{"path", "1 node, req/s", "p50", "p99", all + ", req/s", "p50", "p99", all + " to 1"}
	row(b, header...)
	row(b, rule(len(header))...)
	for _, p := range n.Paths {
		name := p.Title
		if p.Errors > 0 {
			name += fmt.Sprintf(" (%s wrong answers: %s)", count(p.Errors), p.FirstError)
		}
		row(b, name, rate(p.OneRate), ms(p.OneLatency.P50), ms(p.OneLatency.P99), rate(p.Rate), ms(p.Latency.P50), ms(p.Latency.P99), fmt.Sprintf("%.2f", p.Ratio.Total))
	}
}

// rule returns the line under a header.
func rule(columns int) []string {
	cells := make([]string, columns)
	for i := range cells {
		cells[i] = "---"
	}
	return cells
}

// row writes one line of a table.
func row(b *strings.Builder, cells ...string) {
	for _, cell := range cells {
		b.WriteString("| ")
		if cell != "" {
			b.WriteString(strings.ReplaceAll(cell, "|", `\|`) + " ")
		}
	}
	b.WriteString("|\n")
}
