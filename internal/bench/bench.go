// Package bench measures the performance of the service. It owns the synthetic
// patients, the load, the baseline and the statistics; package tables formats
// the results, and cmd/anodyne-bench has the command line.
//
// Every path is measured against two servers under the same load, each in its
// own process: the product with everything enabled, and a baseline (called
// floor in the code), which is a bare net/http server that sends the same
// bytes. Short slices alternate between the two, so that other activity on the
// machine affects both, and their ratio shows the cost of the service above
// the bare minimum.
package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"anodyne.example/anodyne/internal/store/engine"
)

// Options configure a run.
type Options struct {
	// Server is the anodyne binary to measure.
	Server string
	// Program is this program, which is started again with [FloorCommand] as
	// the baseline.
	Program string
	// Target is the address of a running server to be measured with these
	// clients, or "". It is filled through its API and remains filled.
	Target  string
	Clients []Credentials
	// Engine is one of [Engines].
	Engine string
	// Database is the address of an empty PostgreSQL database, which remains
	// filled. If it is empty, the database is temporary: a SQLite file or a
	// separate PostgreSQL, in a new directory under Dir.
	Database string
	Dir      string
	// Duration is for one path, baseline and product together.
	Duration    time.Duration
	Connections int
	// Organizations is the number of organisations among which the patients,
	// records and connections are divided; 0 means one.
	Organizations int
	Patients      int
	Records       int // in the database, if a path reads them
	Paths         []string
	// Nodes is the number of servers sharing the database in an additional
	// comparison with a single server; less than 2 means none.
	Nodes          int
	IdempotencyKey bool
	// ProfileDir, if set, receives a CPU profile of the server for each path.
	ProfileDir string
	// Progress is called with the progress of a step; Note with remarks.
	Progress func(step string, done, total int)
	Note     func(string)
}

// sliceTime is how long one server is measured before the other takes its
// turn.
const sliceTime = 250 * time.Millisecond

// longest is the maximum time for all paths together, because tokens expire
// after an hour.
const longest = 45 * time.Minute

// measuring returns the time for all paths together.
func (o *Options) measuring() time.Duration {
	paths := len(o.Paths)
	if o.Nodes > 1 {
		paths *= 2
	}
	return o.Duration * time.Duration(paths)
}

// Validate returns all errors at once.
func (o *Options) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	switch {
	case o.Target != "":
		o.checkTarget(bad)
	case !slices.Contains(Engines, o.Engine):
		bad("there is no engine %q; the engines are %v", o.Engine, Engines)
	case o.Database != "" && o.Engine != Postgres:
		bad("SQLite is measured on a file of its own; a database is named for %s only", Postgres)
	case o.Database != "" && !engine.IsPostgres(o.Database):
		bad("the database must be PostgreSQL's")
	}
	if o.Duration < 10*time.Millisecond || o.measuring() > longest {
		bad("the duration must be at least 10ms, and %s for all paths together", longest)
	}
	if o.Connections < 1 || o.Connections > 4096 {
		bad("connections must be from 1 to 4096")
	}
	if o.Organizations < 0 || o.Organizations > min(o.Connections, o.Patients) {
		bad("organizations must be from 1 to the number of connections, and no more than the patients")
	}
	if o.Organizations > 1 && slices.Contains(o.Paths, webhookPath) {
		bad("the path %q is measured with one organization", webhookPath)
	}
	if o.Patients < 1 || o.Patients > 10_000_000 {
		bad("patients must be from 1 to 10000000")
	}
	if o.Records < 0 || o.Records > 100_000_000 {
		bad("records must be from 0 to 100000000")
	}
	if o.Nodes < 0 || o.Nodes > 16 {
		bad("nodes must be from 1 to 16")
	}
	if len(o.Paths) == 0 {
		bad("name at least one path")
	}
	for _, name := range o.Paths {
		if findPath(name) == nil {
			bad("there is no path %q; the paths are %v", name, PathNames())
		}
	}
	return errors.Join(errs...)
}

// Run fills a database, starts the server on it and measures the paths. When
// it returns, no child process is left, and a temporary database is removed.
// If measuring fails, it returns the error and the results so far.
func Run(ctx context.Context, o Options) (result Result, err error) {
	if err := o.Validate(); err != nil {
		return result, err
	}
	o.silence()
	if o.Target != "" {
		return runTarget(ctx, o)
	}
	dir, err := os.MkdirTemp(o.Dir, "anodyne-bench-")
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	result = newResult(&o)
	result.CPUsWorth = worth()
	db, err := openDatabase(&o, dir)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, db.remove()) }()
	began := time.Now()
	filled, keys, err := fill(ctx, db, &o)
	if err != nil {
		return result, fmt.Errorf("filling the database: %w", err)
	}
	result.Records, result.FillSeconds = filled.records(), time.Since(began).Seconds()

	server, err := result.start(ctx, &o, db)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	m := &measurement{Options: o, server: server, database: db.processes, slots: filled.slots(o.Connections), keys: keys}
	if err := m.all(ctx, &result); err != nil {
		return result, err
	}
	if o.Nodes > 1 && !engine.IsPostgres(db.Database) {
		result.Skipped = append(result.Skipped, Skip{"nodes", "only one server can use a SQLite file; several servers need PostgreSQL"})
	} else if o.Nodes > 1 {
		result.Nodes, err = m.nodes(ctx, db)
	}
	return result, err
}

// newResult returns a result without measurements.
func newResult(o *Options) Result {
	result := Result{
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), StartedAt: time.Now().UTC().Truncate(time.Second),
		Engine: o.Engine, Target: o.Target, Patients: o.Patients, Connections: o.Connections, PathSeconds: o.Duration.Seconds(), IdempotencyKey: o.IdempotencyKey,
	}
	if o.Organizations > 1 {
		result.Organizations = o.Organizations
	}
	return result
}

// silence sets missing functions to no-ops.
func (o *Options) silence() {
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
}
