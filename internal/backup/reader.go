package backup

import (
	"bufio"
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"anodyne.example/anodyne/internal/store/engine"
)

// reader reads a backup sequentially.
type reader struct {
	head
	encrypted bool
	in        *bufio.Reader
	sums      []engine.Sum
}

// maxJSON limits the size of the head and the trailer.
const maxJSON = 16 << 20

func newReader(f io.Reader, keys Keys) (*reader, error) {
	file := bufio.NewReaderSize(f, 1<<20)
	encrypted, aead, err := openHeader(file, keys)
	if err != nil {
		return nil, err
	}
	r := &reader{encrypted: encrypted, in: bufio.NewReaderSize(flate.NewReader(newSealReader(file, aead)), 64<<10)}
	return r, r.readJSON(&r.head)
}

func (r *reader) readJSON(document any) error {
	length, err := binary.ReadUvarint(r.in)
	if err != nil {
		return damaged(err)
	}
	if length > maxJSON {
		return errDamaged
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r.in, text); err != nil {
		return damaged(err)
	}
	return json.Unmarshal(text, document)
}

// damaged maps all read errors to errDamaged, except for those of the disk.
func damaged(err error) error {
	var corrupt flate.CorruptInputError
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &corrupt) {
		return errDamaged
	}
	return err
}

// rows returns a function that returns the rows of the next table, and then
// io.EOF.
func (r *reader) rows(t engine.Table) func() (row []any, size int, err error) {
	var sum hash.Hash = sha256.New()
	var raw []byte
	left := t.Rows
	return func() ([]any, int, error) {
		if left == 0 {
			if sum != nil {
				r.sums = append(r.sums, engine.Sum{Rows: t.Rows, SHA256: sum.Sum(nil)})
				sum = nil
			}
			return nil, 0, io.EOF
		}
		var row []any
		var err error
		row, raw, err = t.ReadRow(r.in, raw[:0])
		if err != nil {
			return nil, 0, damaged(err)
		}
		sum.Write(raw)
		left--
		return row, len(raw), nil
	}
}

// end reads the trailer and verifies the checksums.
func (r *reader) end() error {
	var want trailer
	if err := r.readJSON(&want); err != nil {
		return err
	}
	if _, err := r.in.ReadByte(); !errors.Is(err, io.EOF) {
		return errDamaged // the last chunk is missing
	}
	if len(want.Sums) != len(r.sums) {
		return errDamaged
	}
	for i, sum := range r.sums {
		if sum.Rows != want.Sums[i].Rows || !bytes.Equal(sum.SHA256, want.Sums[i].SHA256) {
			return fmt.Errorf("table %s: the checksum of the rows does not match: %w", r.Tables[i].Name, errDamaged)
		}
	}
	return nil
}

// verify reads a whole backup.
func verify(ctx context.Context, f *os.File, keys Keys, progress Progress) (sum Summary, err error) {
	r, err := newReader(f, keys)
	if err != nil {
		return sum, err
	}
	var done int64
	for _, t := range r.Tables {
		next := r.rows(t)
		for {
			if done%256 == 0 {
				progress("checking", done, r.total())
			}
			if _, _, err := next(); errors.Is(err, io.EOF) {
				break
			} else if err = errors.Join(err, ctx.Err()); err != nil {
				return sum, err
			}
			done++
		}
	}
	if err := r.end(); err != nil {
		return sum, err
	}
	progress("checking", done, r.total())
	info, err := f.Stat()
	if err != nil {
		return sum, err
	}
	return Summary{Rows: done, Tables: len(r.Tables), Bytes: info.Size(), MadeAt: r.MadeAt, Schema: r.Schema, Encrypted: r.encrypted}, nil
}

// Verify reads a whole backup and checks every chunk, row and checksum.
func Verify(ctx context.Context, path string, keys Keys, progress Progress) (Summary, error) {
	f, err := os.Open(path)
	if err != nil {
		return Summary{}, err
	}
	defer f.Close()
	return verify(ctx, f, keys, progress)
}
