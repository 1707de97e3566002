package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"anodyne.example/anodyne/internal/licenses"
)

// program is the build information of a program that has every listed module.
func program() *debug.BuildInfo {
	info := &debug.BuildInfo{
		GoVersion: "go1.26.8", Main: debug.Module{Path: "example.org/main"},
		Settings: []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "GOARCH", Value: "arm64"}},
	}
	for _, m := range licenses.Modules() {
		info.Deps = append(info.Deps, &debug.Module{Path: m.Path, Version: m.Version, Sum: "h1:c3Vt"})
	}
	return info
}

var made = release{version: "v1.2.3", time: "2026-01-15T10:30:00Z", sum: [32]byte{0xab, 31: 0xcd}}

// The SBOM follows the schema of CycloneDX, which comes with the module that
// writes it, and names every module with its licences.
func TestSBOMFollowsTheSchema(t *testing.T) {
	t.Parallel()
	bom, err := describe(program(), licenses.Modules(), made)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := cdx.NewBOMEncoder(&b, cdx.BOMFileFormatJSON).EncodeVersion(bom, spec); err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema(t).Validate(document); err != nil {
		t.Error(err)
	}
	for _, m := range licenses.Modules() {
		if !strings.Contains(b.String(), `"pkg:golang/`+m.Path+"@"+m.Version+`"`) {
			t.Errorf("%s %s is missing", m.Path, m.Version)
		}
	}
	if got := bom.SerialNumber; got != "urn:uuid:ab000000-0000-8000-8000-000000000000" {
		t.Errorf("serial number %s", got)
	}
}

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	for address, name := range map[string]string{
		"http://cyclonedx.org/schema/bom-1.6.schema.json":  "bom-1.6.schema.json",
		"http://cyclonedx.org/schema/spdx.schema.json":     "spdx.schema.json",
		"http://cyclonedx.org/schema/jsf-0.82.schema.json": "jsf-0.82.schemax.json",
	} {
		raw, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "schema", name))
		if err != nil {
			t.Fatal(err)
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiler.AddResource(address, document); err != nil {
			t.Fatal(err)
		}
	}
	compiled, err := compiler.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func TestModuleWithoutALicense(t *testing.T) {
	t.Parallel()
	for name, dep := range map[string]*debug.Module{
		"an unknown module":   {Path: "example.org/unknown", Version: "v1.0.0"},
		"another version":     {Path: licenses.Modules()[0].Path, Version: "v99.0.0"},
		"a replaced module":   {Path: licenses.Modules()[0].Path, Version: licenses.Modules()[0].Version, Replace: &debug.Module{Path: "example.org/fork", Version: "v1.0.0"}},
		"a local replacement": {Path: licenses.Modules()[0].Path, Version: licenses.Modules()[0].Version, Replace: &debug.Module{Path: "../fork"}},
	} {
		info := program()
		info.Deps = append(info.Deps, dep)
		if _, err := describe(info, licenses.Modules(), made); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
