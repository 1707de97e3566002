// Anodyne-bench measures the performance of the anodyne server on this
// machine. It is a separate program, so that the deployed binary contains
// neither a load generator nor a throw-away PostgreSQL.
//
// Usage:
//
//	anodyne-bench [flags]
//	anodyne-bench compare OLD.json NEW.json
//
// It starts the anodyne binary beside it, or the one given by --server. See
// --help for all flags.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"anodyne.example/anodyne/internal/bench"
	"anodyne.example/anodyne/internal/bench/tables"
	"anodyne.example/anodyne/internal/cli"
	"anodyne.example/anodyne/internal/config"
)

// program is the name of this program.
const program = "anodyne-bench"

// version is set by the build.
var version = "dev"

func main() { cli.Main(program, benchmark) }

const synopsis = `[flags]
       anodyne-bench compare OLD.json NEW.json

Measures the server on this machine, with a temporary database and everything
enabled, against a baseline: a bare HTTP server that sends the same bytes. The
two take turns in short slices, so that the ratio is meaningful even on a busy
machine. Latencies are measured with all connections always busy. CPU is the
CPU time of the server per request, DB CPU that of the processes of PostgreSQL.

Each path is measured separately:

  get, list, list-deep, list-name, search,
  search-words, post                         patients
  ingest, range                              100 clinical records, in and out
  mixed                                      8 reads and 2 writes of 10 requests
  outcomes, population, analytics-filter     analytics, uncached queries
  analytics-again                            analytics, cached queries
  token                                      POST /oauth/token
  webhook                                    deliveries to a receiver on loopback
  start                                      from the start until ready, 5 times

Several engines are measured one after the other. PostgreSQL is started if its
programs are installed, unless --database gives a database; a Citus cluster is
started by the program that ANODYNE_TEST_CITUS names. --grow measures
databases of several sizes, with the number of records per patient that follows
from --records and --patients, and --plot draws the cost of a request at each
size. Ctrl-C ends the run and shows the results so far.

--target measures a running server with the clients in the file given by
--clients: a sequence of JSON objects, as printed by "anodyne client create
--json", all of one organisation. The server is filled with synthetic patients
through its API and remains filled; an organisation with other patients is
rejected. Rate limits apply, so use several clients of the tier enterprise.
There is no baseline in this case, and so no ratio.

"compare" prints the results in two --json files side by side.`

// compareCommand is the subcommand that compares two result files.
const compareCommand = "compare"

// benchmark runs a command line.
func benchmark(ctx context.Context, e cli.Env, args []string) error {
	if len(args) == 1 && args[0] == bench.FloorCommand {
		return bench.ServeFloor(ctx, os.Stdin, e.Stdout)
	}
	if len(args) > 0 && args[0] == compareCommand {
		return compare(e, args[1:])
	}
	b := commandLine{engines: config.List{bench.SQLite}, paths: bench.PathNames()}
	show := cli.Bar(e.Stderr)
	b.Progress = func(step string, done, total int) { show(step, int64(done), int64(total)) }
	b.Note = func(s string) { fmt.Fprintln(e.Stderr, s) }
	fs := cli.Flags(e, "", synopsis)
	fs.DurationVar(&b.Duration, "duration", 5*time.Second, "time for each path, including the baseline")
	fs.IntVar(&b.Connections, "connections", 64, "number of busy connections")
	fs.IntVar(&b.Organizations, "organizations", 1, "organizations among which patients, records and connections are divided")
	fs.IntVar(&b.Patients, "patients", 10_000, "patients in the database before measuring")
	fs.IntVar(&b.Records, "records", 100_000, "clinical records in the database before measuring, if a path reads them")
	fs.Var(&b.grow, "grow", "numbers of `patients` to measure one after the other, separated by commas, instead of --patients")
	fs.Var(&b.engines, "engine", "`engines` to measure, separated by commas: "+strings.Join(bench.Engines, ", "))
	fs.StringVar(&b.Database, "database", "", "with --engine postgres, the `address` of an empty database; it remains filled")
	fs.StringVar(&b.Server, "server", "", "anodyne `program` to measure (default: the one in the directory of this program)")
	fs.StringVar(&b.Target, "target", "", "`URL` of a running server to measure, instead of starting one")
	fs.StringVar(&b.clients, "clients", "", "with --target, `file` with the clients to use")
	fs.Var(&b.paths, "paths", "`paths` to measure, separated by commas")
	fs.IntVar(&b.Nodes, "nodes", 1, "with PostgreSQL, also compare this many servers on one database with one")
	fs.BoolVar(&b.IdempotencyKey, "idempotency-key", false, "send an Idempotency-Key with every POST")
	fs.StringVar(&b.Dir, "dir", "", "`directory` for the temporary database (default: the system's directory for temporary files)")
	fs.StringVar(&b.ProfileDir, "profile", "", "`directory` for CPU profiles of the server, one for each path")
	fs.StringVar(&b.json, "json", "", "`file` for all results as JSON; - prints them instead of the table")
	fs.StringVar(&b.markdown, "markdown", "", "`file` for the tables as Markdown; - prints them instead of the table")
	fs.StringVar(&b.plot, "plot", "", "with --grow, `file` for a plot of cost against patients (SVG), on logarithmic axes")
	fs.BoolVar(&b.gate, "gate", false, "fail if a path misses its target")
	if _, err := cli.Parse(e, fs, args, 0); err != nil {
		return err
	}
	return b.run(ctx, e)
}

