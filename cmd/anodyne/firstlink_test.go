package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"anodyne.example/anodyne/internal/cli"
	"anodyne.example/anodyne/internal/server"
)

// terminal opens a real one: what is written to the program's side can be read
// from the other.
func terminal(t *testing.T) (screen, program *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screen.Close() })
	if err := unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	return screen, program
}

// lines collects what is written, for others to wait for.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func newLines() *lines { return &lines{more: make(chan struct{}, 1)} }

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.more <- struct{}{}:
	default:
	}
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// await waits for a match of a pattern, and returns its first group.
func (l *lines) await(t *testing.T, pattern string) string {
	t.Helper()
	form := regexp.MustCompile(pattern)
	for deadline := time.After(3 * time.Minute); ; {
		if found := form.FindStringSubmatch(l.String()); found != nil {
			return found[1]
		}
		select {
		case <-l.more:
		case <-deadline:
			t.Fatalf("no %s in:\n%s", pattern, l)
		}
	}
}

// begin serves until the test ends or stop is called.
func begin(t *testing.T, dir string, stdout io.Writer) (stderr *lines, stop func()) {
	t.Helper()
	stderr = newLines()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan int, 1)
	e := cli.Env{Stdin: strings.NewReader(""), Stdout: stdout, Stderr: stderr, Lookup: func(string) (string, bool) { return "", false }}
	go func() {
		ended <- run(ctx, []string{"serve", "--database", "sqlite:" + filepath.Join(dir, "a.db"), "--listen", "127.0.0.1:0", "--admin-listen", "", "--dev"}, e)
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		if code := <-ended; code != cli.ExitOK {
			t.Errorf("exit code %d:\n%s", code, stderr)
		}
	})
	t.Cleanup(stop)
	return stderr, stop
}

const joinLink = `(http://127\.0\.0\.1:\d+/portal/join/[\w-]+)`

// On a terminal the link is shown, and written nowhere.
func TestFirstLinkOnATerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	screen, program := terminal(t)
	shown := newLines()
	go func() { _, _ = io.Copy(shown, screen) }() // until the terminal is closed
	stderr, stop := begin(t, dir, program)
	link := shown.await(t, joinLink)
	stop()
	if strings.Contains(stderr.String(), link) {
		t.Error("the log has the link")
	}
	if found := containing(t, dir, link); len(found) > 0 {
		t.Errorf("the link is in %v", found)
	}
}

// containing lists the files that have a text.
func containing(t *testing.T, dir, text string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(text)) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Without a terminal, output ends up in a log. So the link goes to a file that
// only the service's user can read, which is replaced at the next start and
// removed once the link is used.
func TestFirstLinkWithoutATerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	silence, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0) // a device, and no terminal
	if err != nil {
		t.Fatal(err)
	}
	defer silence.Close()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	piped := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(bufio.NewReader(read))
		piped <- string(text)
	}()
	path := filepath.Join(dir, "a.db.d", "first-administrator-link.txt")
	form := regexp.MustCompile(`^` + joinLink + "\n$")
	kept := func(stderr *lines) string {
		t.Helper()
		if got := stderr.await(t, `file=(\S+)`); got != path {
			t.Errorf("the log names %s, want %s", got, path)
		}
		text, err := os.ReadFile(path)
		if err != nil || !form.Match(text) {
			t.Fatalf("%q, %v", text, err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
		link := strings.TrimSpace(string(text))
		if strings.Contains(stderr.String(), filepath.Base(link)) {
			t.Error("the log has the link")
		}
		return link
	}
	stderr, stop := begin(t, dir, silence)
	first := kept(stderr)
	stop()
	if err := os.Chmod(path, 0o644); err != nil { // somebody was careless
		t.Fatal(err)
	}

	stderr, stop = begin(t, dir, write)
	link := kept(stderr)
	if link == first {
		t.Error("the same link again")
	}
	if found := containing(t, dir, filepath.Base(link)); len(found) != 1 {
		t.Errorf("the link is in %v", found)
	}
	const password = "a few words in a row"
	noRedirect := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := noRedirect.PostForm(link, url.Values{"name": {"Ada"}, "email": {"ada@example.org"}, "password": {password}, "again": {password}})
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusSeeOther {
		t.Fatalf("status %d", answer.StatusCode)
	}
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the file stays after the link was used")
		}
	}
	stop()
	_ = write.Close()
	if text := <-piped; strings.Contains(text, "/portal/join/") {
		t.Errorf("standard output: %s", text)
	}
}

// A database that is away for a moment after the start does not stop the server.
func TestFirstLinkIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		tries := 0
		link, err := makeFirstLink(t.Context(), func(context.Context) (*server.FirstLink, error) {
			if tries++; tries < 4 {
				return nil, errors.New("away")
			}
			return &server.FirstLink{URL: "https://pain.example/link"}, nil
		}, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil || link == nil || tries != 4 || strings.Count(log.String(), "trying again") != 3 {
			t.Errorf("%+v after %d tries, %v\n%s", link, tries, err, log.String())
		}
	})
	stopped, stop := context.WithCancel(t.Context())
	if link, err := makeFirstLink(stopped, func(context.Context) (*server.FirstLink, error) {
		stop()
		return nil, errors.New("away")
	}, slog.New(slog.DiscardHandler)); link != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("told to stop: %+v, %v", link, err)
	}
}
