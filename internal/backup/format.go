// Package backup writes a database to a file and restores it into a database
// of either engine. internal/store reads and writes the tables; this package
// defines the file.
//
// A file is a fixed-size header and a stream of chunks. Each chunk is sealed
// with a key specific to the file: encrypted with AES-256-GCM if there is a
// database key, and otherwise in plain text with an HMAC under the audit key.
// The stream, compressed with DEFLATE, is a head in JSON (schema, tables,
// columns, counts), the rows of each table, and a trailer in JSON with a
// checksum for each table.
package backup

import (
	"bytes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"time"

	"anodyne.example/anodyne/internal/seal"
	"anodyne.example/anodyne/internal/store/engine"
)

const (
	magic   = "anodyne backup\n"
	version = 1

	// How the chunks are sealed.
	modeKey        = 'k' // encrypted under a key of 64 hexadecimal digits
	modePassphrase = 'p' // encrypted under a passphrase
	modeAudit      = 'a' // authenticated under the audit key

	checkSize  = 16
	headerSize = len(magic) + 2 + seal.SaltSize + checkSize
)

// Keys are the keys for writing and reading a backup.
type Keys struct {
	// Database encrypts the backup; nil if there is none.
	Database *seal.Key
	// Audit authenticates a backup that is not encrypted.
	Audit []byte
}

// head precedes the rows.
type head struct {
	MadeAt  time.Time         `json:"made_at"`
	Program string            `json:"program"`
	Engine  string            `json:"engine"`
	Schema  int64             `json:"schema"`
	Tables  []engine.Table    `json:"tables"`
	Keys    map[string][]byte `json:"keys,omitempty"` // only in encrypted backups
}

// total returns the number of all rows.
func (h *head) total() (n int64) {
	for _, t := range h.Tables {
		n += t.Rows
	}
	return n
}

// trailer follows the rows.
type trailer struct {
	Sums []engine.Sum `json:"sums"`
}

// newHeader returns the header of a new file.
func newHeader(keys Keys) ([]byte, error) {
	mode := byte(modeAudit)
	if keys.Database != nil {
		mode = modeKey
		if keys.Database.Passphrase() {
			mode = modePassphrase
		}
	}
	header := append([]byte(magic), version, mode)
	salt := make([]byte, seal.SaltSize)
	rand.Read(salt)
	header = append(header, salt...)
	check, _, err := derive(header, keys)
	return append(header, check...), err
}

// derive returns the check value and the cipher of a file. The key depends on
// the whole header, so that nothing opens with a modified one.
func derive(header []byte, keys Keys) (check []byte, _ cipher.AEAD, err error) {
	mode, salt := header[len(magic)+1], header[len(magic)+2:][:seal.SaltSize]
	var root []byte
	switch {
	case mode == modeAudit && keys.Audit == nil:
		return nil, nil, errors.New("the backup is not encrypted but authenticated with the audit key of its database; put that audit.key into the data directory first")
	case mode == modeAudit:
		root = keys.Audit
	case mode != modeKey && mode != modePassphrase:
		return nil, nil, errDamaged
	case keys.Database == nil:
		return nil, nil, errors.New("the backup is encrypted; give its key with --database-key-file, ANODYNE_DATABASE_KEY or --backup-key-file")
	case keys.Database.Passphrase() != (mode == modePassphrase):
		return nil, nil, errWrongKey
	default:
		root = keys.Database.Derive(salt, "anodyne backup")
	}
	sub := func(purpose string) []byte {
		key, hkdfErr := hkdf.Key(sha256.New, root, salt, purpose+"\n"+string(header[:len(magic)+2]), seal.KeySize)
		err = errors.Join(err, hkdfErr)
		return key
	}
	check, chunks := sub("check")[:checkSize], sub("chunks")
	if err != nil {
		return nil, nil, err
	}
	if mode == modeAudit {
		return check, authenticating{chunks}, nil
	}
	aead, err := encrypting(chunks)
	return check, aead, err
}

var errWrongKey = errors.New("wrong key: the backup was created with another one")

// openHeader reads a header and returns the cipher.
func openHeader(r io.Reader, keys Keys) (encrypted bool, _ cipher.AEAD, err error) {
	header := make([]byte, headerSize)
	if _, err := io.ReadFull(r, header); err != nil || !bytes.HasPrefix(header, []byte(magic)) {
		return false, nil, errors.New("this is not an anodyne backup, or it is truncated")
	}
	if v := header[len(magic)]; v != version {
		return false, nil, fmt.Errorf("the backup has format %d, but this program supports only format %d: use a newer anodyne", v, version)
	}
	check, aead, err := derive(header, keys)
	if err != nil {
		return false, nil, err
	}
	if subtle.ConstantTimeCompare(check, header[headerSize-checkSize:]) != 1 {
		if header[len(magic)+1] == modeAudit {
			return false, nil, errors.New("wrong audit key: the backup was created with another audit.key")
		}
		return false, nil, errWrongKey
	}
	return header[len(magic)+1] != modeAudit, aead, nil
}
