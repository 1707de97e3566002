package api

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/api/openapi"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testneed"
)

// TestGeneratedTypeScriptClients generates clients from the document as a
// TypeScript developer would, compiles the programs in testdata/typescript that
// use them, and runs these. Each adds a pain score and reads it back; lines
// with @ts-expect-error prove that the types are neither missing nor any.
func TestGeneratedTypeScriptClients(t *testing.T) {
	t.Parallel()
	n := startNodeProject(t)
	c := start(t, storetest.SQLite, nil).caller("north")
	n.env = append(n.env, "ANODYNE_URL="+c.url, "ANODYNE_TOKEN="+c.token)

	n.run("openapi-typescript/bin/cli.js", "openapi.yaml", "--output", "generated/openapi-typescript.ts")
	n.run("@hey-api/openapi-ts/bin/run.js", "--input", "openapi.yaml", "--output", "generated/hey-api",
		"--plugins", "@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk")
	n.run("orval/dist/bin/orval.mjs", "--config", "orval.config.mjs")
	n.run("typescript/bin/tsc", "--project", ".")
	for _, program := range []string{"openapi-typescript", "hey-api", "orval"} {
		if got := n.node(filepath.Join("built", program+".js")); got != "7 severe\n" {
			t.Errorf("%s printed %q", program, got)
		}
	}
}

// TestDocumentIsLinted allows no warning; the rules are in redocly.yaml.
func TestDocumentIsLinted(t *testing.T) {
	t.Parallel()
	n := startNodeProject(t)
	var result struct {
		Totals struct{ Errors, Warnings int }
	}
	text := n.run("@redocly/cli/bin/cli.js", "lint", "openapi.yaml", "--config", "redocly.yaml", "--format", "json")
	if err := json.Unmarshal([]byte(text), &result); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	if result.Totals.Errors+result.Totals.Warnings > 0 {
		t.Error(text)
	}
}

// nodeProject is a folder with the document, the programs that use it and the
// npm packages.
type nodeProject struct {
	t            *testing.T
	dir, program string
	env          []string
}

func startNodeProject(t *testing.T) *nodeProject {
	t.Helper()
	testneed.Long(t, "generating clients with Node")
	const oldest = 20 // the oldest Node that the packages work with
	modules := os.Getenv("ANODYNE_TEST_NODE_MODULES")
	program, err := exec.LookPath("node")
	if _, missing := os.Stat(filepath.Join(modules, "orval")); err != nil || modules == "" || missing != nil {
		testneed.Skip(t, "Node or the npm packages in scripts/npm are missing; scripts/test installs them")
	}
	version, err := exec.Command(program, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(string(version), "v"), ".")
	if release, err := strconv.Atoi(major); err != nil || release < oldest {
		testneed.Skip(t, "the client generators need Node 20 or later")
	}
	n := &nodeProject{t: t, dir: t.TempDir(), program: program,
		env: append(os.Environ(), "NO_COLOR=1", "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")}
	if err := os.CopyFS(n.dir, os.DirFS("testdata/typescript")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(modules, filepath.Join(n.dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	rules, err := os.ReadFile("openapi/redocly.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"openapi.yaml": openapi.YAML, "redocly.yaml": rules, "package.json": []byte("{}")} {
		if err := os.WriteFile(filepath.Join(n.dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// run runs the program of an npm package and returns what it printed.
func (n *nodeProject) run(script string, args ...string) string {
	n.t.Helper()
	return n.node(append([]string{filepath.Join("node_modules", script)}, args...)...)
}

func (n *nodeProject) node(args ...string) string {
	n.t.Helper()
	cmd := exec.CommandContext(n.t.Context(), n.program, args...)
	cmd.Dir, cmd.Env = n.dir, n.env
	var said strings.Builder
	cmd.Stderr = &said
	printed, err := cmd.Output()
	if err != nil {
		n.t.Fatalf("node %s: %v\n%s%s", strings.Join(args, " "), err, printed, &said)
	}
	return string(printed)
}
