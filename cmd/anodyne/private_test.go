package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"anodyne.example/anodyne/client"
	"anodyne.example/anodyne/internal/testneed"
)

// loose runs the program under umask 000 in a folder of its own, and looks at
// the modes of everything it makes there, all the time.
type loose struct {
	t       *testing.T
	dir     string
	program string
	ran     map[string]bool // commands, by their words

	mu   sync.Mutex
	mine map[string]bool // what the test made itself
	open map[string]fs.FileMode
	seen map[string]bool // names of what the program made
}

func newLoose(t *testing.T) *loose {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Under the program's name, by which the test binary is the program.
	program := filepath.Join(t.TempDir(), "anodyne")
	if os.Link(self, program) != nil { // on another disk
		if err := exec.Command("cp", self, program).Run(); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	l := &loose{t: t, dir: dir, program: program, ran: map[string]bool{}, mine: map[string]bool{dir: true}, open: map[string]fs.FileMode{}, seen: map[string]bool{}}
	for _, folder := range []string{"tmp", "home"} {
		l.mine[filepath.Join(dir, folder)] = true
		if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for often := time.NewTicker(10 * time.Millisecond); ; {
			l.look()
			select {
			case <-done:
				often.Stop()
				return
			case <-often.C:
			}
		}
	})
	t.Cleanup(func() {
		close(done)
		watching.Wait()
		l.look()
		for _, path := range slices.Sorted(maps.Keys(l.open)) {
			t.Errorf("%s has mode %v", strings.TrimPrefix(path, dir), l.open[path])
		}
	})
	return l
}

// look walks over everything and notes what others than the owner may use.
func (l *loose) look() {
	_ = filepath.WalkDir(l.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil // it has gone meanwhile
		}
		info, err := entry.Info()
		if err != nil {
			return nil
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.mine[path] {
			return nil
		}
		l.seen[strings.TrimPrefix(path, l.dir+"/")] = true
		if mode := info.Mode(); mode.Perm()&0o077 != 0 {
			l.open[path] = mode
		}
		return nil
	})
}

// has reports whether the program made a file or folder of this name, at any time.
func (l *loose) has(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seen[name]
}

// put makes a file of the test's own.
func (l *loose) put(name, text string) {
	l.t.Helper()
	path := filepath.Join(l.dir, name)
	l.mu.Lock()
	l.mine[path] = true
	l.mu.Unlock()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		l.t.Fatal(err)
	}
}

// command is a command line that is yet to be started.
func (l *loose) command(args ...string) *exec.Cmd {
	l.ran[args[0]] = true
	if len(args) > 1 {
		l.ran[args[0]+" "+args[1]] = true
	}
	cmd := exec.Command("/bin/sh", append([]string{"-c", `umask 000 && exec "$0" "$@"`, l.program}, args...)...)
	cmd.Dir = l.dir
	cmd.Env = append(os.Environ(), "TMPDIR="+filepath.Join(l.dir, "tmp"), "SQLITE_TMPDIR="+filepath.Join(l.dir, "tmp"), "HOME="+filepath.Join(l.dir, "home"))
	return cmd
}

