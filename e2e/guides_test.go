package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"anodyne.example/anodyne/docs"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testneed"
)

// block is a fenced block of a guide that is marked as shell commands.
var block = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// TestGuidesRun pastes every command of every guide into a shell, the
// commands of one guide into the same one, as a reader would.
func TestGuidesRun(t *testing.T) {
	t.Parallel()
	testneed.Long(t, "running the commands of every guide")
	for _, program := range []string{"bash", "curl", "sed", "openssl"} {
		if _, err := exec.LookPath(program); err != nil {
			testneed.Skip(t, program+" is not installed")
		}
	}
	s := newService(t, storetest.SQLite)
	n := s.node(0, "--dev")
	for _, g := range docs.Guides() {
		if strings.Contains(g.Text, "<!-- run -->") {
			continue // its commands need a receiver, and are run where there is one
		}
		commands := block.FindAllStringSubmatch(g.Text, -1)
		if curls := strings.Count(g.Text, "curl "); curls > 0 && len(commands) == 0 {
			t.Errorf("%s has %d curl lines and no block of commands", g.Slug, curls)
		}
		if len(commands) == 0 {
			continue
		}
		t.Run(g.Slug, func(t *testing.T) {
			var c struct {
				ClientID     string `json:"client_id"`
				ClientSecret string `json:"client_secret"`
			}
			if err := json.Unmarshal([]byte(s.must("client", "create", "--name", g.Slug, "--tier", "professional", "--json")), &c); err != nil {
				t.Fatal(err)
			}
			var script strings.Builder
			for _, match := range commands {
				script.WriteString("echo '--- " + g.Slug + "'\n" + match[1])
			}
			cmd := exec.Command("bash", "-euo", "pipefail", "-c", script.String())
			cmd.Dir = t.TempDir()
			cmd.Env = append(os.Environ(), "BASE="+n.url, "CLIENT_ID="+c.ClientID, "CLIENT_SECRET="+c.ClientSecret,
				"PATH="+filepath.Dir(binary(t))+":"+os.Getenv("PATH"), "ANODYNE_DATABASE="+s.database)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			if strings.Contains(string(out), `"error":{`) && !strings.Contains(g.Text, `"error":{`) {
				t.Errorf("a command was refused:\n%s", out)
			}
		})
	}
}
