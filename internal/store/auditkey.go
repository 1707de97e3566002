package store

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"

	"anodyne/internal/audit"
)

// openAuditKey reads the key of the seal, making it for a new database. The
// database knows a check value of the key, so that a node with another key is
// told so instead of making a seal that does not fit.
func (s *Store) openAuditKey(ctx context.Context, path string) ([]byte, error) {
	var have []byte
	readCheck := func(tx Tx) error {
		_, err := one(tx, `SELECT value FROM setting WHERE name = 'audit_key_check'`, func(r Row) { have = bytes.Clone(r.Raw(0)) })
		return err
	}
	if err := s.read(ctx, readCheck); err != nil {
		return nil, err
	}
	key, err := readKey(path)
	if errors.Is(err, os.ErrNotExist) && have == nil {
		key, err = makeKey(path)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("there is no audit key %s, and this database is sealed with one; copy audit.key from the node that made it", path)
	}
	if err != nil {
		return nil, fmt.Errorf("audit key: %w", err)
	}
	check := audit.KeyCheck(key)
	if have == nil {
		err = s.write(ctx, func(tx Tx) error {
			if _, err := tx.Exec(`INSERT INTO setting (name, value) VALUES ('audit_key_check', $1) ON CONFLICT DO NOTHING`, check); err != nil {
				return err
			}
			return readCheck(tx)
		})
		if err != nil {
			return nil, err
		}
	}
	if !bytes.Equal(have, check) {
		return nil, fmt.Errorf("the audit key in %s is not the one this database is sealed with; copy audit.key from the node that made it", path)
	}
	return key, nil
}

// readKey reads 32 bytes in hexadecimal.
func readKey(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(string(bytes.TrimSpace(text)))
	if err != nil || len(key) != 32 {
		return nil, fmt.Errorf("%s does not hold 64 hexadecimal digits", path)
	}
	return key, nil
}

// makeKey makes a key and reads it back. It is written under another name
// first, so that two processes that start at once agree, and is on the disk
// before the database knows of it.
func makeKey(path string) ([]byte, error) {
	fresh := make([]byte, 32)
	rand.Read(fresh)
	temp := fmt.Sprintf("%s.%s", path, rand.Text()[:8])
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer os.Remove(temp)
	_, err = f.WriteString(hex.EncodeToString(fresh) + "\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, err
	}
	if err := os.Link(temp, path); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	return readKey(path)
}
