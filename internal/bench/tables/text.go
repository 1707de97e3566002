package tables

import (
	"fmt"
	"io"
	"text/tabwriter"

	"anodyne/internal/bench"
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
	return table.Flush()
}

// textPaths prints what was measured of the paths.
func textPaths(w io.Writer, paths []bench.PathResult) error {
	fmt.Fprintln(w)
	const titleWidth = 22 // names stand left, numbers right
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "%-*s\tREQ/S\tFLOOR\tRATIO\tMEDIAN\tQUARTILES\tP50\tP95\tP99\tCPU\tALLOCS\tERRORS\tGATE\t\n", titleWidth, "PATH")
	for i := range paths {
		p := &paths[i]
		goal := gate(p)
		if goal == "" {
			goal = "-"
		}
		fmt.Fprintf(table, "%-*s\t%s\t%s\t%.3f\t%.3f\t%.3f-%.3f\t%s\t%s\t%s\t%s\t%.0f\t%d\t%s\t\n", titleWidth, p.Title, rate(p.Rate), rate(p.FloorRate),
			p.Ratio.Total, p.Ratio.Median, p.Ratio.Q1, p.Ratio.Q3, ms(p.Latency.P50), ms(p.Latency.P95), ms(p.Latency.P99), micros(p.CPU), p.Allocations, p.Errors, goal)
	}
	return table.Flush()
}
