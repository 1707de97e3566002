// Package testnode runs Node programs in tests, with the npm packages of
// scripts/npm. It skips the test where Node or the packages are missing.
package testnode

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/testneed"
)

// oldest is the oldest release of Node that the packages work with.
const oldest = 20

// Project is a folder with Node programs.
type Project struct {
	tb  testing.TB
	Dir string
	// Env is the environment of the programs.
	Env []string
}

// New returns an empty project that finds the packages.
func New(tb testing.TB) *Project {
	tb.Helper()
	p := Empty(tb)
	if err := os.Symlink(Modules(tb), filepath.Join(p.Dir, "node_modules")); err != nil {
		tb.Fatal(err)
	}
	p.Write("package.json", "{}")
	return p
}

// Empty returns a project without packages.
func Empty(tb testing.TB) *Project {
	tb.Helper()
	Modules(tb)
	return &Project{tb: tb, Dir: tb.TempDir(), Env: append(os.Environ(), "NO_COLOR=1")}
}

// Modules returns the folder node_modules with the packages.
func Modules(tb testing.TB) string {
	tb.Helper()
	modules := os.Getenv("ANODYNE_TEST_NODE_MODULES")
	if _, err := os.Stat(filepath.Join(modules, "typescript")); err != nil || modules == "" {
		testneed.Skip(tb, "the npm packages in scripts/npm are missing; scripts/test installs them")
	}
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			testneed.Skip(tb, "Node or npm is missing; scripts/test installs them")
		}
	}
	version, err := exec.Command("node", "--version").Output()
	if err != nil {
		tb.Fatal(err)
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(string(version), "v"), ".")
	if release, err := strconv.Atoi(major); err != nil || release < oldest {
		testneed.Skip(tb, "the npm packages need Node "+strconv.Itoa(oldest)+" or later")
	}
	return modules
}

// Write writes a file of the project.
func (p *Project) Write(name, text string) {
	p.tb.Helper()
	if err := os.WriteFile(filepath.Join(p.Dir, name), []byte(text), 0o600); err != nil {
		p.tb.Fatal(err)
	}
}

// Package runs the program of an npm package and returns what it printed.
func (p *Project) Package(script string, args ...string) string {
	p.tb.Helper()
	return p.Run("node", append([]string{filepath.Join(Modules(p.tb), script)}, args...)...)
}

// Run runs a program in the project's folder and returns what it printed. The
// test fails if the program does.
func (p *Project) Run(program string, args ...string) string {
	p.tb.Helper()
	cmd := p.Command(program, args...)
	var said strings.Builder
	cmd.Stderr = &said
	printed, err := cmd.Output()
	if err != nil {
		p.tb.Fatalf("%s %s: %v\n%s%s", program, strings.Join(args, " "), err, printed, &said)
	}
	return string(printed)
}

// Command prepares a program in the project's folder. It is killed at the end
// of the test.
func (p *Project) Command(program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(p.tb.Context(), program, args...)
	cmd.Dir, cmd.Env = p.Dir, p.Env
	return cmd
}
