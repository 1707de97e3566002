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
// so root uses the user that the PostgreSQL package created.
type owner struct {
	credential *syscall.Credential // nil for the current user
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

// take changes the owner of a file or directory to o.
func (o owner) take(path string) error {
	if o.credential == nil {
		return nil
	}
	return os.Chown(path, int(o.credential.Uid), int(o.credential.Gid))
}

// command prepares a program to run as the owner, with a minimal environment:
// the caller's PG variables and locale do not apply.
func (o owner) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	// Its own process group protects a cluster from Ctrl-C in the terminal, so
	// that it is stopped cleanly, after its users.
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: o.credential, Setpgid: true}
	return cmd
}

// run runs a program as the owner. Its output becomes part of the error.
func (o owner) run(ctx context.Context, name string, args ...string) error {
	out, err := o.command(ctx, name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// workspace creates a temporary directory that the owner can access, in the
// given one. If none is given, root cannot rely on TMPDIR, which may not be
// accessible to others.
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
