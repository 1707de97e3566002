package main

import (
	"context"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"anodyne.example/anodyne/internal/cli"
)

func TestMain(m *testing.M) {
	_ = os.Unsetenv("GOGC") // set for the tests; the program sets its own, see boundGarbage
	testscript.Main(m, map[string]func(){"anodyne": main})
}

// TestScripts runs the command lines of testdata, each in an empty folder.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", os.Getenv("GORACE")) // see scripts/test
			return nil
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"json": cmdJSON, "exits": cmdExits},
	})
}

// run runs a command line in this process and returns the exit code.
func run(ctx context.Context, args []string, e cli.Env) int {
	return cli.Run(ctx, program, e, args, dispatch)
}
