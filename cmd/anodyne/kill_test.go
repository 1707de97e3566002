package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/faulttest"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testneed"
)

// anodyne is a command line of this program in a process of its own, in a
// folder.
func anodyne(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &exec.Cmd{Path: self, Args: append([]string{"anodyne"}, args...), Dir: dir, Env: os.Environ()}
}

// must runs a command line that has to succeed.
func must(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := anodyne(t, dir, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("anodyne %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// killed runs a command line and kills it after a while. It reports whether
// the process got to its end before.
func killed(t *testing.T, after time.Duration, dir string, args ...string) (finished bool) {
	t.Helper()
	cmd := anodyne(t, dir, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() }) // it may have gone by itself
	err := cmd.Wait()
	timer.Stop()
	exit, isExit := errors.AsType[*exec.ExitError](err)
	if err != nil && (!isExit || exit.ExitCode() != -1) {
		t.Fatalf("anodyne %s: %v", strings.Join(args, " "), err)
	}
	return err == nil
}

// populated makes a database with patients in a folder.
func populated(t *testing.T, patients int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	must(t, dir, "client", "create", "--name", "Ward")
	s, err := store.Open(t.Context(), store.Config{Database: "sqlite:" + filepath.Join(dir, "anodyne.db"), DataDir: filepath.Join(dir, "anodyne.db.d")})
	if err != nil {
		t.Fatal(err)
	}
	who := storetest.Client(t, s, "default")
	storetest.AddPatients(t, s.For(&who), patients, func(i int) string { return fmt.Sprintf("Patient %d", i) })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// moments returns n moments at which to kill a process that takes this long,
// one at random in each nth part of its run.
func moments(t *testing.T, whole time.Duration, n int) []time.Duration {
	t.Helper()
	random := rand.New(rand.NewPCG(faulttest.Seed(t), 0))
	list := make([]time.Duration, n)
	for i := range list {
		list[i] = time.Duration((float64(i) + random.Float64()) / float64(n) * float64(whole))
	}
	return list
}

// A process that is killed while it changes the key leaves the old or the new
// database, and that one opens with its key and is whole.
func TestFaultKilledRekey(t *testing.T) {
	testneed.Long(t, "killing rekey while it encrypts a database")
	t.Parallel()
	dir := populated(t, 400)
	// The keys of a round: none, 64 digits, a passphrase, another.
	files := []string{"", "hex", "words", "other"}
	for i, text := range []string{strings.Repeat("0123456789abcdef", 4), "correct horse battery staple", "another passphrase"} {
		if err := os.WriteFile(filepath.Join(dir, files[i+1]), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	with := func(key string, args ...string) []string {
		if key != "" {
			args = append(args, "--database-key-file", key)
		}
		return args
	}
	to := func(key string) []string {
		if key == "" {
			return []string{"rekey", "--remove-key"}
		}
		return []string{"rekey", "--new-key-file", key}
	}
	start := time.Now()
	must(t, dir, with("", to("words")...)...)
	must(t, dir, with("words", to("")...)...)
	whole := time.Since(start) / 2

	now, kept, changed := "", 0, 0
	for i, after := range moments(t, whole, faulttest.Rounds(t, 6)) {
		next := files[(i+1)%len(files)]
		if next == now {
			continue
		}
		finished := killed(t, after, dir, with(now, to(next)...)...)
		oldErr := anodyne(t, dir, with(now, "check")...).Run()
		newErr := anodyne(t, dir, with(next, "check")...).Run()
		switch {
		case oldErr == nil && newErr != nil && !finished:
			kept++
		case oldErr != nil && newErr == nil:
			now, changed = next, changed+1
		default:
			t.Fatalf("killed after %v (finished: %t), from key %q to %q: the old one opens: %v, the new one: %v", after, finished, now, next, oldErr, newErr)
		}
	}
	t.Logf("the old database was left %d times, the new one %d times", kept, changed)
	if out := must(t, dir, with(now, "check")...); !strings.Contains(out, "ok") {
		t.Error(out)
	}
	if clients := must(t, dir, with(now, "client", "list")...); !strings.Contains(clients, "Ward") {
		t.Error(clients)
	}
}

// A process that is killed while it writes a backup leaves no file of the
// name, or a whole one; the next backup of the name succeeds.
func TestFaultKilledBackup(t *testing.T) {
	testneed.Long(t, "killing backups of thousands of patients")
	t.Parallel()
	dir := populated(t, 3000)
	start := time.Now()
	must(t, dir, "backup", "first")
	absent, present := 0, 0
	for i, after := range moments(t, time.Since(start), faulttest.Rounds(t, 4)) {
		name := fmt.Sprintf("backup-%d", i)
		killed(t, after, dir, "backup", name)
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			must(t, dir, "backup", "--verify", name)
			present++
			continue
		}
		must(t, dir, "backup", name)
		absent++
		if left, _ := filepath.Glob(filepath.Join(dir, "*.partial")); len(left) > 0 {
			t.Errorf("%v is left", left)
		}
	}
	t.Logf("absent %d times, whole %d times", absent, present)
	must(t, dir, "check")
}

// A process that is killed while it restores leaves a database that is
// refused, and that the next restore makes good; or one that is whole.
func TestFaultKilledRestore(t *testing.T) {
	testneed.Long(t, "killing restores of thousands of patients")
	t.Parallel()
	dir := populated(t, 1500)
	if err := os.WriteFile(filepath.Join(dir, "key"), []byte(strings.Repeat("0123456789abcdef", 4)), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, dir, "rekey", "--new-key-file", "key")
	must(t, dir, "backup", "backup", "--database-key-file", "key")
	restore := func(name string) []string {
		return []string{"restore", "backup", "--database-key-file", "key", "--database", "sqlite:" + name}
	}
	start := time.Now()
	must(t, dir, restore("first.db")...)
	half := 0
	for i, after := range moments(t, time.Since(start), faulttest.Rounds(t, 4)) {
		name := fmt.Sprintf("restored-%d.db", i)
		check := []string{"check", "--database-key-file", "key", "--database", "sqlite:" + name}
		list := []string{"client", "list", "--database-key-file", "key", "--database", "sqlite:" + name}
		killed(t, after, dir, restore(name)...)
		out, err := anodyne(t, dir, restore(name)...).CombinedOutput()
		if err != nil { // it had come to its end
			if !strings.Contains(string(out), "is not empty") {
				t.Fatalf("restoring again: %v\n%s", err, out)
			}
		} else {
			half++
		}
		must(t, dir, check...)
		if clients := must(t, dir, list...); !strings.Contains(clients, "Ward") {
			t.Error(clients)
		}
	}
	t.Logf("killed halfway %d times", half)
}