// commandLine holds the parsed command line: the options of each run, and
// where to write the results.
type commandLine struct {
	bench.Options
	engines, paths       config.List
	grow                 config.List
	clients              string
	json, markdown, plot string
	gate                 bool
}

func (b *commandLine) run(ctx context.Context, e cli.Env) (err error) {
	runs, err := b.runs()
	if err != nil {
		return err
	}
	if b.Database != "" && len(runs) > 1 {
		return errors.New("--database: only possible with a single run")
	}
	if b.Target != "" && len(runs) > 1 {
		return errors.New("--target: only possible with a single run")
	}
	if b.plot != "" && len(b.grow) < 2 {
		return errors.New("--plot: needs several sizes; set them with --grow")
	}
	if b.json == "-" && b.markdown == "-" {
		return errors.New("--json, --markdown: only one of the two can be printed")
	}
	for _, o := range runs { // before measuring anything
		if err := o.Validate(); err != nil {
			return err
		}
	}
	measured := version
	if b.Target == "" {
		if b.Server, measured, err = findServer(ctx, b.Server); err != nil {
			return err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var report bench.Report
	for _, o := range runs {
		o.Server, o.Program = b.Server, self
		result, failure := bench.Run(ctx, o)
		result.Version, result.Interrupted = measured, ctx.Err() != nil
		if failure == nil || result.Measured() {
			report.Runs = append(report.Runs, result)
		}
		if err = failure; err != nil {
			break
		}
	}
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	if len(report.Runs) == 0 {
		return err
	}
	return errors.Join(err, b.write(e.Stdout, &report), judge(&report, b.gate))
}

// runs returns the options of each run: every engine at every size.
func (b *commandLine) runs() (list []bench.Options, err error) {
	b.Paths = b.paths
	engines, grow := b.engines, b.grow
	if b.Target != "" {
		engines = config.List{""}
		if b.Clients, err = readClients(b.clients); err != nil {
			return nil, err
		}
	}
	if len(grow) == 0 {
		grow = config.List{strconv.Itoa(b.Patients)}
	}
	for _, engine := range engines {
		for _, size := range grow {
			o := b.Options
			o.Engine = engine
			if o.Patients, err = strconv.Atoi(size); err != nil || o.Patients < 1 {
				return nil, fmt.Errorf("--grow: %q is no number of patients", size)
			}
			o.Records = int(float64(b.Records) / float64(max(b.Patients, 1)) * float64(o.Patients))
			list = append(list, o)
		}
	}
	return list, nil
}

// readClients reads the file given by --clients.
func readClients(name string) ([]bench.Credentials, error) {
	if name == "" {
		return nil, errors.New("--clients: --target needs a file with clients")
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("--clients: %w", err)
	}
	defer file.Close()
	list, err := bench.ReadCredentials(file)
	if err != nil {
		return nil, fmt.Errorf("--clients: %s: %w", name, err)
	}
	return list, nil
}

// judge returns an error if the measured results fail the command.
func judge(report *bench.Report, gate bool) error {
	for i := range report.Runs {
		r := &report.Runs[i]
		if n := r.Errors(); n > 0 {
			return fmt.Errorf("%d answers were not as expected", n)
		}
		if gate && !r.GatesMet() {
			return errors.New("a path missed what is asked of it")
		}
	}
	return nil
}

// write prints the table or its replacement, and writes the files.
func (b *commandLine) write(w io.Writer, report *bench.Report) error {
	text, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	var markdown bytes.Buffer
	if err := tables.Markdown(&markdown, report); err != nil {
		return err
	}
	printed := false
	for _, out := range []struct {
		file string
		text []byte
	}{{b.json, append(text, '\n')}, {b.markdown, markdown.Bytes()}, {b.plot, tables.GrowthSVG(report)}} {
		switch {
		case out.file == "" || out.text == nil: // a plot needs more than one size; the others were interrupted
		case out.file == "-":
			printed = true
			_, err = w.Write(out.text)
		default:
			err = os.WriteFile(out.file, out.text, 0o600)
		}
		if err != nil {
			return err
		}
	}
	for i := range report.Runs {
		if printed {
			break
		}
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := tables.Text(w, &report.Runs[i]); err != nil {
			return err
		}
	}
	return nil
}

func compare(e cli.Env, args []string) error {
	fs := cli.Flags(e, compareCommand, compareCommand+" OLD.json NEW.json\n\nPrints what two files of \"anodyne-bench --json FILE\" have in common, side by side, and\nthe new figures as multiples of the old.")
	files, err := cli.Parse(e, fs, args, 2)
	if err != nil {
		return err
	}
	old, err := bench.ReadReport(files[0])
	if err != nil {
		return err
	}
	new, err := bench.ReadReport(files[1])
	if err != nil {
		return err
	}
	return tables.Compare(e.Stdout, &old, &new)
}
