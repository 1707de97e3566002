// Package bench measures the service. It owns the made-up patients, the load,
// the floor and the statistics; how results are shown is package tables', and
// the command line is cmd/anodyne-bench's.
//
// Every path is measured against two servers, each in a process of its own
// under the same load: the product with everything on, and a floor, which is
// a bare net/http server that sends the same bytes. Short slices alternate
// between the two, so that whatever else the machine does is shared by both,
// and their ratio says what the service costs above the bare minimum.
package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"anodyne.example/anodyne/internal/store"
)

// Options say what to measure, and how.
type Options struct {
	// Server is the anodyne binary that is measured.
	Server string
	// Program is this program, started again with [FloorCommand] as the floor.
	Program string
	// Target is the address of a server that is running already and is to be
	// measured with these clients, or "". It is filled through its API and
	// stays so.
	Target  string
	Clients []Credentials
	// Engine is one of [Engines].
	Engine string
	// Database is the address of an empty PostgreSQL database, which is left
	// filled. When it is empty, the database is a throw-away: a SQLite file or
	// a PostgreSQL of its own, in a new folder under Dir.
	Database string
	Dir      string
	// Duration is for one path, floor and product together.
	Duration    time.Duration
	Connections int
	Patients    int
	Records     int // in the database, when a path reads them
	Paths       []string
	// Nodes is how many servers share the database when, besides one against
	// the floor, several are measured against one; less than 2 for none.
	Nodes          int
	IdempotencyKey bool
	// ProfileDir, when set, gets a CPU profile of the server for each path.
	ProfileDir string
	// Progress is told how far a step of the work is; Note gets remarks.
	Progress func(step string, done, total int)
	Note     func(string)
}

// sliceTime is how long one server is measured before it is the other's turn.
const sliceTime = 250 * time.Millisecond

// longest is how long all paths may take together: tokens live for an hour.
const longest = 45 * time.Minute

// measuring is how long all paths take together.
func (o *Options) measuring() time.Duration {
	paths := len(o.Paths)
	if o.Nodes > 1 {
		paths *= 2
	}
	return o.Duration * time.Duration(paths)
}

// Validate names every fault at once.
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
	case o.Database != "" && !store.IsPostgres(o.Database):
		bad("the database must be PostgreSQL's")
	}
	if o.Duration < 10*time.Millisecond || o.measuring() > longest {
		bad("the duration must be at least 10ms, and %s for all paths together", longest)
	}
	if o.Connections < 1 || o.Connections > 4096 {
		bad("connections must be from 1 to 4096")
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
// it returns, no child process is left and a throw-away database is removed.
// An error from measuring comes with what was measured before it.
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
	stock, err := fill(ctx, db, &o)
	if err != nil {
		return result, fmt.Errorf("filling the database: %w", err)
	}
	result.Records, result.FillSeconds = stock.records, time.Since(began).Seconds()

	server, err := result.start(ctx, &o, db)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	m := &measurement{Options: o, stock: stock, server: server, slots: stock.slots(o.Connections)}
	if err := m.all(ctx, &result); err != nil {
		return result, err
	}
	if o.Nodes > 1 && o.Engine != Postgres {
		result.Skipped = append(result.Skipped, Skip{"nodes", "a SQLite file is one server's; several share a PostgreSQL"})
	} else if o.Nodes > 1 {
		result.Nodes, err = m.nodes(ctx, db)
	}
	return result, err
}

// newResult is one that nothing was measured of yet.
func newResult(o *Options) Result {
	return Result{
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), StartedAt: time.Now().UTC().Truncate(time.Second),
		Engine: o.Engine, Target: o.Target, Patients: o.Patients, Connections: o.Connections, PathSeconds: o.Duration.Seconds(), IdempotencyKey: o.IdempotencyKey,
	}
}

// silence makes functions that nobody gave callable.
func (o *Options) silence() {
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
}
