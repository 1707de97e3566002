package engine

import (
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"anodyne.example/anodyne/internal/seal"
	"anodyne.example/anodyne/internal/store/private"
)

// keyCheck is a line of PATH.key-check, the small file next to an encrypted
// SQLite file: the salt of a key and a value to verify it. The encrypted file
// alone does not distinguish a wrong key from damage.
//
// While the key is being changed, the file has a line for each of the two keys,
// so that the database can be opened even if the process dies halfway.
type keyCheck struct {
	salt, check []byte // no salt unless the key is a passphrase
}

const (
	keyCheckSuffix = ".key-check"
	keyCheckNote   = "# Belongs to the encrypted database beside it; keep them together. Does not contain the key.\n"
	pagePurpose    = "anodyne sqlite pages"
	checkPurpose   = "anodyne sqlite key check"
)

// newKeyCheck returns the line of a key.
func newKeyCheck(key *seal.Key) keyCheck {
	var c keyCheck
	if key.Passphrase() {
		c.salt = make([]byte, seal.SaltSize)
		rand.Read(c.salt)
	}
	c.check = key.Derive(c.salt, checkPurpose)[:16]
	return c
}

// fits reports whether the line was made with this key.
func (c keyCheck) fits(key *seal.Key) bool {
	return key.Passphrase() == (c.salt != nil) && subtle.ConstantTimeCompare(c.check, key.Derive(c.salt, checkPurpose)[:16]) == 1
}

// pageKey derives the key of the file's pages.
func (c keyCheck) pageKey(key *seal.Key) []byte { return key.Derive(c.salt, pagePurpose) }

// readKeyChecks reads the key check of a database. It is not an error if there
// is none.
func readKeyChecks(database string) ([]keyCheck, error) {
	text, err := os.ReadFile(database + keyCheckSuffix)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var checks []keyCheck
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		c, err := parseKeyCheck(line)
		if err != nil {
			return nil, fmt.Errorf("%s%s: %w; copy it again from the origin of the database", database, keyCheckSuffix, err)
		}
		checks = append(checks, c)
	}
	return checks, nil
}

func parseKeyCheck(line string) (c keyCheck, err error) {
	words := strings.Fields(line)
	if len(words) != 3 {
		return c, errors.New("the file is damaged")
	}
	if c.check, err = hex.DecodeString(words[2]); err != nil || len(c.check) != 16 {
		return c, errors.New("the file is damaged")
	}
	switch words[0] {
	case "hkdf":
		return c, nil
	case "argon2id":
		if c.salt, err = hex.DecodeString(words[1]); err == nil && len(c.salt) == seal.SaltSize {
			return c, nil
		}
	}
	return c, errors.New("the file is damaged")
}

// writeKeyChecks replaces the file atomically, or removes it if there are no
// lines.
func writeKeyChecks(database string, checks ...keyCheck) error {
	path := database + keyCheckSuffix
	if len(checks) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return private.SyncDir(path)
	}
	temp, err := private.WriteBeside(path, keyCheckText(checks))
	if err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return private.SyncDir(path)
}

func keyCheckText(checks []keyCheck) []byte {
	text := []byte(keyCheckNote)
	for _, c := range checks {
		if c.salt == nil {
			text = fmt.Appendf(text, "hkdf - %x\n", c.check)
		} else {
			text = fmt.Appendf(text, "argon2id %x %x\n", c.salt, c.check)
		}
	}
	return text
}

// makeKeyCheck creates the file of a new database. If two processes start at
// once, one creates it and both read it.
func makeKeyCheck(database string, key *seal.Key) error {
	return private.LinkBeside(database+keyCheckSuffix, keyCheckText([]keyCheck{newKeyCheck(key)}))
}

// pageKey returns the key of a database's pages, or an error that explains what
// is wrong. It is nil for an unencrypted database.
func pageKey(path string, key *seal.Key) ([]byte, error) {
	state, err := fileState(path)
	if err != nil {
		return nil, err
	}
	checks, err := readKeyChecks(path)
	if err != nil {
		return nil, err
	}
	switch {
	case key == nil && (state == fileClear || state == fileEmpty && checks == nil):
		return nil, nil
	case key == nil && checks == nil:
		return nil, fmt.Errorf("%s is not a SQLite database; name another file or restore a backup (if it is encrypted, give --database-key-file)", path)
	case key == nil:
		return nil, fmt.Errorf("%s is encrypted; give its key with --database-key-file or ANODYNE_DATABASE_KEY", path)
	case state == fileClear:
		return nil, fmt.Errorf("%s is not encrypted, but a key is given; encrypt it with: anodyne rekey --new-key-file FILE, or leave the key out", path)
	}
	if checks == nil {
		if state == fileOther && key.Passphrase() {
			return nil, fmt.Errorf("%s%s is missing; without it a passphrase cannot open %s: copy it from the origin of the database", path, keyCheckSuffix, path)
		}
		if state == fileOther {
			return keyCheck{}.pageKey(key), nil // a key that is not a passphrase has no salt
		}
		if err := makeKeyCheck(path, key); err != nil {
			return nil, fmt.Errorf("key check: %w", err)
		}
		if checks, err = readKeyChecks(path); err != nil {
			return nil, err
		}
	}
	for _, c := range checks {
		if c.fits(key) {
			return c.pageKey(key), nil
		}
	}
	return nil, fmt.Errorf("wrong key: %s is encrypted with another one", path)
}

// The kinds of database files, judged by their content.
const (
	fileEmpty = iota // new
	fileClear
	fileOther // encrypted, or not a database
)

func fileState(path string) (int, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return fileEmpty, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	const magic = "SQLite format 3\x00"
	head := make([]byte, len(magic))
	n, err := io.ReadFull(f, head)
	switch {
	case n == 0 && errors.Is(err, io.EOF):
		return fileEmpty, nil
	case bytes.Equal(head, []byte(magic)):
		return fileClear, nil
	case err == nil || errors.Is(err, io.ErrUnexpectedEOF):
		return fileOther, nil
	}
	return 0, err
}
