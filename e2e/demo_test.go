package e2e

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/testneed"
)

// demo starts the demo and returns the commands it prints.
func demo(t *testing.T, dir string, args ...string) (p *process, paste []string) {
	t.Helper()
	p = start(t, nil, append([]string{"demo", "--dir", dir, "--listen", "127.0.0.1:0", "--admin-listen", ""}, args...)...)
	p.awaitIn(p.stdout, "/v1/events")
	for line := range strings.Lines(p.stdout.String()) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "TOKEN=") || strings.HasPrefix(line, "curl ") {
			paste = append(paste, line)
		}
	}
	return p, paste
}

// TestDemo pastes into a shell what the demonstration says to paste.
func TestDemo(t *testing.T) {
	testneed.Long(t, "generating the demo data")
	t.Parallel()
	for _, program := range []string{"sh", "curl", "sed"} {
		if _, err := exec.LookPath(program); err != nil {
			testneed.Skip(t, program+" is not installed")
		}
	}
	dir := filepath.Join(t.TempDir(), "demo")
	p, paste := demo(t, dir)
	if len(paste) != 6 {
		t.Fatalf("%d lines to paste:\n%s", len(paste), p.stdout)
	}
	cmd := exec.Command("sh", "-e")
	cmd.Stdin = strings.NewReader(strings.Join(paste, "\necho\n") + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	answers := strings.Fields(strings.ReplaceAll(string(out), " ", "_"))
	if len(answers) != 5 {
		t.Fatalf("%d answers:\n%s", len(answers), out)
	}
	for i, want := range []func(answer) bool{
		func(a answer) bool { return len(a.Data) > 0 && strings.Contains(string(a.Data[0]), "José") },
		func(a answer) bool {
			return len(a.Data) == 5 && a.Pagination.Total > 10 && strings.Contains(string(a.Data[0])+string(a.Data[1]), `"severity"`)
		},
		func(a answer) bool { return strings.Contains(answers[2], `"responder_30"`) },
		func(a answer) bool { return strings.HasPrefix(a.ID, "pat_") && a.Name == "Ada_Nowak" },
		func(a answer) bool { return len(a.Data) == 3 && strings.Contains(string(a.Data[0]), "patient.created") },
	} {
		var a answer
		if err := json.Unmarshal([]byte(answers[i]), &a); err != nil || !want(a) {
			t.Errorf("%s\nanswers (%v)\n%s", paste[i+1], err, answers[i])
		}
	}
	// The patient that was pasted comes back as a signed webhook.
	p.awaitIn(p.stdout, "patient.created")
	p.awaitIn(p.stdout, "(signature verified)")
	if code := p.terminate(); code != 0 {
		t.Errorf("exit code %d", code)
	}

	// When started again it keeps the data, unless told to start over.
	for _, again := range []struct{ flag, says string }{{"--reset=false", "(501 patients)"}, {"--reset", "(500 patients)"}} {
		p, paste := demo(t, dir, again.flag)
		if len(paste) != 6 || !strings.Contains(p.stdout.String(), again.says) {
			t.Errorf("started again with %s, want %s:\n%s", again.flag, again.says, p.stdout)
		}
		if code := p.terminate(); code != 0 {
			t.Errorf("exit code %d", code)
		}
	}
}

// answer has all fields used in the responses to these commands.
type answer struct {
	ID         string
	Name       string
	Data       []json.RawMessage
	Pagination struct{ Total int }
}
