package webhook

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"anodyne.example/anodyne/internal/testneed"
	"anodyne.example/anodyne/internal/testnode"
)

// TestReceiversOfTheDocumentation runs the programs of docs/webhooks.md and
// sends to them, well and badly.
func TestReceiversOfTheDocumentation(t *testing.T) {
	for name, start := range map[string]func(t *testing.T, program string) *exec.Cmd{
		"go client":  goProgram,
		"go library": goProgram,
		"javascript": nodeProgram,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, secret := snippet(t, name), NewSecret()
			tryReceiver(t, listen(t, start(t, program), secret), secret)
		})
	}
}

// snippet is the code that follows the mark of its name.
func snippet(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), "<!-- run: "+name+" -->\n```")
	_, after, opened := strings.Cut(after, "\n")
	code, _, closed := strings.Cut(after, "\n```\n")
	if !found || !opened || !closed {
		t.Fatalf("docs/webhooks.md has no program %q", name)
	}
	return code + "\n"
}

func goProgram(t *testing.T, program string) *exec.Cmd {
	t.Helper()
	testneed.Long(t, "building a program")
	dir := t.TempDir()
	source, binary := filepath.Join(dir, "main.go"), filepath.Join(dir, "receiver")
	if err := os.WriteFile(source, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-o", binary, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return exec.Command(binary)
}

func nodeProgram(t *testing.T, program string) *exec.Cmd {
	t.Helper()
	p := testnode.New(t)
	p.Write("receiver.mjs", program)
	return p.Command("node", "receiver.mjs")
}

// listen starts a receiver, which ends with the test, and returns its URL.
func listen(t *testing.T, cmd *exec.Cmd, secret string) string {
	t.Helper()
	cmd.Env = append(os.Environ(), "PORT=0", "WEBHOOK_SECRET="+secret)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := func() { _ = cmd.Process.Kill() } // it may have ended
	lines, address := bufio.NewReader(out), ""
	var said bytes.Buffer
	var drained sync.WaitGroup
	t.Cleanup(func() {
		kill()
		drained.Wait()
		_ = cmd.Wait() // says that it was killed
		if t.Failed() {
			t.Logf("the receiver said:\n%s", &said)
		}
	})
	defer time.AfterFunc(unhurried, kill).Stop()
	for address == "" {
		line, err := lines.ReadString('\n')
		said.WriteString(line)
		if err != nil {
			t.Fatalf("the receiver does not listen: %v", err)
		}
		if _, found, ok := strings.Cut(line, "listening on "); ok {
			address = strings.TrimSpace(found)
		}
	}
	drained.Go(func() { _, _ = io.Copy(&said, lines) }) // ends with the receiver
	return "http://" + address + "/anodyne"
}

// tryReceiver sends what a receiver must take and what it must refuse.
func tryReceiver(t *testing.T, url, secret string) {
	s, rotated := newSender(t, Config{}), NewSecret()
	for _, c := range []struct {
		name   string
		change func(*Message)
		// tamper changes what was signed.
		tamper func(*http.Request)
		ok     bool
	}{
		{name: "as it is", ok: true},
		{name: "text beyond ASCII", change: func(m *Message) { m.Body = []byte(`{"type":"é ☃ 😀","id":"evt_1"}`) }, ok: true},
		{name: "rotation, the old secret is known", change: func(m *Message) { m.Secrets = []string{rotated, secret} }, ok: true},
		{name: "rotation, the new secret is known", change: func(m *Message) { m.Secrets = []string{secret, rotated} }, ok: true},
		{name: "four minutes late", change: func(m *Message) { m.At = m.At.Add(-4 * time.Minute) }, ok: true},

		{name: "other secret", change: func(m *Message) { m.Secrets = []string{rotated} }},
		{name: "too old", change: func(m *Message) { m.At = m.At.Add(-6 * time.Minute) }},
		{name: "too new", change: func(m *Message) { m.At = m.At.Add(7 * time.Minute) }},
		{name: "changed body", tamper: func(r *http.Request) {
			body := `{"type":"patient.created","id":"evt_2"}`
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
		}},
		{name: "changed id", tamper: func(r *http.Request) { r.Header.Set(headerID, "evt_2") }},
		{name: "changed timestamp", tamper: func(r *http.Request) {
			r.Header.Set(headerTimestamp, strconv.FormatInt(time.Now().Unix()+10, 10))
		}},
		{name: "no signature", tamper: func(r *http.Request) { r.Header.Del(headerSignature) }},
	} {
		m := message(url)
		m.Secrets = []string{secret}
		if c.change != nil {
			c.change(&m)
		}
		request, err := s.request(context.Background(), m)
		if err != nil {
			t.Fatal(err)
		}
		if c.tamper != nil {
			c.tamper(request)
		}
		response, err := s.transport.RoundTrip(request)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		answer, err := readAnswer(response)
		response.Body.Close()
		if want := map[bool]int{true: http.StatusNoContent, false: http.StatusUnauthorized}[c.ok]; err != nil || response.StatusCode != want {
			t.Errorf("%s: status %d, want %d; %s %v", c.name, response.StatusCode, want, answer, err)
		}
	}
}
