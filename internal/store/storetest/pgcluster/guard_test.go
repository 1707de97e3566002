package pgcluster

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/store/pgserver"
	"anodyne.example/anodyne/internal/testwait"
)

// victimEnv makes this test binary, when started again, the process to be
// killed. Its value is the file to which the victim writes the name of its
// directory.
const victimEnv = "ANODYNE_TEST_PGCLUSTER_VICTIM"

// TestVictim does nothing except in the process started by the test below.
func TestVictim(t *testing.T) {
	report := os.Getenv(victimEnv)
	if report == "" {
		return
	}
	s, err := pgserver.Launch(pgserver.Volatile, "")
	if err != nil {
		t.Fatal(err)
	}
	run(t, connect(t, s.DSN()), "BEGIN")
	if err := os.WriteFile(report, []byte(s.Dir()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {}
}

func TestNothingIsLeftOfAKilledProcess(t *testing.T) {
	if err := pgserver.Available(); err != nil {
		giveUp(t, err)
	}
	report := filepath.Join(t.TempDir(), "report")
	// The victim and all processes that it starts inherit the far end, so the
	// near end reaches EOF when the last of them ends.
	near, far, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	victim := exec.Command(os.Args[0], "-test.run=^TestVictim$")
	victim.Env = append(os.Environ(), victimEnv+"="+report)
	victim.ExtraFiles = []*os.File{nil, far} // as 4: the server uses 3
	err = victim.Run()
	far.Close()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the victim ended with %v, want killed", err)
	}

	if err := near.SetReadDeadline(time.Now().Add(testwait.Bound)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, near); err != nil {
		t.Fatalf("processes are left: %v", err)
	}
	dir, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(string(dir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("files are left in %s: %v", dir, err)
	}
}
