package pgserver

import (
	"os"
	"path/filepath"
	"testing"

	"anodyne.example/anodyne/internal/testneed"
)

func TestBinaries(t *testing.T) {
	testneed.Long(t, "PostgreSQL")
	if err := Available(); err != nil {
		testneed.Skip(t, err.Error())
	}
	bin, ok := Binaries()
	if !ok {
		t.Fatal("a cluster can be started, but there are no binaries")
	}
	if v := majorVersion(bin); v < oldest {
		t.Errorf("%s has version %d", bin, v)
	}
}

func TestNewest(t *testing.T) {
	installed := func(version string, programs ...string) string {
		dir := t.TempDir()
		for _, name := range programs {
			script := "#!/bin/sh\necho '" + name + " (PostgreSQL) " + version + "'\n"
			if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	all := []string{"initdb", "pg_ctl", "postgres"}
	old := installed("12.22", all...)
	nine := installed("9.6.24", all...)
	fifteen := installed("15.14 (Debian 15.14-0+deb12u1)", all...)
	coming := installed("18beta1", all...)
	client := installed("19.0", "initdb")
	for _, c := range []struct {
		name       string
		candidates []string
		want       string
	}{
		{"none", nil, ""},
		{"too old", []string{nine, old}, ""},
		{"incomplete", []string{client, t.TempDir()}, ""},
		{"highest", []string{old, coming, fifteen, client}, coming},
	} {
		if got := newest(c.candidates); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
