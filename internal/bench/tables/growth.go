package tables

import (
	"slices"

	"anodyne.example/anodyne/internal/bench"
	"anodyne.example/anodyne/internal/chart"
)

// Growth returns the plot of what each path costs by size, or nil if there are
// not several sizes of one engine. The cost is the server's CPU time, which
// hardly depends on the load of the machine.
func Growth(report *bench.Report) *chart.Growth {
	runs := sizes(report)
	if len(runs) < 2 {
		return nil
	}
	c := &chart.Growth{Title: "Cost by number of patients", Size: "patients", Cost: "CPU time of the server per request, in microseconds"}
	for _, p := range runs[0].Paths {
		line := chart.GrowthLine{Label: p.Title}
		for _, r := range runs {
			if q := r.Path(p.Name); q != nil && q.CPU > 0 {
				line.Points = append(line.Points, chart.GrowthPoint{Size: float64(r.Patients), Cost: q.CPU})
			}
		}
		if len(line.Points) > 0 {
			c.Lines = append(c.Lines, line)
		}
	}
	return c
}

// sizes returns the runs on the first engine in ascending order.
func sizes(report *bench.Report) (runs []*bench.Result) {
	for i := range report.Runs {
		if r := &report.Runs[i]; r.Engine == report.Runs[0].Engine {
			runs = append(runs, r)
		}
	}
	slices.SortStableFunc(runs, func(a, b *bench.Result) int { return a.Patients - b.Patients })
	return slices.CompactFunc(runs, func(a, b *bench.Result) bool { return a.Patients == b.Patients })
}

// GrowthSVG returns the plot as an SVG file, or nil if there is none.
func GrowthSVG(report *bench.Report) []byte {
	c := Growth(report)
	if c == nil {
		return nil
	}
	return c.Draw(chart.Frame{Width: 860, Height: 460, Text: 12}).SVG("")
}
