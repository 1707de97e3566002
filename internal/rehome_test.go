package internal

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/testneed"
)

// The modules get another path in a copy of the tree, and can be built under it.
func TestRehome(t *testing.T) {
	testneed.Long(t, "building a copy of the tree")
	t.Parallel()
	dir := copyOfTree(t)
	old := strings.TrimSuffix(clientModule(t), "/client")
	home := strings.Join([]string{"home.example", "anodyne"}, "/") // in parts, to be left alone on the way back

	for _, args := range [][]string{nil, {""}, {home, home}} {
		if said, err := rehome(dir, args...); err == nil || !strings.Contains(said, "give one module path") {
			t.Errorf("%q: %v, %s", args, err, said)
		}
	}
	for path, reason := range map[string]string{
		"anodyne/anodyne":         "not a module path",
		"https://example.com/a":   "not a module path",
		"example.com/org/a b":     "not a module path",
		"example.com/org/../else": "not a module path",
		"example.com/org/a.":      "not a module path",
		"-example.com/a":          "not a module path",
		"example.com/a;touch x":   "not a module path",
		"example.com/$(touch x)":  "not a module path",
		"example.com/a#g":         "not a module path",
		"example.com/a\nb":        "not a module path",
		"example.com/internal/a":  "must not contain internal",
		"example.com/org/client":  "must not end in client",
		"example.com/anodyne/v2":  "must not end in v2",
	} {
		if said, err := rehome(dir, path); err == nil || !strings.Contains(said, reason) {
			t.Errorf("%q: %v, %s", path, err, said)
		}
	}
	for _, path := range []string{"example.com/a;touch odd", "example.com/$(touch odd)", "example.com/a'; touch odd; '", "`touch odd`"} {
		if said, err := exec.Command("make", "-C", dir, "rehome", "MODULE="+strings.ReplaceAll(path, "$", "$$")).CombinedOutput(); err == nil || !strings.Contains(string(said), "not a module path") {
			t.Errorf("make with %q: %v, %s", path, err, said)
		}
	}
	draft := filepath.Join(dir, "draft.txt")
	writeFile(t, draft, "not committed")
	if said, err := rehome(dir, home); err == nil || !strings.Contains(said, "commit or discard") {
		t.Errorf("with a change that is not committed: %v, %s", err, said)
	}
	if err := os.Remove(draft); err != nil {
		t.Fatal(err)
	}
	if changed := command(t, dir, nil, "git", "status", "--porcelain"); changed != "" {
		t.Fatalf("what was refused has changed\n%s", changed)
	}

	if said, err := rehome(dir, home); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if left, err := exec.Command("git", "-C", dir, "grep", "-nF", old).Output(); err == nil {
		t.Errorf("the old path is left in\n%s", left)
	}
	if unformatted := command(t, dir, nil, "gofmt", "-l", "."); unformatted != "" {
		t.Errorf("not formatted:\n%s", unformatted)
	}
	// All imports are found, those of tests too. With -trimpath what is compiled
	// is found again in the build cache, wherever the copy is.
	listed := goCommand(t, dir, nil, "list", "-deps", "-test", "-f", "{{.ImportPath}}", "work")
	for _, want := range []string{home + "/cmd/anodyne\n", home + "/client\n"} {
		if !strings.Contains(listed, want) {
			t.Errorf("there is no package %s", want)
		}
	}
	goCommand(t, dir, nil, "build", "-trimpath", "./client", "./internal/fault", "./internal/strictjson")

	command(t, dir, nil, "git", "commit", "-aqm", "all: move")
	if said, err := rehome(dir, home); err != nil || !strings.Contains(said, "already") {
		t.Errorf("once more: %v, %s", err, said)
	}
	if changed := command(t, dir, nil, "git", "status", "--porcelain"); changed != "" {
		t.Errorf("once more has changed\n%s", changed)
	}
	if said, err := rehome(dir, old); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if changed := command(t, dir, nil, "git", "diff", "--stat", "HEAD~1"); changed != "" {
		t.Errorf("there and back has changed\n%s", changed)
	}
}

func rehome(dir string, args ...string) (said string, err error) {
	out, err := exec.Command(filepath.Join(dir, "scripts", "rehome"), args...).CombinedOutput()
	return string(out), err
}

// copyOfTree is a repository with one commit: what git has of this one, or
// would take, as it is in the folder now.
func copyOfTree(t *testing.T) string {
	t.Helper()
	const root = ".."
	if err := exec.Command("git", "-C", root, "rev-parse").Run(); err != nil {
		testneed.Skip(t, "this is no git repository")
	}
	dir := t.TempDir()
	names := command(t, root, nil, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	for name := range strings.SplitSeq(strings.TrimSuffix(names, "\x00"), "\x00") {
		from, to := filepath.Join(root, name), filepath.Join(dir, name)
		info, err := os.Stat(from)
		if os.IsNotExist(err) { // removed, and not yet committed
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, content, info.Mode()); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"init", "-q"}, {"config", "user.name", "test"}, {"config", "user.email", "test@example.com"}, {"config", "commit.gpgsign", "false"},
		{"add", "-A"}, {"commit", "-qm", "all: copy"},
	} {
		command(t, dir, nil, "git", args...)
	}
	return dir
}
