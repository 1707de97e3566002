package api

import (
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/testneed"
)

// TestCommandsOfTheDocumentation pastes the commands of
// docs/webhooks-endpoints.md into a shell.
func TestCommandsOfTheDocumentation(t *testing.T) {
	for _, program := range []string{"sh", "curl", "sed"} {
		if _, err := exec.LookPath(program); err != nil {
			testneed.Skip(t, program+" is not installed")
		}
	}
	text, err := os.ReadFile("../../docs/webhooks-endpoints.md")
	if err != nil {
		t.Fatal(err)
	}
	var paste []string
	for _, block := range regexp.MustCompile("(?s)<!-- run -->\n```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		// Each response ends its line and is followed by its status.
		paste = append(paste, strings.ReplaceAll(block[1], "curl -s ", `curl -s -w ' %{http_code}\n' `))
	}
	eachDelivering(t, func(t *testing.T, c *caller) {
		cmd := exec.Command("sh", "-e")
		cmd.Env = append(os.Environ(), "TOKEN="+c.token, "BASE="+c.url, "RECEIVER="+newReceiver(t).url, "NO_PROXY=*")
		cmd.Stdin = strings.NewReader(strings.Join(paste, "\n"))
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		var statuses []string
		for line := range strings.Lines(string(out)) {
			line = strings.TrimSpace(line)
			statuses = append(statuses, line[max(0, len(line)-3):])
		}
		if got, want := strings.Join(statuses, " "), "201 202 200 200 200 200 200 200 200 200 200 202 202 200 204"; got != want {
			t.Errorf("statuses %s, want %s:\n%s", got, want, out)
		}
		if !strings.Contains(string(out), `"secret":"whsec_`) || !strings.Contains(string(out), `"payload":{"id":"evt_`) {
			t.Errorf("%s", out)
		}
		if left := c.get("/v1/webhooks").is(http.StatusOK).pagination()[2]; left != 0 {
			t.Errorf("%d webhooks are left", left)
		}
	})
}
