package api

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"anodyne.example/anodyne/internal/api/openapi"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/testneed"
	"anodyne.example/anodyne/internal/testnode"
)

// TestGeneratedTypeScriptClients generates clients from the document as a
// TypeScript developer would, compiles the programs in testdata/typescript that
// use them, and runs these. Each adds a pain score and reads it back; lines
// with @ts-expect-error prove that the types are neither missing nor any.
func TestGeneratedTypeScriptClients(t *testing.T) {
	t.Parallel()
	n := startNodeProject(t)
	c := start(t, storetest.SQLite, nil).caller("north")
	n.Env = append(n.Env, "ANODYNE_URL="+c.url, "ANODYNE_TOKEN="+c.token)

	n.Package("openapi-typescript/bin/cli.js", "openapi.yaml", "--output", "generated/openapi-typescript.ts")
	n.Package("@hey-api/openapi-ts/bin/run.js", "--input", "openapi.yaml", "--output", "generated/hey-api",
		"--plugins", "@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk")
	n.Package("orval/dist/bin/orval.mjs", "--config", "orval.config.mjs")
	n.Package("typescript/bin/tsc", "--project", ".")
	for _, program := range []string{"openapi-typescript", "hey-api", "orval"} {
		if got := n.Run("node", filepath.Join("built", program+".js")); got != "7 severe\n" {
			t.Errorf("%s printed %q", program, got)
		}
	}
}

// TestTypesOfTheSDKAreCurrent compares the checked-in types of sdk/typescript
// with the document.
func TestTypesOfTheSDKAreCurrent(t *testing.T) {
	t.Parallel()
	n := startNodeProject(t)
	n.Package("openapi-typescript/bin/cli.js", "openapi.yaml", "--output", "schema.ts")
	want, err := os.ReadFile(filepath.Join(n.Dir, "schema.ts"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../sdk/typescript/src/schema.ts")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("sdk/typescript/src/schema.ts does not fit the OpenAPI document; run make sdk-types")
	}
}

// TestDocumentIsLinted allows no warning; the rules are in redocly.yaml.
func TestDocumentIsLinted(t *testing.T) {
	t.Parallel()
	n := startNodeProject(t)
	var result struct {
		Totals struct{ Errors, Warnings int }
	}
	text := n.Package("@redocly/cli/bin/cli.js", "lint", "openapi.yaml", "--config", "redocly.yaml", "--format", "json")
	if err := json.Unmarshal([]byte(text), &result); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	if result.Totals.Errors+result.Totals.Warnings > 0 {
		t.Error(text)
	}
}

// startNodeProject returns a folder with the document, the programs that use it
// and the npm packages.
func startNodeProject(t *testing.T) *testnode.Project {
	t.Helper()
	testneed.Long(t, "generating clients with Node")
	n := testnode.New(t)
	n.Env = append(n.Env, "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
	if err := os.CopyFS(n.Dir, os.DirFS("testdata/typescript")); err != nil {
		t.Fatal(err)
	}
	rules, err := os.ReadFile("openapi/redocly.yaml")
	if err != nil {
		t.Fatal(err)
	}
	n.Write("openapi.yaml", string(openapi.YAML))
	n.Write("redocly.yaml", string(rules))
	return n
}
