package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"anodyne.example/anodyne/internal/testneed"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){program: main})
}

// TestScripts runs the command lines of testdata against the real server, each
// in an empty folder.
func TestScripts(t *testing.T) {
	testneed.Long(t, "a measurement")
	server := filepath.Join(t.TempDir(), "anodyne")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", server, "anodyne.example/anodyne/cmd/anodyne")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatal(errors.Join(err, errors.New(string(out))))
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", os.Getenv("GORACE")) // see scripts/test
			env.Setenv("ANODYNE_SERVER", server)
			env.Setenv("SELF", self)
			return nil
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}
