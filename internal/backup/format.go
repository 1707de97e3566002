// Package backup writes a database into one file, and restores it into a
// database of either engine. What the tables hold comes from and goes to
// internal/store; here is the file.
//
// A file is a header of fixed size and a stream of chunks, each sealed under a
// key of this file alone: encrypted with AES-256-GCM when there is a database
// key, otherwise in the clear with an HMAC under the audit key. The stream,
// compressed with DEFLATE, is a head in JSON (schema, tables, columns, counts),
// the rows of each table, and a trailer in JSON with a checksum for each table.
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
	"anodyne.example/anodyne/internal/store"
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

// Keys are what a backup is written and read with.
type Keys struct {
	// Database encrypts; nil when there is none.
	Database *seal.Key
	// Audit authenticates a backup that is not encrypted.
	Audit []byte
}

// head stands before the rows.
type head struct {
	MadeAt  time.Time         `json:"made_at"`
	Program string            `json:"program"`
	Engine  string            `json:"engine"`
	Schema  int64             `json:"schema"`
	Tables  []store.Table     `json:"tables"`
	Keys    map[string][]byte `json:"keys,omitempty"` // only in an encrypted backup
}

// total is the number of all rows.
func (h *head) total() (n int64) {
	for _, t := range h.Tables {
		n += t.Rows
	}
	return n
}

// trailer stands after them.
type trailer struct {
	Sums []store.Sum `json:"sums"`
}

// newHeader makes the header of a new file.
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

// derive gives the check value and the sealing of a file. All of the header
// goes into the key, so that a changed header opens nothing.
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

// openHeader reads a header and gives the sealing.
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
