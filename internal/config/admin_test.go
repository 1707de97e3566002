package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Beyond loopback the admin listener takes a token that only its owner can
// read.
func TestAdminListenBeyondLoopback(t *testing.T) {
	dir := t.TempDir()
	file := func(name, token string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(token), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil { // whatever the umask
			t.Fatal(err)
		}
		return path
	}
	good := file("good", "a token that is long enough\n", 0o600)
	for _, c := range []struct {
		listen, token, fault string
	}{
		{"127.0.0.1:9464", "", ""},
		{"[::1]:9464", "", ""},
		{"localhost:9464", "", ""},
		{"", "", ""},
		{"0.0.0.0:9464", good, ""},
		{"127.0.0.1:9464", good, ""},
		{":9464", good, ""},
		{"0.0.0.0:9464", "", "--admin-listen: want a loopback address"},
		{":9464", "", "--admin-listen: want a loopback address"},
		{"metrics.example.org:9464", "", "--admin-listen: want a loopback address"},
		{"0.0.0.0:9464", filepath.Join(dir, "missing"), "--admin-token-file: "},
		{"0.0.0.0:9464", file("open", "a token that is long enough", 0o644), "chmod 600"},
		{"0.0.0.0:9464", file("short", "short\n", 0o600), "at least 16 characters"},
		{"0.0.0.0:9464", file("empty", "", 0o600), "at least 16 characters"},
		{"0.0.0.0:9464", file("huge", strings.Repeat("x", 5000), 0o600), "too long"},
		{"0.0.0.0:9464", dir, "--admin-token-file: "},
	} {
		cfg, _ := read(t, []string{"--admin-listen", c.listen, "--admin-token-file", c.token}, nil)
		err := cfg.Validate()
		if c.fault == "" && err != nil || c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)) {
			t.Errorf("%q with %q: %v, want %q", c.listen, c.token, err, c.fault)
		}
	}
	cfg, _ := read(t, []string{"--admin-token-file", good}, nil)
	if token, err := cfg.AdminToken(); token != "a token that is long enough" || err != nil {
		t.Errorf("token %q, %v", token, err)
	}
}
