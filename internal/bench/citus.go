package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/pgserver"
)

// CitusVariable is the environment variable with the path of the program that
// starts a Citus cluster; scripts/citus describes it.
const CitusVariable = "ANODYNE_TEST_CITUS"

// citus is a temporary cluster: a coordinator and two workers.
type citus struct{ program, dir string }

// startCitus starts a cluster for the measurement.
func (db *database) startCitus(dir string) error {
	c := citus{os.Getenv(CitusVariable), filepath.Join(dir, "citus")}
	if c.program == "" {
		return fmt.Errorf("set %s to the program that starts a Citus cluster", CitusVariable)
	}
	port, err := pgserver.FreePorts(3)
	if err != nil {
		return err
	}
	// The servers run as another user, who has to reach their directory.
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	db.remove = func() error { return errors.Join(c.run("stop"), os.RemoveAll(c.dir)) }
	var address bytes.Buffer
	if err := c.runInto(&address, "start", strconv.Itoa(port)); err != nil {
		return errors.Join(err, db.remove())
	}
	db.Database, db.migrate = strings.TrimSpace(address.String()), func(ctx context.Context, cfg store.Config) error {
		_, _, err := store.Distribute(ctx, cfg)
		return err
	}
	for server := range 3 {
		pid, err := c.process(server)
		if err != nil {
			return errors.Join(err, db.remove())
		}
		db.processes = append(db.processes, pid)
	}
	db.analyze = func(ctx context.Context) error {
		return errors.Join(pgserver.Analyze(ctx, db.Database), c.run("psql", "0", "-qAtc", "SELECT run_command_on_workers('ANALYZE')"))
	}
	return nil
}

func (c citus) run(verb string, args ...string) error {
	return c.runInto(new(bytes.Buffer), verb, args...)
}

func (c citus) runInto(out *bytes.Buffer, verb string, args ...string) error {
	cmd := exec.Command(c.program, append([]string{verb, c.dir}, args...)...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, said.String())
	}
	return nil
}

// process returns the process that started those of a server.
func (c citus) process(server int) (int, error) {
	content, err := os.ReadFile(filepath.Join(c.dir, "n"+strconv.Itoa(server), "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(content), "\n")
	return strconv.Atoi(first)
}
