package tables

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"anodyne.example/anodyne/internal/bench"
)

// Compare prints, for every path that both reports have on the same engine and
// size, the old figure, the new one, and the new as a multiple of the old.
func Compare(w io.Writer, old, new *bench.Report) error {
	pairs := 0
	for i := range old.Runs {
		before := &old.Runs[i]
		after := like(new, before)
		if after == nil {
			continue
		}
		if pairs++; pairs > 1 {
			fmt.Fprintln(w)
		}
		if err := compareRuns(w, before, after); err != nil {
			return err
		}
	}
	if pairs == 0 {
		return errors.New("the two have no run on the same engine with the same number of organizations, patients and connections")
	}
	return nil
}

// like finds the run that is comparable to another.
func like(report *bench.Report, r *bench.Result) *bench.Result {
	for i := range report.Runs {
		if o := &report.Runs[i]; o.Engine == r.Engine && o.Target == r.Target && o.Organizations == r.Organizations && o.Patients == r.Patients && o.Connections == r.Connections {
			return o
		}
	}
	return nil
}

func compareRuns(w io.Writer, before, after *bench.Result) error {
	fmt.Fprintf(w, "%s\nold %s of %s, new %s of %s\n\n", title(before), before.Version, before.StartedAt.Format("2006-01-02 15:04"), after.Version, after.StartedAt.Format("2006-01-02 15:04"))
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "%-*s\tREQ/S\t\tx\tRATIO\t\tx\tP50\t\tx\tP99\t\tx\tCPU\t\tx\tDB CPU\t\tx\tALLOCS\t\tx\t\n", titleWidth, "PATH (old, new)")
	shared := 0
	for i := range before.Paths {
		p := &before.Paths[i]
		q := after.Path(p.Name)
		if q == nil {
			continue
		}
		shared++
		fmt.Fprintf(table, "%-*s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", titleWidth, p.Title,
			rate(p.Rate), rate(q.Rate), times(p.Rate, q.Rate), part(p, p.Ratio.Total), part(q, q.Ratio.Total), times(p.Ratio.Total, q.Ratio.Total),
			ms(p.Latency.P50), ms(q.Latency.P50), times(p.Latency.P50, q.Latency.P50), ms(p.Latency.P99), ms(q.Latency.P99), times(p.Latency.P99, q.Latency.P99),
			micros(p.CPU), micros(q.CPU), times(p.CPU, q.CPU), micros(p.DatabaseCPU), micros(q.DatabaseCPU), times(p.DatabaseCPU, q.DatabaseCPU), allocations(p), allocations(q), times(p.Allocations, q.Allocations))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if shared == 0 {
		fmt.Fprintln(w, "no path was measured in both")
	}
	fmt.Fprintf(w, "\nready after %.0f ms, %.0f ms (%s); at most %s, %s of memory (%s)\n", before.ReadySeconds*1000, after.ReadySeconds*1000, times(before.ReadySeconds, after.ReadySeconds),
		mib(before.ServerPeakRSS), mib(after.ServerPeakRSS), times(float64(before.ServerPeakRSS), float64(after.ServerPeakRSS)))
	_, err := fmt.Fprintln(w, "RATIO is relative to the baseline of the same run. If the machines differ or were busy, compare RATIO and CPU, not REQ/S.")
	return err
}

// times returns the new figure as a multiple of the old.
func times(old, new float64) string {
	if old <= 0 || new <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", new/old)
}
