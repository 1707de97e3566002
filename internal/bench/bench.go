// Package bench measures the service on the machine it runs on. It owns the
// made-up patients, the load, the floor and the statistics; the command line
// and the table are cmd/anodyne's.
//
// Every path is measured against two servers, each in a process of its own
// under the same load: this program with everything on, and a floor, which is
// a bare net/http server that sends the same bytes. Short slices alternate
// between the two, so that whatever else the machine does is shared by both,
// and their ratio says what the service costs above the bare minimum.
package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"anodyne/internal/store"
)

// Options say what to measure, and how.
type Options struct {
	// Program is the anodyne binary, started as the server and as the floor.
	Program string
	// Database is empty for a throw-away SQLite file in a new folder under
	// Dir, or the address of an empty PostgreSQL database, which is left
	// filled.
	Database string
	Dir      string
	// Duration is for one path, floor and product together.
	Duration       time.Duration
	Connections    int
	Patients       int
	Records        int // in the database, when a path reads them
	Paths          []string
	IdempotencyKey bool
	// ProfileDir, when set, gets a CPU profile of the server for each path.
	ProfileDir string
	// Progress is told how many patients, and then records, are there; Note gets remarks.
	Progress func(done, total int)
	Note     func(string)
}

// sliceTime is how long one server is measured before it is the other's turn.
const sliceTime = 250 * time.Millisecond

// longest is how long all paths may take together: tokens live for an hour.
const longest = 45 * time.Minute

// Validate names every fault at once.
func (o *Options) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if o.Database != "" && !store.IsPostgres(o.Database) {
		bad("the database must be PostgreSQL's; SQLite is measured on a file of its own")
	}
	if o.Duration < 10*time.Millisecond || o.Duration*time.Duration(len(o.Paths)) > longest {
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
// it returns, no child process is left and a SQLite database is removed. An
// error from measuring comes with what was measured before it.
func Run(ctx context.Context, o Options) (result Result, err error) {
	if err := o.Validate(); err != nil {
		return result, err
	}
	o.silence()
	dir, err := os.MkdirTemp(o.Dir, "anodyne-bench-")
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if o.Database == "" {
		o.Database = "sqlite:" + filepath.Join(dir, "anodyne.db")
		if inMemory(dir) {
			o.Note("the folder of the database is in memory (tmpfs): writes are faster than on a disk; choose another with --dir")
		}
	}
	result = Result{
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), StartedAt: time.Now().UTC().Truncate(time.Second),
		Patients: o.Patients, Connections: o.Connections, PathSeconds: o.Duration.Seconds(), IdempotencyKey: o.IdempotencyKey,
	}
	cfg := store.Config{Database: o.Database, DataDir: filepath.Join(dir, "data")}
	began := time.Now()
	stock, err := fill(ctx, cfg, &o)
	if err != nil {
		return result, fmt.Errorf("filling the database: %w", err)
	}
	result.Engine, result.Records, result.FillSeconds = stock.engine, stock.records, time.Since(began).Seconds()

	server, err := startServer(ctx, o.Program, cfg, o.Note)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	result.ReadySeconds = server.ready.Seconds()
	m := &measurement{Options: o, stock: stock, server: server, slots: stock.slots(o.Connections)}
	for _, name := range o.Paths {
		measured, err := m.path(ctx, findPath(name))
		if err != nil {
			return result, fmt.Errorf("%s: %w", name, err)
		}
		result.Paths = append(result.Paths, measured)
	}
	result.ServerRSS, result.ServerPeakRSS = memoryOf(server.cmd.Process.Pid)
	result.derive()
	return result, nil
}

// silence makes functions that nobody gave callable.
func (o *Options) silence() {
	if o.Progress == nil {
		o.Progress = func(int, int) {}
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
}
