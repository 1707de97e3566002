package tables

import (
	"fmt"
	"io"
	"text/tabwriter"

	"anodyne.example/anodyne/internal/bench"
)

// Text prints a run for a terminal.
func Text(w io.Writer, r *bench.Result) error {
	fmt.Fprintf(w, "%s, %s\n", title(r), r.Go)
	if len(r.Paths) > 0 {
		if err := textPaths(w, r.Paths); err != nil {
			return err
		}
	}
	fmt.Fprintln(w)
	for _, p := range r.Paths {
		if p.Errors > 0 {
			fmt.Fprintf(w, "%s: %s\n", p.Title, p.FirstError)
		}
	}
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, f := range facts(r) {
		fmt.Fprintf(table, "%s\t%s\n", f.what, f.figure)
	}
	if err := table.Flush(); err != nil || r.Nodes == nil {
		return err
	}
	return textNodes(w, r.Nodes)
}

const titleWidth = 22 // names are left-aligned, numbers right-aligned

// textNodes prints the comparison of several servers with one.
func textNodes(w io.Writer, n *bench.NodesResult) error {
	fmt.Fprintf(w, "\n%d servers on one database, against one, on this machine\n\n", n.Nodes)
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "%-*s\tONE, REQ/S\tP50\tP99\t%d, REQ/S\tP50\tP99\tx\tERRORS\t\n", titleWidth, "PATH", n.Nodes)
	for _, p := range n.Paths {
		fmt.Fprintf(table, "%-*s\t%s\t%s\t%s\t%s\t%s\t%s\t%.2f\t%d\t\n", titleWidth, p.Title,
			rate(p.OneRate), ms(p.OneLatency.P50), ms(p.OneLatency.P99), rate(p.Rate), ms(p.Latency.P50), ms(p.Latency.P99), p.Ratio.Total, p.Errors)
	}
	return table.Flush()
}

// textPaths prints the results of the paths.
func textPaths(w io.Writer, paths []bench.PathResult) error {
	fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "%-*s\tREQ/S\tBASELINE\tRATIO\tMEDIAN\tQUARTILES\tP50\tP95\tP99\tCPU\tDB CPU\tALLOCS\tERRORS\tGATE\t\n", titleWidth, "PATH")
	for i := range paths {
		p := &paths[i]
		goal := gate(p)
		if goal == "" {
			goal = "-"
		}
		fmt.Fprintf(table, "%-*s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t\n", titleWidth, p.Title, rate(p.Rate), floor(p),
			part(p, p.Ratio.Total), part(p, p.Ratio.Median), quartiles(p), ms(p.Latency.P50), ms(p.Latency.P95), ms(p.Latency.P99), micros(p.CPU), micros(p.DatabaseCPU), allocations(p), p.Errors, goal)
	}
	return table.Flush()
}

func quartiles(p *bench.PathResult) string {
	if p.FloorRate == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f-%.3f", p.Ratio.Q1, p.Ratio.Q3)
}
