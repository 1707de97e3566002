package store

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"anodyne.example/anodyne/internal/access"
	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/seal"
	"anodyne.example/anodyne/internal/store/engine"
	"anodyne.example/anodyne/internal/store/private"
)

// keyFile is a key that is stored in the data directory because it must not be
// in the database. The database contains a check value, so that a node with a
// different key gets a clear error instead of working with the wrong one.
type keyFile struct {
	name    string // of the file
	setting string // with the check value
	check   func(key []byte) []byte
	// use completes the sentence "this database is ... one".
	use string
}

var (
	auditKeyFile  = keyFile{"audit.key", "audit_key_check", audit.KeyCheck, "sealed with"}
	masterKeyFile = keyFile{"master.key", "master_key_check", seal.MasterCheck, "keeping secrets under"}
	keyFiles      = []keyFile{auditKeyFile, masterKeyFile}
)

// openKey reads a key, or creates it if the database has none yet.
func (s *Store) openKey(ctx context.Context, dir string, file keyFile) ([]byte, error) {
	path := filepath.Join(dir, file.name)
	var have []byte
	readCheck := func(tx engine.Tx) error {
		_, err := engine.One(tx, `SELECT value FROM setting WHERE name = $1`, func(r engine.Row) { have = bytes.Clone(r.Raw(0)) }, file.setting)
		return err
	}
	if err := s.db.Read(ctx, readCheck); err != nil {
		return nil, err
	}
	key, err := readKey(path)
	if errors.Is(err, os.ErrNotExist) && have == nil {
		key, err = makeKey(path)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s is missing, but this database is %s one; copy %s from the node that created it", path, file.use, file.name)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.name, err)
	}
	check := file.check(key)
	if have == nil {
		err = s.db.Write(ctx, func(tx engine.Tx) error {
			if _, err := tx.Exec(`INSERT INTO setting (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING`, file.setting, check); err != nil {
				return err
			}
			return readCheck(tx)
		})
		if err != nil {
			return nil, err
		}
	}
	if !bytes.Equal(have, check) {
		return nil, fmt.Errorf("the key in %s is not the one this database is %s; copy %s from the node that created it", path, file.use, file.name)
	}
	return key, nil
}

// KeyFiles returns the keys in the data directory by file name.
func (s System) KeyFiles() map[string][]byte {
	return map[string][]byte{auditKeyFile.name: s.sealKey, masterKeyFile.name: s.masterKey}
}

// TokenKey returns the key to recognise access tokens issued here, even after
// they were deleted. It is the same on all nodes and after a restore.
func (s System) TokenKey() []byte { return seal.Derive(s.masterKey, "anodyne access tokens") }

// NodeKey returns the secret that only nodes of this database have.
func (s System) NodeKey() []byte { return seal.Derive(s.masterKey, "anodyne node secret") }

// PseudonymKey returns the key of an organisation's pseudonyms in de-identified
// exports. It is the same on all nodes and after a restore.
func (s System) PseudonymKey(org access.OrgNo) []byte {
	return seal.Derive(s.masterKey, "anodyne pseudonyms of organization "+strconv.FormatInt(int64(org), 10))
}

// AuditKey reads the audit key of a data directory.
func AuditKey(dir string) ([]byte, error) { return readKey(filepath.Join(dir, auditKeyFile.name)) }

// CheckKeyFiles checks a data directory before a restore: it must not have
// different keys than the backup, and must have those that the backup lacks.
func CheckKeyFiles(dir string, keys map[string][]byte) error {
	for _, file := range keyFiles {
		path := filepath.Join(dir, file.name)
		have, err := readKey(path)
		switch {
		case errors.Is(err, os.ErrNotExist) && keys[file.name] != nil:
		case errors.Is(err, os.ErrNotExist):
			return fmt.Errorf("%s is missing, and an unencrypted backup does not contain it; copy it there first", path)
		case err != nil:
			return err
		case keys[file.name] != nil && !bytes.Equal(have, keys[file.name]):
			return fmt.Errorf("%s belongs to another database; name another --data-dir", path)
		}
	}
	return nil
}

// WriteKeyFiles writes keys to a data directory that does not have them.
func WriteKeyFiles(dir string, keys map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	for _, file := range keyFiles {
		if key := keys[file.name]; key != nil {
			if err := private.LinkBeside(filepath.Join(dir, file.name), keyText(key)); err != nil {
				return err
			}
		}
	}
	return nil
}

// readKey reads 32 bytes in hexadecimal.
func readKey(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(string(bytes.TrimSpace(text)))
	if err != nil || len(key) != 32 {
		return nil, fmt.Errorf("%s does not contain 64 hexadecimal digits", path)
	}
	return key, nil
}

// makeKey creates a key and reads it back. Processes that start at the same
// time get the same key, and it is on disk before the database refers to it.
func makeKey(path string) ([]byte, error) {
	fresh := make([]byte, 32)
	rand.Read(fresh)
	if err := private.LinkBeside(path, keyText(fresh)); err != nil {
		return nil, err
	}
	return readKey(path)
}

func keyText(key []byte) []byte { return []byte(hex.EncodeToString(key) + "\n") }