// run runs a command line that must succeed, and returns its output.
func (l *loose) run(stdin string, args ...string) []byte {
	l.t.Helper()
	cmd := l.command(args...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.Output()
	if err != nil {
		exit, _ := errors.AsType[*exec.ExitError](err)
		l.t.Fatalf("anodyne %s: %v\n%s%s", strings.Join(args, " "), err, out, exit.Stderr)
	}
	return out
}

// await looks until something holds.
func (l *loose) await(what string, holds func() bool) {
	l.t.Helper()
	often := time.NewTicker(5 * time.Millisecond)
	defer often.Stop()
	for deadline := time.Now().Add(2 * time.Minute); !holds(); <-often.C {
		if time.Now().After(deadline) {
			l.t.Fatalf("no %s", what)
		}
	}
}

var servingAt = regexp.MustCompile(`msg=serving url=(\S+)`)

// kill starts a server, lets do work with it, and kills it with everything it
// has open. The address comes when it serves.
func (l *loose) kill(do func(address <-chan string), args ...string) {
	l.t.Helper()
	cmd := l.command(args...)
	log, err := cmd.StderrPipe()
	if err != nil {
		l.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	address := make(chan string, 1)
	go func() {
		defer close(address)
		for lines := bufio.NewScanner(log); lines.Scan(); {
			if found := servingAt.FindStringSubmatch(lines.Text()); found != nil {
				address <- found[1]
			}
		}
	}()
	do(address)
}

// commandsOf lists the program's commands and their subcommands.
func (l *loose) commandsOf(words ...string) (list []string) {
	out, err := exec.Command(l.program, append(words, "--help")...).Output()
	if err != nil {
		l.t.Fatal(err)
	}
	head := strings.Join(append(append([]string{"usage: anodyne"}, words...), "COMMAND"), " ")
	if !strings.HasPrefix(string(out), head) {
		return []string{strings.Join(words, " ")}
	}
	for _, found := range regexp.MustCompile(`(?m)^  (\w+) `).FindAllStringSubmatch(string(out), -1) {
		list = append(list, l.commandsOf(append(words, found[1])...)...)
	}
	return list
}

// Whatever the umask, everything that any command makes is its owner's alone,
// at every moment, while a server works and after it was killed.
func TestEverythingIsPrivate(t *testing.T) {
	testneed.Long(t, "running every command")
	t.Parallel()
	l := newLoose(t)
	l.put("people.csv", "name,date_of_birth,external_id\nAda Nowak,1984-05-17,1\nNobody,tomorrow,2\n")
	l.put("key", strings.Repeat("0123456789abcdef", 4))

	l.run("", "migrate", "--database", "sqlite:new/folder/anodyne.db")
	var made struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if err := json.Unmarshal(l.run("", "client", "create", "--name", "Ward", "--json"), &made); err != nil {
		t.Fatal(err)
	}
	l.kill(func(address <-chan string) {
		url := <-address
		work(t, client.New(url, made.ID, made.Secret))
		l.run("", "health", "--listen", strings.TrimPrefix(url, "http://"))
	}, "serve", "--listen", "127.0.0.1:0", "--admin-listen", "")
	for _, name := range []string{"anodyne.db", "anodyne.db-wal", "anodyne.db-shm", "anodyne.db.d/audit.key", "anodyne.db.d/spool"} {
		if l.look(); !l.has(name) {
			t.Errorf("a server that was killed left no %s", name)
		}
	}
	l.kill(func(<-chan string) {
		l.await("state of a demonstration", func() bool { return l.has("anodyne-demo/demo.json") })
	},
		"demo", "--listen", "127.0.0.1:0", "--admin-listen", "")
	l.run("", "client", "list")
	l.run("", "client", "rotate", made.ID)
	l.run("", "client", "tier", made.ID, "professional")
	l.run("", "client", "keys", made.ID, "--jwks-uri", "https://ehr.example/jwks.json")
	l.run("", "client", "revoke", made.ID)
	l.run("correct horse battery staple\n", "user", "create", "--email", "ada@example.org", "--name", "Ada")
	l.run("correct horse battery staple\n", "user", "create", "--email", "bo@example.org", "--name", "Bo")
	l.run("", "user", "list")
	l.run("", "user", "reset", "bo@example.org")
	l.run("", "user", "role", "bo@example.org", "viewer")
	l.run("", "user", "disable", "bo@example.org")
	l.run("", "user", "enable", "bo@example.org")
	if err := l.command("import", "people.csv").Run(); err == nil {
		t.Error("a line that should be refused was not")
	}
	l.run("", "export", "research")
	l.run("", "backup", "clear.backup")
	l.run("", "rekey", "--new-key-file", "key")
	l.kill(func(address <-chan string) { <-address }, "serve", "--listen", "127.0.0.1:0", "--admin-listen", "", "--database-key-file", "key")
	l.run("", "backup", "sealed.backup", "--database-key-file", "key")
	l.run("", "restore", "sealed.backup", "--database", "sqlite:restored/anodyne.db", "--database-key-file", "key")
	l.run("", "check", "--database-key-file", "key")
	l.run("", "seal", "accept", "--reason", "a trial", "--database-key-file", "key")
	l.run("", "version")

	for _, name := range []string{"people.csv.errors.csv", "research/patients.parquet", "clear.backup", "sealed.backup", "anodyne.db.d/seal/witness", "restored/anodyne.db.d/master.key"} {
		if l.look(); !l.has(name) {
			t.Errorf("there is no %s", name)
		}
	}
	for _, name := range l.commandsOf() {
		if !l.ran[name] {
			t.Errorf("anodyne %s was not tried; run it here too", name)
		}
	}
}

// work makes a server write to its database, its log and its spool.
func work(t *testing.T, c *client.Client) {
	t.Helper()
	defer c.CloseIdleConnections()
	var writing sync.WaitGroup
	for i := range 4 {
		writing.Go(func() {
			for n := range 10 {
				body := client.NewPatient{Name: fmt.Sprintf("Patient %d of %d", n, i), DateOfBirth: "1984-05-17"}
				p, err := c.CreatePatient(context.Background(), body)
				if err == nil {
					_, err = c.Patient(context.Background(), p.ID)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
}
