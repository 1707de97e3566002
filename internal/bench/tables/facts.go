package tables

import (
	"fmt"

	"anodyne.example/anodyne/internal/bench"
)

// fact is a single figure.
type fact struct{ what, figure string }

// facts returns the figures of a run besides those of its paths.
func facts(r *bench.Result) (list figures) {
	if r.Target != "" {
		list.add("no ratio", bench.NoFloor)
		list.add("records", "%s", count(r.Records))
		list.ofPaths(r)
	} else {
		list.ofStart(r)
		list.ofPaths(r)
		list.ofServer(r)
	}
	for _, skip := range r.Skipped {
		list.add("not measured", "%s: %s", skip.Path, skip.Reason)
	}
	if r.Interrupted {
		list.add("interrupted", "what follows in the order of the paths was not measured")
	}
	return list
}

type figures []fact

func (list *figures) add(what, format string, args ...any) {
	*list = append(*list, fact{what, fmt.Sprintf(format, args...)})
}

// ofStart adds the figures from before the paths.
func (list *figures) ofStart(r *bench.Result) {
	if r.CPUsWorth > 0 {
		list.add("CPUs", "%d; together %.2f times as fast as one", r.CPUs, r.CPUsWorth)
	}
	list.add("time to fill", "%.1f s (%s patients, %s records)", r.FillSeconds, count(r.Patients), count(r.Records))
	if s := r.Start; s != nil {
		list.add("ready after", "%.0f ms (median of %d starts, %.0f to %.0f ms; a bare server %.0f ms; %.0f ms %s)",
			s.Median, s.Starts, s.Fastest, s.Slowest, s.Floor, s.Gate, met(s.GateMet))
	} else {
		list.add("ready after", "%.0f ms", r.ReadySeconds*1000)
	}
}

// ofPaths adds the additional figures of single paths.
func (list *figures) ofPaths(r *bench.Result) {
	if r.DeepPageCost > 0 {
		list.add("last page", "%.2f times the cost of the first", r.DeepPageCost)
	}
	for _, first := range []struct{ path, reads string }{{"search", "all names"}, {"outcomes", "all series"}, {"population", "all series, unless that is done"}} {
		if p := r.Path(first.path); p != nil {
			list.add("first "+first.path, "%.3f s (reads %s), then p99 %s", p.FirstSeconds, first.reads, ms(p.Latency.P99))
		}
	}
	for i := range r.Paths {
		p := &r.Paths[i]
		if p.Reads != nil && p.Writes != nil {
			list.add(p.Title, "reads p50 %s, p99 %s; writes p50 %s, p99 %s", ms(p.Reads.P50), ms(p.Reads.P99), ms(p.Writes.P50), ms(p.Writes.P99))
		}
		if p.RecordRate > 0 {
			list.add(p.Title, "%s records a second", count(int64(p.RecordRate)))
		}
	}
}

// ofServer adds the figures that are only known for a server started here.
func (list *figures) ofServer(r *bench.Result) {
	if w := r.Webhook; w != nil {
		list.add("webhooks", "%s deliveries a second of a backlog of %s; from request to receipt p50 %s, p99 %s, with dead receivers p50 %s, p99 %s (%s a second, p50 %.0f ms: %s)",
			rate(w.Rate), count(w.Deliveries), ms(w.Latency.P50), ms(w.Latency.P99), ms(w.BesideDead.P50), ms(w.BesideDead.P99), rate(w.RateGate), w.P50Gate, met(w.GateMet))
		if w.Missing > 0 {
			list.add("webhooks", "%s events did not arrive", count(w.Missing))
		}
	}
	if r.RSSBound > 0 {
		verdict := "met"
		if !r.RSSHeld {
			verdict = "NOT met"
		}
		list.add("server memory", "%s, at most %s; read models %s, all else %s", mib(r.ServerRSS), mib(r.ServerPeakRSS), mib(r.ReadModels), mib(r.ServerPeakRSS-r.ReadModels))
		list.add("memory limit", "200 MB and the read models' %s: %s", mib(r.ReadModelsBound), verdict)
	}
}
