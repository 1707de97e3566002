package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anodyne.example/anodyne/internal/cli"
	"anodyne.example/anodyne/internal/store"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/storetest"
	"anodyne.example/anodyne/internal/store/storetest/pgcluster"
)

// onMissing says what a command does with a database that does not exist.
type onMissing int

const (
	refuses   onMissing = iota // reads, checks or administers what is there
	creates                    // may be the first command that is run
	untouched                  // is tested elsewhere, or needs no database
)

// missingDatabase has the command lines of all commands. FILE is a file to read,
// NEW one that does not exist.
var missingDatabase = map[string]struct {
	does onMissing
	args string
}{
	"serve":         {untouched, ""}, // creates it
	"demo":          {untouched, ""}, // has a database of its own
	"migrate":       {untouched, ""}, // creates it
	"restore":       {untouched, ""}, // creates it
	"health":        {untouched, ""},
	"version":       {untouched, ""},
	"client create": {creates, "--name App"},
	"client list":   {refuses, ""},
	"client rotate": {refuses, "cli_01arz3ndektsv4rrffq69g5fav"},
	"client keys":   {refuses, "cli_01arz3ndektsv4rrffq69g5fav"},
	"client revoke": {refuses, "cli_01arz3ndektsv4rrffq69g5fav"},
	"client tier":   {refuses, "cli_01arz3ndektsv4rrffq69g5fav enterprise"},
	"user create":   {creates, "--email ada@example.org --name Ada"},
	"user list":     {refuses, ""},
	"user reset":    {refuses, "ada@example.org"},
	"user role":     {refuses, "ada@example.org viewer"},
	"user disable":  {refuses, "ada@example.org"},
	"user enable":   {refuses, "ada@example.org"},
	"import":        {refuses, "FILE"},
	"export":        {refuses, "NEW"},
	"backup":        {refuses, "NEW"},
	"rekey":         {refuses, "--new-key-file FILE"},
	"check":         {refuses, ""},
	"seal accept":   {refuses, "--reason test"},
}

// An empty file is not a database either, and stays empty.
func TestEmptyFileIsNoDatabase(t *testing.T) {
	for name, c := range missingDatabase {
		if c.does != refuses {
			continue
		}
		path := filepath.Join(t.TempDir(), "empty.db")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		code, said := runOn(t, "sqlite:"+path, name+" "+c.args)
		if code != cli.ExitFailed || !strings.Contains(said, "no Anodyne database at sqlite:"+path) {
			t.Errorf("%s: exit code %d, %s", name, code, said)
		}
		if files, err := os.ReadDir(filepath.Dir(path)); len(files) != 1 || err != nil {
			t.Errorf("%s left %v, %v", name, files, err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() != 0 {
			t.Errorf("%s changed the file: %v, %v", name, info, err)
		}
	}
}

// A mistyped address must not pass for an intact database, so only commands that
// may come first create one.
func TestMissingDatabase(t *testing.T) {
	groups := map[string][]cli.Command{"client": clientCommands(), "user": userCommands(), "seal": sealCommands()}
	var names []string
	for _, c := range commands() {
		if groups[c.Name] == nil {
			names = append(names, c.Name)
		}
		for _, sub := range groups[c.Name] {
			names = append(names, c.Name+" "+sub.Name)
		}
	}
	for _, kind := range storetest.Engines {
		t.Run(kind, func(t *testing.T) {
			addresses := missingAddresses(t, kind)
			for _, name := range names {
				c, known := missingDatabase[name]
				if !known {
					t.Errorf("%s: what does it do if there is no database? Add it to the table", name)
				}
				if c.does == untouched || name == "rekey" && kind == storetest.Postgres {
					continue
				}
				address := addresses(c.does)
				code, said := runOnMissing(t, address, name+" "+c.args)
				switch {
				case c.does == refuses && (code != cli.ExitFailed || !strings.Contains(said, "no Anodyne database at "+shown(address)) || !strings.Contains(said, "anodyne migrate")):
					t.Errorf("%s: exit code %d, %s", name, code, said)
				case c.does == creates && code != cli.ExitOK:
					t.Errorf("%s: exit code %d, %s", name, code, said)
				}
			}
		})
	}
}

// missingAddresses returns a function that returns addresses of databases that do
// not exist. Those for commands that should not create them are one and the same.
func missingAddresses(t *testing.T, kind string) func(onMissing) string {
	fresh := func() string {
		if kind == storetest.Postgres {
			return pgcluster.Database(t, nil)
		}
		return "sqlite:" + filepath.Join(t.TempDir(), "folder", "missing.db")
	}
	shared := fresh()
	return func(does onMissing) string {
		if does == creates {
			return fresh()
		}
		return shared
	}
}

// shown returns an address up to where it may have a password.
func shown(address string) string {
	if strings.HasPrefix(address, "sqlite:") {
		return address
	}
	return address[:strings.Index(address, "//")]
}

// runOnMissing runs a command line, and fails the test if the command created a
// database and then failed.
func runOnMissing(t *testing.T, address, line string) (code int, said string) {
	t.Helper()
	code, said = runOn(t, address, line)
	if code == cli.ExitOK {
		return code, said
	}
	if path, ok := strings.CutPrefix(address, "sqlite:"); ok {
		mustBeMissing(t, line, filepath.Dir(path))
	} else if s, err := store.Open(t.Context(), store.Config{Database: address, DataDir: t.TempDir()}); !errors.Is(err, engine.ErrEmpty) {
		t.Errorf("%s created a schema: %v", line, err)
		if s != nil {
			_ = s.Close()
		}
	}
	return code, said
}

// runOn runs a command line, and fails the test if the command created keys or a
// file and then failed.
func runOn(t *testing.T, address, line string) (code int, said string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "file.csv")
	if err := os.WriteFile(file, []byte("external_id,name,date_of_birth\n1,Ada Nowak,1984-05-17\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	line = strings.NewReplacer("FILE", file, "NEW", filepath.Join(dir, "new")).Replace(line)
	cfg := store.Config{Database: address, DataDir: filepath.Join(dir, "keys")}
	args := append(strings.Fields(line), "--database", cfg.Database, "--data-dir", cfg.DataDir)
	var out bytes.Buffer
	code = run(context.Background(), args, cli.Env{Stdin: strings.NewReader("correct horse battery\n"), Stdout: &out, Stderr: &out, Lookup: os.LookupEnv})
	if code == cli.ExitOK {
		return code, out.String()
	}
	mustBeMissing(t, line, cfg.DataDir)
	mustBeMissing(t, line, filepath.Join(dir, "new"))
	return code, out.String()
}

func mustBeMissing(t *testing.T, line, path string) {
	t.Helper()
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s created %s", line, path)
	}
}
