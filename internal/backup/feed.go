package backup

import (
	"io"

	"anodyne.example/anodyne/internal/store/engine"
)

// feed reads a stream of documents and rows in its own memory, which grows to the
// size of the largest one.
type feed struct {
	from io.Reader
	buf  []byte
	rest []byte // of buf, to be read
}

// more reads more into rest, keeping what is in it.
func (f *feed) more() error {
	if cap(f.buf) < blockSize || len(f.rest) > cap(f.buf)/2 {
		f.buf = append(make([]byte, 0, max(2*blockSize, 2*cap(f.buf))), f.rest...)
	} else {
		f.buf = append(f.buf[:0], f.rest...)
	}
	n, err := f.from.Read(f.buf[len(f.buf):cap(f.buf)])
	f.buf = f.buf[:len(f.buf)+n]
	f.rest = f.buf
	if n > 0 {
		return nil
	}
	return err
}

// ReadByte implements [io.ByteReader].
func (f *feed) ReadByte() (byte, error) {
	b, err := f.take(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

// take returns the next n bytes. They are valid until the next call.
func (f *feed) take(n int) ([]byte, error) {
	for len(f.rest) < n {
		if err := f.more(); err != nil {
			return nil, err
		}
	}
	b := f.rest[:n]
	f.rest = f.rest[n:]
	return b, nil
}

// row returns the next row of a table, encoded. It is valid until the next call.
func (f *feed) row(t *engine.Table) ([]byte, error) {
	for {
		size, whole, err := t.RowSize(f.rest)
		if err != nil {
			return nil, err
		}
		if whole {
			return f.take(size)
		}
		if err := f.more(); err != nil {
			return nil, err
		}
	}
}
