package internal

import (
	"archive/zip"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/testneed"
)

// The client is built and its tests are vetted without go.work, in which it
// could use what only this module requires, and without a network.
func TestClientStandsAlone(t *testing.T) {
	t.Parallel()
	goCommand(t, filepath.Join("..", "client"), []string{"GOWORK=off", "GOFLAGS=", "GOPROXY=off"}, "vet", "./...")
}

// A program in another module gets the client from a module proxy and is built
// with it. The program is the one in the README.
func TestClientFromOutside(t *testing.T) {
	t.Parallel()
	testneed.Long(t, "building a program")
	const version = "v0.1.0"
	proxy, modules, dir := t.TempDir(), t.TempDir(), t.TempDir()
	module := clientModule(t)
	publish(t, proxy, module, version)
	writeFile(t, filepath.Join(dir, "main.go"), `package main

import (
	"context"
	"log"
	"os"

	"`+module+`"
)

func main() {
	ctx, clientID, clientSecret := context.Background(), os.Getenv("CLIENT_ID"), os.Getenv("CLIENT_SECRET")
`+readmeSnippet(t)+`
	if err != nil {
		log.Fatal(err)
	}
	log.Println(patient.ID)
}
`)
	// A separate, empty cache keeps an unreleased version out of the user's,
	// and makes sure that everything comes from this proxy.
	env := []string{
		"GOWORK=off", "GOFLAGS=-modcacherw", "GOTOOLCHAIN=local", "GOSUMDB=off", "GOPRIVATE=",
		"GOPROXY=" + (&url.URL{Scheme: "file", Path: filepath.ToSlash(proxy)}).String(), "GOMODCACHE=" + modules,
	}
	goCommand(t, dir, env, "mod", "init", "outside.example/program")
	goCommand(t, dir, env, "get", module+"@latest")
	goCommand(t, dir, env, "build", "-o", filepath.Join(dir, "program"), ".")
	if required := goCommand(t, dir, env, "list", "-m", "all"); required != "outside.example/program\n"+module+" "+version+"\n" {
		t.Errorf("the program needs the modules\n%s", required)
	}
}

// publish lays the client's folder out as a module proxy serves it.
func publish(t *testing.T, proxy, module, version string) {
	t.Helper()
	at := filepath.Join(proxy, filepath.FromSlash(module), "@v")
	if err := os.MkdirAll(at, 0o700); err != nil {
		t.Fatal(err)
	}
	source := filepath.Join("..", "client")
	mod, err := os.ReadFile(filepath.Join(source, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(at, "list"), version+"\n")
	writeFile(t, filepath.Join(at, version+".info"), `{"Version":"`+version+`","Time":"2026-01-15T10:30:00Z"}`)
	writeFile(t, filepath.Join(at, version+".mod"), string(mod))
	archive, err := os.Create(filepath.Join(at, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	files := zip.NewWriter(archive)
	err = fs.WalkDir(os.DirFS(source), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(source, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		w, err := files.Create(path.Join(module+"@"+version, name))
		if err != nil {
			return err
		}
		_, err = w.Write(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
}

// clientModule is the path that client/go.mod declares.
func clientModule(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(goCommand(t, filepath.Join("..", "client"), []string{"GOWORK=off", "GOFLAGS="}, "list", "-m"))
}

// readmeSnippet is the Go code of README.md.
func readmeSnippet(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, opened := strings.Cut(string(text), "\n```go\n")
	code, _, closed := strings.Cut(after, "\n```\n")
	if !opened || !closed {
		t.Fatal("README.md shows no Go code")
	}
	return code
}

// goCommand runs the go command and returns its standard output.
func goCommand(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	return command(t, dir, append(env, "CGO_ENABLED=0"), "go", args...)
}

func command(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", cmd, err, out, said.String())
	}
	return string(out)
}

func writeFile(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
