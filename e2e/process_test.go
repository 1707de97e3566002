package e2e

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// transcript collects what a process writes and wakes those who wait for a
// line of it.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func newTranscript() *transcript { return &transcript{more: make(chan struct{})} }

func (t *transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.more)
	t.more = make(chan struct{})
	return t.text.Write(p)
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// lines returns the complete lines that contain a text.
func (t *transcript) lines(containing string) (found []string) {
	for line := range strings.Lines(t.String()) {
		if strings.HasSuffix(line, "\n") && strings.Contains(line, containing) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

func (t *transcript) changed() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.more
}

// process is a program under test.
type process struct {
	tb     testing.TB
	cmd    *exec.Cmd
	stdout *transcript
	stderr *transcript
	ended  chan struct{}
	code   int // once ended; -1 after a signal
}

// start starts the binary. It is killed at the end of the test, and what it
// wrote is part of a failure.
func start(tb testing.TB, prepare func(*exec.Cmd), args ...string) *process {
	tb.Helper()
	p := &process{tb: tb, cmd: exec.Command(binary(tb), args...), stdout: newTranscript(), stderr: newTranscript(), ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = p.stdout, p.stderr
	if prepare != nil {
		prepare(p.cmd)
	}
	if err := p.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		err := p.cmd.Wait()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			p.code = exit.ExitCode()
		} else if err != nil {
			tb.Errorf("waiting for anodyne: %v", err)
		}
	}()
	tb.Cleanup(func() {
		p.kill()
		for _, line := range p.stderr.lines("does not match its seal") {
			// Whoever tampers with a log names its organisation so.
			if !strings.Contains(line, "organization=Forged") {
				tb.Errorf("a false alarm about the audit log: %s", line)
			}
		}
		if tb.Failed() {
			tb.Logf("anodyne %s said:\n%s", strings.Join(args, " "), tail(p.stderr.String()))
		}
	})
	return p
}

// tail keeps a failure readable: it returns the end of a log, and the first errors
// before.
func tail(text string) string {
	const most, errors = 8 << 10, 10
	if len(text) <= most {
		return text
	}
	var kept strings.Builder
	n := 0
	for line := range strings.Lines(text[:len(text)-most]) {
		if strings.Contains(line, "level=ERROR") && n < errors {
			kept.WriteString(line)
			n++
		}
	}
	return kept.String() + "...\n" + text[len(text)-most:]
}

// await waits for a line of the log; the process must not end before.
func (p *process) await(containing string) string {
	p.tb.Helper()
	return p.awaitIn(p.stderr, containing)
}

func (p *process) awaitIn(out *transcript, containing string) string {
	p.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		changed := out.changed()
		if found := out.lines(containing); len(found) > 0 {
			return found[0]
		}
		select {
		case <-changed:
		case <-p.ended:
			p.tb.Fatalf("anodyne ended with code %d before it said %q", p.code, containing)
		case <-ctx.Done():
			p.tb.Fatalf("anodyne did not say %q", containing)
		}
	}
}

// kill is kill -9. It returns when the process is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // one that has ended cannot be killed
	<-p.ended
}

// terminate sends SIGTERM and returns the exit code.
func (p *process) terminate() int {
	p.tb.Helper()
	p.signal()
	return p.wait()
}

func (p *process) signal() {
	p.tb.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.tb.Fatal(err)
	}
}

// wait gives the exit code.
func (p *process) wait() int {
	p.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	select {
	case <-p.ended:
	case <-ctx.Done():
		p.tb.Fatalf("anodyne does not end; it said:\n%s", tail(p.stderr.String()))
	}
	return p.code
}

// word gives the value of a name in a log line.
func word(line, name string) string {
	for field := range strings.FieldsSeq(line) {
		if value, ok := strings.CutPrefix(field, name+"="); ok {
			return strings.Trim(value, `"`)
		}
	}
	return ""
}
