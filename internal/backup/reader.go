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
	"io"
	"os"

	"anodyne.example/anodyne/internal/store/engine"
)

// reader reads a backup sequentially. It must be closed.
type reader struct {
	head
	*ahead
	encrypted bool
	in        feed
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
	r := &reader{encrypted: encrypted, ahead: readAhead(flate.NewReader(newSealReader(file, aead)))}
	r.in.from = r.ahead
	if err := r.readJSON(&r.head); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func (r *reader) readJSON(document any) error {
	length, err := binary.ReadUvarint(&r.in)
	if err != nil {
		return damaged(err)
	}
	if length > maxJSON {
		return errDamaged
	}
	text, err := r.in.take(int(length))
	if err != nil {
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

// rows returns a function that returns the encoded rows of the next table, and then
// io.EOF. A row is valid until the next one is read.
func (r *reader) rows(t engine.Table) func() (row []byte, err error) {
	sum, left := sha256.New(), t.Rows
	return func() ([]byte, error) {
		if left == 0 {
			r.sums = append(r.sums, engine.Sum{Rows: t.Rows, SHA256: sum.Sum(nil)})
			return nil, io.EOF
		}
		row, err := r.in.row(&t)
		if err != nil {
			return nil, damaged(err)
		}
		sum.Write(row)
		left--
		return row, nil
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
	defer r.Close()
	var done int64
	for _, t := range r.Tables {
		next := r.rows(t)
		for {
			if done%256 == 0 {
				progress("checking", done, r.total())
			}
			if _, err := next(); errors.Is(err, io.EOF) {
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
