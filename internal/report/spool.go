package report

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"io"
	"os"

	"anodyne.example/anodyne/internal/export"
)

// spool holds the files of an export until the snapshot is closed: writing them
// to the database meanwhile would make the log of SQLite grow by their size.
//
// A file has no name and is encrypted with a key that only this process has, so
// that nothing is left if the process is killed.
type spool struct {
	dir   string
	files map[string]*spooled
}

func newSpool(dir string) *spool { return &spool{dir, map[string]*spooled{}} }

// spooled is a file of a spool. It is written, closed, and read.
type spooled struct {
	file  *os.File
	block cipher.Block
	io.Writer
}

// Create creates a file.
func (s *spool) Create(name string) (io.WriteCloser, error) {
	f, err := s.Scratch()
	if err != nil {
		return nil, err
	}
	key := make([]byte, 32)
	rand.Read(key)
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	made := &spooled{file: f, block: block}
	made.Writer = cipher.StreamWriter{S: made.stream(), W: f}
	s.files[name] = made
	return made, nil
}

// Scratch implements export.Folder.
func (s *spool) Scratch() (*os.File, error) { return export.Scratch(s.dir) }

// stream returns the key stream from the beginning of the file. The key is
// never used for another file.
func (s *spooled) stream() cipher.Stream {
	return cipher.NewCTR(s.block, make([]byte, aes.BlockSize))
}

// Close keeps the file for reading.
func (s *spooled) Close() error { return nil }

// open returns a reader of a file from its beginning.
func (s *spool) open(name string) (io.Reader, error) {
	f := s.files[name]
	if _, err := f.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return cipher.StreamReader{S: f.stream(), R: f.file}, nil
}

// close frees the files.
func (s *spool) close() {
	for _, f := range s.files {
		_ = f.file.Close() // it has no name, so nothing is left
	}
}
