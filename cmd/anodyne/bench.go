package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"anodyne/internal/bench"
	"anodyne/internal/config"
)

const benchSynopsis = `bench [flags]

Measures this machine: the server on a throw-away database with everything on,
against a floor, a bare HTTP server that sends the same bytes. The two take
turns in short slices, so that the ratio holds also on a machine that is busy.
Latencies are those of connections that are all busy all the time.`

func runBench(ctx context.Context, e env, args []string) error {
	if len(args) == 1 && args[0] == bench.FloorCommand {
		return bench.ServeFloor(ctx, os.Stdin, e.stdout)
	}
	show := bar(e.stderr)
	o := bench.Options{Progress: func(done, total int) { show("filling", int64(done), int64(total)) }, Note: func(s string) { fmt.Fprintln(e.stderr, s) }}
	var out jsonOutput
	paths := config.List(bench.PathNames())
	fs := flags(e, "bench", benchSynopsis)
	fs.DurationVar(&o.Duration, "duration", 5*time.Second, "time for each path, floor included")
	fs.IntVar(&o.Connections, "connections", 64, "connections that are kept busy")
	fs.IntVar(&o.Patients, "patients", 10_000, "patients in the database before it is measured")
	fs.IntVar(&o.Records, "records", 100_000, "clinical records in the database before it is measured, when a path reads them")
	engine := fs.String("engine", "sqlite", "sqlite or postgres")
	fs.StringVar(&o.Database, "database", "", "with --engine postgres, the `address` of an empty database; it is left filled")
	fs.Var(&paths, "paths", "what to measure, separated by commas")
	fs.BoolVar(&o.IdempotencyKey, "idempotency-key", false, "send an Idempotency-Key with every POST")
	fs.StringVar(&o.Dir, "dir", "", "`folder` for the throw-away database (default: the system's folder for temporary files)")
	fs.StringVar(&o.ProfileDir, "profile", "", "`folder` for a CPU profile of the server on each path")
	fs.Var(&out, "json", "print JSON instead of the table; --json=FILE writes it to a file besides")
	gate := fs.Bool("gate", false, "fail when a path misses its part of the floor")
	if _, err := parse(e, fs, args, 0); err != nil {
		return err
	}
	o.Paths = paths
	switch {
	case *engine != "sqlite" && *engine != "postgres":
		return fmt.Errorf("--engine: want sqlite or postgres, not %q", *engine)
	case (*engine == "postgres") != (o.Database != ""):
		return errors.New("--database: names an empty database together with --engine postgres, and is not for sqlite")
	}
	var err error
	if o.Program, err = os.Executable(); err != nil {
		return err
	}
	result, err := bench.Run(ctx, o)
	if ctx.Err() != nil {
		return errors.New("interrupted")
	}
	if err != nil {
		return err
	}
	result.Version = version
	if err := out.write(e.stdout, result); err != nil {
		return err
	}
	return judge(result, *gate)
}

// judge turns what was measured into the outcome of the command.
func judge(result bench.Result, gate bool) error {
	if n := result.Errors(); n > 0 {
		return fmt.Errorf("%d answers were not as expected", n)
	}
	if gate && !result.GatesMet() {
		return errors.New("a path missed its part of the floor")
	}
	return nil
}

// jsonOutput is the flag --json or --json=FILE.
type jsonOutput struct{ value string }

// IsBoolFlag lets the flag stand without a value.
func (*jsonOutput) IsBoolFlag() bool { return true }

// String is the file, or whether JSON is printed.
func (j *jsonOutput) String() string { return j.value }

// Set takes what stands after the equals sign.
func (j *jsonOutput) Set(value string) error {
	if value == "" {
		return errors.New("names no file")
	}
	j.value = value
	return nil
}

// write prints JSON or the table, and writes the file.
func (j *jsonOutput) write(w io.Writer, result bench.Result) error {
	if j.value == "" || j.value == "false" {
		return printBench(w, result)
	}
	text, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if j.value == "true" {
		_, err = w.Write(text)
		return err
	}
	return errors.Join(printBench(w, result), os.WriteFile(j.value, text, 0o644))
}

