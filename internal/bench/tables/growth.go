package tables

import (
	"slices"

	"anodyne.example/anodyne/internal/bench"
	"anodyne.example/anodyne/internal/chart"
)

// Growth is the plot of what each path costs at the sizes that were measured,
// or nil when there were not several of one engine. The cost is the server's
// processor time, which a busy machine hardly changes.
func Growth(report *bench.Report) *chart.Growth {
	runs := sizes(report)
	if len(runs) < 2 {
		return nil
	}
	c := &chart.Growth{Title: "Cost by number of patients", Size: "patients", Cost: "the server's processor time for a request, in microseconds"}
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

// sizes are the runs on the first engine, from the smallest up.
func sizes(report *bench.Report) (runs []*bench.Result) {
	for i := range report.Runs {
		if r := &report.Runs[i]; r.Engine == report.Runs[0].Engine {
			runs = append(runs, r)
		}
	}
	slices.SortStableFunc(runs, func(a, b *bench.Result) int { return a.Patients - b.Patients })
	return slices.CompactFunc(runs, func(a, b *bench.Result) bool { return a.Patients == b.Patients })
}

// GrowthSVG draws the plot as a file; nil when there is none.
func GrowthSVG(report *bench.Report) []byte {
	c := Growth(report)
	if c == nil {
		return nil
	}
	return c.Draw(chart.Frame{Width: 860, Height: 460, Text: 12}).SVG("")
}
