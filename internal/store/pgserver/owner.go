package pgserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"syscall"
)

// owner is the user that a cluster runs as. PostgreSQL refuses to run as root,
// so root hands over to the user that the package made for the purpose.
type owner struct {
	credential *syscall.Credential // nil: whoever we are already
}

func findOwner() (owner, error) {
	if os.Geteuid() != 0 {
		return owner{}, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return owner{}, errors.New("PostgreSQL does not run as root, and there is no user postgres to run it as")
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return owner{}, fmt.Errorf("user postgres: %w", err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return owner{}, fmt.Errorf("user postgres: %w", err)
	}
	return owner{&syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

// take gives a file or directory to the owner.
func (o owner) take(path string) error {
	if o.credential == nil {
		return nil
	}
	return os.Chown(path, int(o.credential.Uid), int(o.credential.Gid))
}

// command prepares a program to run as the owner. The environment is bare: the
// caller's PG... variables and locale are not the cluster's.
func (o owner) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	// A group of its own keeps the terminal's Ctrl-C away: a cluster is stopped
	// in good order, after its users.
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: o.credential, Setpgid: true}
	return cmd
}

// run runs a program as the owner; its output becomes part of the error.
func (o owner) run(ctx context.Context, name string, args ...string) error {
	out, err := o.command(ctx, name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// workspace makes a temporary directory that the owner can reach, in the one
// that is named. When none is: root's TMPDIR may be closed to everybody else.
func (o owner) workspace(ctx context.Context, in string) (string, error) {
	places := []string{in}
	if in == "" {
		places = []string{os.TempDir(), "/tmp"}
	}
	var failed error
	for _, base := range places {
		dir, err := os.MkdirTemp(base, "anodyne-pg-")
		if err != nil {
			return "", err
		}
		if err := o.take(dir); err != nil {
			return "", errors.Join(err, os.Remove(dir))
		}
		failed = o.run(ctx, "sh", "-c", `cd "$1"`, "sh", dir)
		if failed == nil {
			return dir, nil
		}
		if err := os.Remove(dir); err != nil {
			return "", err
		}
	}
	return "", fmt.Errorf("no temporary directory that PostgreSQL can use: %w", failed)
}