func printBench(w io.Writer, r bench.Result) error {
	fmt.Fprintf(w, "%s, %d patients, %d connections, %d cores, %s\n", r.Engine, r.Patients, r.Connections, r.CPUs, r.Go)
	if len(r.Paths) > 0 {
		if err := printPaths(w, r.Paths); err != nil {
			return err
		}
	}
	for _, p := range r.Paths {
		if p.Errors > 0 {
			fmt.Fprintf(w, "\n%s: %s\n", p.Title, p.FirstError)
		}
	}
	for _, p := range r.Paths {
		if p.RecordRate > 0 {
			fmt.Fprintf(w, "\n%s: %.0f records a second%s\n", p.Title, p.RecordRate, recordGate(p))
		}
	}
	printWebhooks(w, r.Webhook)
	fmt.Fprintf(w, "\nfilled in      %.1f s (%d patients, %d records)\nready after    %.3f s\n", r.FillSeconds, r.Patients, r.Records, r.ReadySeconds)
	if r.DeepPageCost > 0 {
		fmt.Fprintf(w, "last page      %.2f times the cost of the first\n", r.DeepPageCost)
	}
	for _, first := range []struct{ path, reads string }{{"search", "all names"}, {"outcomes", "all series"}, {"population", "all series, unless that is done"}} {
		if p := r.Path(first.path); p != nil {
			fmt.Fprintf(w, "first %-11s%.3f s (reads %s), then p99 %.1f ms\n", first.path, p.FirstSeconds, first.reads, p.Latency.P99)
		}
	}
	_, err := fmt.Fprintf(w, "server memory  %d MiB, at most %d MiB\n", r.ServerRSS>>20, r.ServerPeakRSS>>20)
	return err
}

// printPaths prints what was measured against a floor.
func printPaths(w io.Writer, paths []bench.PathResult) error {
	fmt.Fprintln(w)
	const titleWidth = 22 // names stand left, numbers right
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "%-*s\tREQ/S\tFLOOR\tRATIO\tMEDIAN\tQUARTILES\tP50\tP95\tP99\tALLOCS\tERRORS\tGATE\t\n", titleWidth, "PATH")
	for _, p := range paths {
		gate := "-"
		if p.Gate > 0 {
			gate = fmt.Sprintf("%.2f not met", p.Gate)
			if p.GateMet {
				gate = fmt.Sprintf("%.2f met", p.Gate)
			}
		}
		fmt.Fprintf(table, "%-*s\t%.0f\t%.0f\t%.3f\t%.3f\t%.3f-%.3f\t%.1fms\t%.1fms\t%.1fms\t%.0f\t%d\t%s\t\n", titleWidth, p.Title, p.Rate, p.FloorRate,
			p.Ratio.Total, p.Ratio.Median, p.Ratio.Q1, p.Ratio.Q3, p.Latency.P50, p.Latency.P95, p.Latency.P99, p.Allocations, p.Errors, gate)
	}
	return table.Flush()
}

// printWebhooks prints what was measured of deliveries, if it was.
func printWebhooks(w io.Writer, r *bench.WebhookResult) {
	if r == nil {
		return
	}
	met := "not met"
	if r.GateMet {
		met = "met"
	}
	fmt.Fprintf(w, "\nwebhooks: %.0f deliveries a second of a backlog of %d; from request to receipt p50 %.1f ms, p99 %.1f ms, beside dead receivers p50 %.1f ms, p99 %.1f ms\n"+
		"          (%.0f a second, p50 %.0f ms: %s)\n",
		r.Rate, r.Deliveries, r.Latency.P50, r.Latency.P99, r.BesideDead.P50, r.BesideDead.P99, r.RateGate, r.P50Gate, met)
	if r.Missing > 0 {
		fmt.Fprintf(w, "          %d events did not arrive\n", r.Missing)
	}
}

// recordGate says whether a path moved as many records as it must.
func recordGate(p bench.PathResult) string {
	switch {
	case p.RecordGate == 0:
		return ""
	case p.RecordRate >= p.RecordGate:
		return fmt.Sprintf(" (%.0f met)", p.RecordGate)
	}
	return fmt.Sprintf(" (%.0f not met)", p.RecordGate)
}
