package pgserver

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
)

// oldest is the first major version that supports DROP DATABASE with FORCE, and
// the first that the service supports.
const oldest = 13

// Binaries returns the directory with initdb, pg_ctl and postgres of the newest
// usable PostgreSQL on this machine. Debian does not put it on the search path;
// it has a directory for each major version.
func Binaries() (dir string, ok bool) {
	dir = findBinaries()
	return dir, dir != ""
}

var findBinaries = sync.OnceValue(func() string {
	candidates, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if initdb, err := exec.LookPath("initdb"); err == nil {
		candidates = append(candidates, filepath.Dir(initdb))
	}
	return newest(candidates)
})

// newest returns the candidate with the highest version, or "" if all are too
// old.
func newest(candidates []string) string {
	best, bestVersion := "", oldest-1
	for _, dir := range candidates {
		if v := majorVersion(dir); v > bestVersion {
			best, bestVersion = dir, v
		}
	}
	return best
}

var versionLine = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// majorVersion runs the binaries to get their version. It returns 0 if one is
// missing or fails.
func majorVersion(dir string) int {
	major := 0
	for _, name := range []string{"initdb", "pg_ctl", "postgres"} {
		out, err := exec.Command(filepath.Join(dir, name), "--version").Output()
		if err != nil {
			return 0
		}
		m := versionLine.FindSubmatch(out)
		if m == nil {
			return 0
		}
		major, _ = strconv.Atoi(string(m[1]))
	}
	return major
}
