package pgserver

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// guardScript waits for the end of its standard input. The system closes that
// when the process that launched it ends, in whatever way: normally, by a
// panic, or by kill -9. Then the script stops the server if there is one and
// removes the directory.
//
// The wait for the lock file is bounded, and the removal is retried, in case
// the process died while a server was starting.
const guardScript = `
read -r _
lock=$1/data/postmaster.pid
if pid=$(head -n 1 "$lock") && kill -CONT "$pid" && kill -QUIT "$pid"; then
	for _ in $(seq 200); do
		[ -e "$lock" ] || break
		sleep 0.05
	done
fi
for _ in $(seq 10); do
	rm -rf "$1" && exit 0
	sleep 0.2
done
exit 1
`

// guard is the process that cleans up after a cluster.
type guard struct {
	cmd  *exec.Cmd
	hold *os.File // open as long as the cluster is needed
}

// newGuard starts the guard of a directory. It runs as the caller, who can
// remove the files of any owner.
func newGuard(dir string) (*guard, error) {
	stdin, hold, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	cmd := exec.Command("sh", "-c", guardScript, "sh", dir)
	cmd.Dir = "/"
	cmd.Stdin = stdin
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, hold.Close())
	}
	return &guard{cmd, hold}, nil
}

// release lets the guard clean up and waits for it.
func (g *guard) release() error {
	return errors.Join(g.hold.Close(), g.cmd.Wait())
}
